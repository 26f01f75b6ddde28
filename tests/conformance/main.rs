//! Runs OPA's conformance cases.
//!
//! `REGO_CASES=DIR cargo test --release --test conformance -- --nocapture` reads every `.json` file below a directory.
//! Without the variable it reads the cases next to a checkout, if present. With `REGO_CASES_REPORT=FILE` each failing
//! note is written as a line of that file. `SOLON_FACE` is a program with its arguments, each on a line of its own; the
//! cases and the recorded programs then run on that program through the JSON lines protocol.
//! `SOLON_FACE_EXCEPTIONS=FILE` lists its permitted differences. `tests/conformance/exceptions.tsv` lists cases that
//! may fail, each with a reason; a listed case that passes is a failure.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test with a report of its own"
)]

use std::path::Path;
use std::process::ExitCode;

use solon_lines::conformance::{Cases, Exceptions, Report};
use solon_lines::{Native, Process, recorded};

fn main() -> ExitCode {
    if let Ok(command) = std::env::var("SOLON_FACE") {
        return check_driver(&command);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance");
    let cases = Cases::find(&folder, include_str!("exceptions.tsv"));
    if !cases.are_there() {
        println!(
            "conformance: SKIPPED: no folder of cases at {}. Nothing was compared; \
             `REGO_CASES=DIR cargo test --release --test conformance` runs the cases of a folder",
            cases.directory.display()
        );
        return ExitCode::SUCCESS;
    }
    let Report {
        passed,
        mut failed,
        excused,
    } = cases.run(&mut Native::Plans);
    for (note, reason) in cases.run(&mut Native::Search).failed {
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

/// Runs the conformance cases, if present, and the recorded programs on another program.
fn check_driver(command: &str) -> ExitCode {
    let mut words = command.lines().map(str::to_owned);
    let mut driver = Process::with(words.next().unwrap_or_default(), words);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance");
    let cases = Cases::find(&folder, include_str!("exceptions.tsv"));
    let (mut passed, mut failed) = (0, Vec::new());
    if cases.are_there() {
        let report = cases.run(&mut driver);
        (passed, failed) = (report.passed, report.failed);
    } else {
        println!("conformance: SKIPPED: no folder of cases found; only the recorded programs run");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/agreement");
    let comparison = recorded::compare(&folder, &mut driver).expect("there are recorded programs");
    passed += comparison.asked - comparison.differ.len();
    failed.extend(comparison.differ);
    // a language may lack some values, or spellings of numbers
    let known = std::env::var("SOLON_FACE_EXCEPTIONS");
    let known = known.map(|file| std::fs::read_to_string(file).expect("a list of exceptions"));
    let known = Exceptions::read(&known.unwrap_or_default());
    let (excused, failed): (Vec<_>, Vec<_>) = failed
        .into_iter()
        .partition(|(note, reason)| known.excuse(note, reason));
    for (note, reason) in &failed {
        println!("FAILED {note}: {reason}");
    }
    let excused: Vec<String> = excused.into_iter().map(|(note, _)| note).collect();
    let unused = known.unused(&excused);
    for note in &unused {
        println!("FAILED {note}: it is an exception and does not fail");
    }
    println!(
        "{passed} passed, {} failed, {} excused",
        failed.len(),
        excused.len()
    );
    if failed.is_empty() && unused.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
