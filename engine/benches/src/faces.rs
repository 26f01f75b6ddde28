//! The faces of the library beside the library itself, and beside the same of peers: what a call from C or Python costs.

mod built;
mod process;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::engines::{Contender, Engine};
use crate::manifest::Workload;
use crate::timing::{self, Figure};
use built::Built;
use process::Process;

/// What is timed when nothing is named.
pub const NAMES: [&str; 9] = [
    "five_keys",
    "bytes_200",
    "a0_floor",
    "a1_rbac_admin",
    "a2_rbac_grant",
    "a3_rbac_deny",
    "b1_scan_hit",
    "b2_scan_miss",
    "b3_map_hit",
];

/// One way to ask one engine.
struct Column {
    /// Which engine by which face.
    face: &'static str,
    /// What it is given and gives.
    form: String,
    /// Whether it is Solon's.
    is_own: bool,
    /// Nanoseconds of a call, by so many calls.
    round: Box<dyn FnMut(u32) -> Result<f64, String>>,
}

/// Prints, for each workload, what a call costs by each face, over the same call in Rust, and how many times faster that is
/// than the fastest of the peers by the same language.
///
/// # Errors
/// When one of Solon's faces cannot be built or fails.
pub fn print(workloads: &[Workload], budget: Duration) -> Result<(), String> {
    let built = Built::new()?;
    println!(
        "{:<16} {:<16} {:<12} {:>11} {:>8} {:>11} {:>8}",
        "workload", "face", "form", "ns", "± ns", "over rust", "x peers"
    );
    for workload in workloads {
        let folder = built.folder.join("workload");
        let mut columns = native(workload)?;
        let texts = Texts::write(workload, &folder)?;
        for command in built.commands() {
            match Process::start(command.command(&texts)) {
                Ok(process) => columns.extend(process.columns(command.name, command.is_own)),
                Err(message) if command.is_own => {
                    return Err(format!("{}: {}: {message}", workload.name, command.name));
                }
                Err(message) => eprintln!(
                    "bench: {} is not timed on {}: {message}",
                    command.name, workload.name
                ),
            }
        }
        let figures = interleaved(&mut columns, budget)?;
        rows(&workload.name, &columns, &figures);
    }
    Ok(())
}

/// The files that a face reads.
struct Texts {
    policy: PathBuf,
    data: Option<PathBuf>,
    input: Option<PathBuf>,
    path: String,
}

impl Texts {
    fn write(workload: &Workload, folder: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(folder).map_err(failed)?;
        let put = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(failed)?;
            Ok::<_, String>(path)
        };
        let optional = |name: &str, text: &Option<String>| {
            text.as_deref().map(|text| put(name, text)).transpose()
        };
        let path = workload.entrypoint.replace('.', "/");
        Ok(Self {
            policy: put("policy.rego", &workload.policy)?,
            data: optional("data.json", &workload.data)?,
            input: optional("input.json", &workload.input)?,
            path: path.strip_prefix("data/").unwrap_or(&path).to_owned(),
        })
    }

    /// The arguments of a program that times a face.
    fn add_to(&self, command: &mut Command) {
        let optional = |path: &Option<PathBuf>| path.clone().unwrap_or_else(|| PathBuf::from("-"));
        command.arg(&self.policy);
        command.arg(optional(&self.data));
        command.arg(optional(&self.input));
        command.arg(&self.path);
    }
}

/// What the faces stand in front of, and the peer in its own language: no wrapper of it can be faster.
fn native(workload: &Workload) -> Result<Vec<Column>, String> {
    let mut columns = Vec::new();
    for (face, engine) in [
        ("rust", Engine::Solon),
        ("rust regorus", Engine::Interpreter),
    ] {
        for form in ["value", "json"] {
            let mut contender = engine.load(workload)?;
            columns.push(Column {
                face,
                form: form.to_owned(),
                is_own: engine == Engine::Solon,
                round: Box::new(move |calls| {
                    let start = Instant::now();
                    for _ in 0..calls {
                        ask(&mut *contender, form);
                    }
                    Ok(start.elapsed().as_secs_f64() * 1e9 / f64::from(calls))
                }),
            });
        }
    }
    Ok(columns)
}

fn ask(contender: &mut dyn Contender, form: &str) {
    if form == "value" {
        contender.decide();
    } else {
        drop(std::hint::black_box(contender.decide_json()));
    }
}

/// How long a round takes.
const ROUND: Duration = Duration::from_millis(2);

/// Rounds in turn, so that noise hits all alike, until `budget` is spent on each.
fn interleaved(columns: &mut [Column], budget: Duration) -> Result<Vec<Figure>, String> {
    let mut calls = Vec::with_capacity(columns.len());
    for column in &mut *columns {
        calls.push(batch(column)?);
    }
    let rounds = (budget.as_secs_f64() / ROUND.as_secs_f64()).ceil().max(5.0);
    let mut figures = vec![Vec::new(); columns.len()];
    let mut done = 0.0;
    while done < rounds {
        for ((column, calls), figures) in columns.iter_mut().zip(&calls).zip(&mut figures) {
            figures.push((column.round)(*calls)?);
        }
        done += 1.0;
    }
    Ok(figures.into_iter().map(timing::figure).collect())
}

fn batch(column: &mut Column) -> Result<u32, String> {
    let mut calls = 1_u32;
    loop {
        let time = f64::from(calls) * (column.round)(calls)?;
        if time >= ROUND.as_secs_f64() * 1e9 || calls > u32::MAX / 2 {
            return Ok(calls);
        }
        calls *= 2;
    }
}

/// Which form of the library's own a form of a face is compared with.
fn base(form: &str) -> &'static str {
    match form {
        "json" | "allow" => "json",
        _ => "value",
    }
}

fn rows(workload: &str, columns: &[Column], figures: &[Figure]) {
    let language = |column: &Column| column.face.split(' ').next().unwrap_or_default();
    for (column, figure) in columns.iter().zip(figures) {
        let median = |other: &dyn Fn(&Column) -> bool| {
            let found = columns.iter().zip(figures).filter(|(one, _)| other(one));
            found.map(|(_, figure)| figure.median).reduce(f64::min)
        };
        let own = median(&|one| one.face == "rust" && one.form == base(&column.form));
        let over = own.map_or(f64::NAN, |own| figure.median - own);
        // of C there is no peer but the one in Rust, which no wrapper of it could outrun
        let of_peers = |one: &Column| {
            let speaks = if language(column) == "c" {
                "rust"
            } else {
                language(column)
            };
            !one.is_own && language(one) == speaks && base(&one.form) == base(&column.form)
        };
        let peers = median(&of_peers).filter(|_| column.is_own);
        println!(
            "{workload:<16} {:<16} {:<12} {:>11.1} {:>8.1} {over:>11.1} {:>8}",
            column.face,
            column.form,
            figure.median,
            figure.spread,
            peers.map_or_else(String::new, |peers| format!("{:.1}", peers / figure.median)),
        );
    }
}
