//! New programs against a running oracle.

use std::fs;
use std::path::Path;

use crate::canonical::canonical;
use crate::programs::{Drawn, draw, reduced};
use solon_lines::Process;

/// Compares the residuals of `count` programs with the oracle's and returns the number of differences. A reduced form
/// of each is reported.
pub fn compare(oracle: &str, seed: u64, count: u64, filter: &str) -> usize {
    let mut oracle = Process::new(oracle);
    let (mut passed, mut report) = (0, Vec::new());
    for number in 0..count {
        let Some(drawn) = draw(seed, number, filter) else {
            continue;
        };
        match differs(&mut oracle, &drawn) {
            None => passed += 1,
            Some(_) if !(0..3).all(|_| differs(&mut oracle, &drawn).is_some()) => {}
            Some(_) => {
                let reduced = reduced(drawn, |one| differs(&mut oracle, one).is_some());
                let (want, got) = differs(&mut oracle, &reduced).unwrap_or_default();
                report.push(describe(&reduced, &want, &got));
            }
        }
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("partial-{seed}.txt"));
    fs::write(&path, report.join("\n")).expect("a place for the report");
    println!("the differences are in {}", path.display());
    println!("{passed} passed, {} failed", report.len());
    report.len()
}

fn describe(drawn: &Drawn, want: &str, got: &str) -> String {
    let mut text = format!("=== {}\n", drawn.name);
    for (file, module) in &drawn.request.modules {
        text += &format!("--- {file}\n{}\n", module.trim_end());
    }
    let show = |text: &str| text.replace("\\n", "\n     ").replace("\",\"", "\",\n  \"");
    text += &format!(
        "--- query\n{}\n--- unknowns\n{}\n",
        drawn.request.query,
        drawn.unknowns.join(" ")
    );
    text += &format!("--- request\n{}\n", drawn.line());
    text += &format!("--- oracle\n{}\n--- solon\n{}\n", show(want), show(got));
    text
}

/// Returns both responses if they differ.
fn differs(oracle: &mut Process, drawn: &Drawn) -> Option<(String, String)> {
    let line = drawn.line();
    let want = oracle.request(&line).ok()?;
    let query = &drawn.request.query;
    let wanted = canonical(&want, query)?;
    let got = solon_lines::answer(&line);
    (Some(wanted) != canonical(&got, query)).then_some((want, got))
}
