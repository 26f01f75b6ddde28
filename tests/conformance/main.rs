//! Runs published Rego cases.
//!
//! `REGO_CASES=DIR cargo test --release --test conformance -- --nocapture` reads every `.json` file below a
//! directory; without the variable the cases beside a checkout are read when they are there. With
//! `REGO_CASES_REPORT=FILE` each failing note is written as a line of that file. Cases that may fail stand,
//! with a reason each, in `tests/conformance/exceptions.tsv`; one that does not fail any more is a failure.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test with a report of its own"
)]

mod case;
mod exceptions;
mod run;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use exceptions::Exceptions;

fn main() -> ExitCode {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance");
    let (directory, exceptions) = match std::env::var_os("REGO_CASES") {
        Some(directory) => (PathBuf::from(directory), Exceptions::none()),
        None => (beside, exceptions::read()),
    };
    if !directory.is_dir() {
        println!(
            "conformance: SKIPPED: there is no folder of cases at {}. Nothing was compared; \
             `REGO_CASES=DIR cargo test --release --test conformance` runs the cases of a folder",
            directory.display()
        );
        return ExitCode::SUCCESS;
    }
    let mut passed = 0;
    let mut failed = Vec::new();
    let mut excused = Vec::new();
    for case in case::read_all(&directory) {
        match run::check(&case) {
            Ok(()) => passed += 1,
            Err(reason) if exceptions.excuse(&case.note, &reason) => excused.push(case.note),
            Err(reason) => failed.push((case.note, reason)),
        }
    }
    for entry in exceptions.unused(&excused) {
        failed.push((entry, "is an exception that excuses nothing".to_owned()));
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
