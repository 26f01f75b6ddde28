//! Runs published Rego cases.
//!
//! `REGO_CASES=DIR cargo test --release --test conformance -- --nocapture` reads every `.json` file below a
//! directory; without the variable the cases beside a checkout are read when they are there. With
//! `REGO_CASES_REPORT=FILE` each failing note is written as a line of that file. Cases that may fail stand,
//! with a reason each, in `tests/conformance/exceptions.tsv`; one that does not fail any more is a failure.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test with a report of its own"
)]

use std::path::Path;
use std::process::ExitCode;

use solon_lines::Native;
use solon_lines::conformance::{Cases, Report};

fn main() -> ExitCode {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance");
    let cases = Cases::find(&beside, include_str!("exceptions.tsv"));
    if !cases.are_there() {
        println!(
            "conformance: SKIPPED: there is no folder of cases at {}. Nothing was compared; \
             `REGO_CASES=DIR cargo test --release --test conformance` runs the cases of a folder",
            cases.directory.display()
        );
        return ExitCode::SUCCESS;
    }
    let Report {
        passed,
        mut failed,
        excused,
    } = cases.ask(&mut Native::Plans);
    for (note, reason) in cases.ask(&mut Native::Search).failed {
        if !failed.iter().any(|(other, _)| *other == note) {
            failed.push((note, format!("by search: {reason}")));
        }
    }
    for (note, reason) in &failed {
        println!("FAILED {note}: {reason}");
    }
    if let Some(file) = std::env::var_os("REGO_CASES_REPORT") {
        let lines: String = failed.iter().map(|(note, _)| format!("{note}\n")).collect();
        std::fs::write(file, lines).expect("the report file can be written");
    }
    if !excused.is_empty() {
        println!(
            "{} cases fail for reasons listed in tests/conformance/exceptions.tsv",
            excused.len()
        );
    }
    println!("{passed} passed, {} failed", failed.len());
    if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
