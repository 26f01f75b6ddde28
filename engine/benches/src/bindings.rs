//! Costs of a call from C and Python, compared with the Rust API and with peers in the same language.

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

/// Workloads that are timed if none is named.
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

/// One entry point of one engine.
struct Column {
    /// Engine and language binding.
    binding: &'static str,
    /// Form of the input and the result.
    form: String,
    /// `true` for Solon's bindings.
    is_own: bool,
    /// Runs the given number of calls and returns the nanoseconds per call.
    round: Box<dyn FnMut(u32) -> Result<f64, String>>,
}

/// Prints the cost of a call through each binding, for each workload. The ratios compare it with the same call in Rust and with the
/// fastest peer in the same language.
///
/// # Errors
/// Fails if one of Solon's bindings cannot be built or fails.
pub fn print(workloads: &[Workload], budget: Duration) -> Result<(), String> {
    let built = Built::new()?;
    println!(
        "{:<16} {:<16} {:<12} {:>11} {:>8} {:>11} {:>8}",
        "workload", "binding", "form", "ns", "± ns", "over rust", "x peers"
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

/// Files that the timing programs read.
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

    /// Adds the arguments of a timing program.
    fn add_to(&self, command: &mut Command) {
        let optional = |path: &Option<PathBuf>| path.clone().unwrap_or_else(|| PathBuf::from("-"));
        command.arg(&self.policy);
        command.arg(optional(&self.data));
        command.arg(optional(&self.input));
        command.arg(&self.path);
    }
}

/// Returns the columns in Rust: the API that Solon's bindings wrap, and the peer's own API. No wrapper of the peer can be faster
/// than that.
fn native(workload: &Workload) -> Result<Vec<Column>, String> {
    let mut columns = Vec::new();
    for (binding, engine) in [
        ("rust", Engine::Solon),
        ("rust regorus", Engine::Interpreter),
    ] {
        for form in ["value", "json"] {
            let mut contender = engine.load(workload)?;
            columns.push(Column {
                binding,
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

/// Duration of a round.
const ROUND: Duration = Duration::from_millis(2);

/// Runs the rounds of all columns in turn until `budget` is spent on each, so that noise affects all of them equally.
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

/// Returns the form of the Rust API that a form of a binding is compared with.
fn base(form: &str) -> &'static str {
    match form {
        "json" | "allow" => "json",
        _ => "value",
    }
}

fn rows(workload: &str, columns: &[Column], figures: &[Figure]) {
    let language = |column: &Column| column.binding.split(' ').next().unwrap_or_default();
    for (column, figure) in columns.iter().zip(figures) {
        let median = |other: &dyn Fn(&Column) -> bool| {
            let found = columns.iter().zip(figures).filter(|(one, _)| other(one));
            found.map(|(_, figure)| figure.median).reduce(f64::min)
        };
        let own = median(&|one| one.binding == "rust" && one.form == base(&column.form));
        let over = own.map_or(f64::NAN, |own| figure.median - own);
        // C has no peer except the Rust one, which a wrapper could not outrun
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
            column.binding,
            column.form,
            figure.median,
            figure.spread,
            peers.map_or_else(String::new, |peers| format!("{:.1}", peers / figure.median)),
        );
    }
}
