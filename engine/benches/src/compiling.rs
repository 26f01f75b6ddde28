//! Compilation: time and memory by the number of rules, and the cost of changing one module.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::counts;
use crate::engines::{Contender, Engine, Solon, elapsed_ms};
use crate::generate::policies;
use crate::manifest::{self, Workload};
use crate::oracle;
use crate::timing::median;

/// Workload name that selects only the cost of a change.
const CHANGE: &str = "change";

/// Prints how long policies take to compile, for all workloads or the named ones. Without names it also prints the cost of a
/// change.
///
/// # Errors
/// Returns the error of an engine.
pub fn print(budget: Duration, names: &[String]) -> Result<(), String> {
    if names == [CHANGE] {
        return change(500);
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads/compiling.json");
    let oracle = oracle::binary();
    println!(
        "{:<14} {:>8} {:>10} {:>10} {:>8} {:>10} {:>7}",
        "policy", "lines", "solon ms", "heap MiB", "B/line", "opa ms", "x opa"
    );
    for workload in &manifest::read(&[file], names)? {
        let lines = lines(workload);
        let own = prepare_ms(workload, budget)?;
        let heap = counts::count(workload, Engine::Solon)
            .unwrap_or_default()
            .heap_mib;
        let theirs = match &oracle {
            Some(binary) if lines < 100_000.0 && workload.more.is_empty() => {
                oracle::time(binary, workload, 0.05)?.prepare_ms
            }
            _ => None,
        };
        let dash = || "-".to_owned();
        let (opa, times) = theirs.map_or_else(
            || (dash(), dash()),
            |theirs| (format!("{theirs:.1}"), format!("{:.2}", theirs / own)),
        );
        println!(
            "{:<14} {lines:>8} {own:>10.1} {heap:>10.1} {:>8.0} {opa:>10} {times:>7}",
            workload.name,
            heap * 1024.0 * 1024.0 / lines,
        );
    }
    if names.is_empty() {
        change(500)?;
    }
    Ok(())
}

fn lines(workload: &Workload) -> f64 {
    let lines = workload.modules().map(|(_, text)| text.lines().count());
    f64::from(u32::try_from(lines.sum::<usize>()).unwrap_or(u32::MAX))
}

/// Returns the median preparation time, in milliseconds.
fn prepare_ms(workload: &Workload, budget: Duration) -> Result<f64, String> {
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < 3 || start.elapsed() < 3 * budget {
        times.push(Solon::load(workload)?.prepare_ms());
    }
    Ok(median(times))
}

/// Prints the cost of changing one of `count` modules, and of changing all of them.
fn change(count: usize) -> Result<(), String> {
    let modules = policies::packages(count);
    let texts = || modules.iter().map(|(name, text)| (&**name, &**text));
    let failed = |error: solon::Error| error.to_string();
    let engine = solon::Engine::new();
    let (mut all, mut one) = (Vec::new(), Vec::new());
    for turn in 0..7 {
        let start = Instant::now();
        engine.set_modules(texts()).map_err(failed)?;
        all.push(elapsed_ms(start));
        let Some((name, text)) = modules.get(20 + turn) else {
            continue;
        };
        let text = format!("{text}\nturn := {turn}\n");
        let start = Instant::now();
        engine.set_module(name, &text).map_err(failed)?;
        one.push(elapsed_ms(start));
    }
    println!(
        "{count} modules: {:.1} ms for all, {:.1} ms when one changes",
        median(all),
        median(one)
    );
    Ok(())
}
