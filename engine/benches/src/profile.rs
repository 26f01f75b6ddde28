//! Instruction counts of a decision by callgrind.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::engines::{Contender, Solon};
use crate::manifest::Workload;

/// Profiled part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Decisions with parsed input.
    Decide,
    /// Decisions from input text to result text.
    Json,
    /// Loading of documents and compilation.
    Prepare,
}

impl Part {
    /// All parts with their names.
    pub const ALL: [(&'static str, Self); 3] = [
        ("decide", Self::Decide),
        ("json", Self::Json),
        ("prepare", Self::Prepare),
    ];

    /// Returns the part with a name.
    pub fn of(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|(known, _)| *known == name).map(|(_, part)| part)
    }

    fn name(self) -> &'static str {
        let mut all = Self::ALL.into_iter();
        all.find(|(_, part)| *part == self)
            .map_or("", |(name, _)| name)
    }
}

/// Number of listed functions.
const LISTED: usize = 40;

/// Number of counted decisions.
const DECISIONS: u32 = 20;

/// Maximum number of decisions before the counted ones, so that adaptive indexes are built.
const WARMING: u32 = 100;

/// Maximum duration of these decisions.
const WARMED: Duration = Duration::from_secs(2);

/// Prints the instruction count of each function.
///
/// # Errors
/// Fails if valgrind is not installed or counted nothing.
pub fn print(workload: &Workload, part: Part) -> Result<(), String> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Err(
            "--profile counts instructions with valgrind, which is not installed".to_owned(),
        );
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let out = std::env::temp_dir().join(format!("solon-callgrind-{}", std::process::id()));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=*profile::counted*"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(["--manifest", &workload.manifest.to_string_lossy()])
        .args(["--run", part.name(), &workload.name])
        .output()
        .map_err(|error| error.to_string())?;
    let text = std::fs::read_to_string(&out).unwrap_or_default();
    let _ = std::fs::remove_file(&out);
    let mut functions: Vec<(String, u64)> = own_costs(&text).into_iter().collect();
    let total: u64 = functions.iter().map(|(_, cost)| cost).sum();
    if total == 0 {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    functions.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let times = match part {
        Part::Prepare => 1,
        _ => u64::from(DECISIONS),
    };
    println!(
        "{} {}: {} instructions",
        workload.name,
        part.name(),
        total / times
    );
    for (name, cost) in functions.iter().take(LISTED) {
        let (each, tenths) = (cost / times, cost * 1000 / total);
        println!("{each:>14} {:>3}.{} %  {name}", tenths / 10, tenths % 10);
    }
    Ok(())
}

/// Runs the code that [`print`] counts.
///
/// # Errors
/// Returns the error of the engine.
pub fn run(workload: &Workload, part: Part) -> Result<(), String> {
    if part == Part::Prepare {
        counted(&mut || drop(Solon::load(workload)), 1);
        return Ok(());
    }
    let mut solon = Solon::load(workload)?;
    let mut decide = || match part {
        Part::Json => drop(std::hint::black_box(solon.decide_json())),
        _ => solon.decide(),
    };
    let start = Instant::now();
    for _ in 0..WARMING {
        decide();
        if start.elapsed() > WARMED {
            break;
        }
    }
    counted(&mut decide, DECISIONS);
    Ok(())
}

/// Calls `call` `times` times; callgrind counts these calls.
#[inline(never)]
fn counted(call: &mut dyn FnMut(), times: u32) {
    for _ in 0..times {
        call();
    }
}

/// Returns the cost of each function without its callees, from the output of callgrind. Names are numbered at their first
/// occurrence, and the line after `calls=` is the cost of the callee.
fn own_costs(text: &str) -> HashMap<String, u64> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut costs: HashMap<String, u64> = HashMap::new();
    let (mut current, mut called) = ("", false);
    for line in text.lines() {
        let numbered = line
            .strip_prefix("fn=")
            .or_else(|| line.strip_prefix("cfn="));
        if let Some((number, name)) = numbered.and_then(|text| text.split_once(')')) {
            if !name.is_empty() {
                names.insert(number, name.trim());
            }
            if line.starts_with("fn=") {
                current = names.get(number).copied().unwrap_or(number);
            }
        } else if line.starts_with("calls=") {
            called = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '*')) {
            let cost = line
                .split(' ')
                .nth(1)
                .and_then(|cost| cost.parse::<u64>().ok());
            if !std::mem::take(&mut called) {
                *costs.entry(plain(current)).or_default() += cost.unwrap_or(0);
            }
        }
    }
    costs
}

/// Returns the name of a function. Recursive calls are counted with it.
fn plain(name: &str) -> String {
    let name = Path::new(name).to_string_lossy();
    name.split('\'').next().unwrap_or_default().to_owned()
}
