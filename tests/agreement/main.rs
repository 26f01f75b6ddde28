//! Random Rego programs for which Solon must agree with OPA.
//!
//! `cargo test --test agreement [-- FILTER]` compares with the recorded results (`FILTER` is a part of `THEME/INDEX`).
//! `SOLON_RECORD=ORACLE` records again; `./bless --oracle` uses it. `SOLON_ORACLE=ORACLE SOLON_SEED=7 SOLON_COUNT=5000`
//! draws new programs and compares live: results of both evaluators, and traces.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::format_push_string,
    reason = "a test program: it talks on the terminal, and a panic in it is a failing test"
)]

mod census;
mod compare;
mod documents;
mod engine;
mod expected_differences;
mod generate;
mod live;
mod record;
mod report;
mod switches;
mod traces;

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use census::Census;
use record::Case;
use report::Report;

#[derive(Default)]
struct Outcome {
    passed: usize,
    failed: usize,
    report: PathBuf,
}

fn main() -> ExitCode {
    let filter = env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .unwrap_or_default();
    if let Ok(oracle) = env::var("SOLON_RECORD") {
        return match record::write(&oracle) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error),
        };
    }
    let outcome = match env::var("SOLON_SEED") {
        Ok(seed) => draw(&seed, &filter),
        Err(_) => compare_with_record(&filter),
    };
    match outcome {
        Err(error) => fail(&error),
        Ok(outcome) => {
            if outcome.failed > 0 {
                println!("the differences are in {}", outcome.report.display());
            }
            println!("{} passed, {} failed", outcome.passed, outcome.failed);
            if outcome.failed == 0 {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

fn fail(error: &str) -> ExitCode {
    eprintln!("agreement: {error}");
    ExitCode::FAILURE
}

fn draw(seed: &str, filter: &str) -> Result<Outcome, String> {
    let number = |name: &str, text: &str| {
        text.parse::<u64>()
            .map_err(|error| format!("{name}: {error}"))
    };
    let oracle = env::var("SOLON_ORACLE")
        .map_err(|_| "SOLON_SEED needs the path of an oracle in SOLON_ORACLE")?;
    let count = env::var("SOLON_COUNT").unwrap_or_else(|_| "2000".into());
    live::run(
        &oracle,
        number("SOLON_SEED", seed)?,
        number("SOLON_COUNT", &count)?,
        filter,
    )
}

/// Compares the engine with everything in the record, with and without all optimisations, then takes the census of the
/// record.
fn compare_with_record(filter: &str) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    let mut report = Report::new("agreement.txt")?;
    let mut exceptions = record::exceptions();
    let mut census = Census::default();
    let mut documents = 0;
    let files = generate::Theme::ALL.into_iter().map(record::file);
    for file in files.chain([record::earlier_differences()]) {
        let text =
            fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        for line in text.lines() {
            let case: Case<'_> = serde_json::from_str(line)
                .map_err(|error| format!("{}: {error}", file.display()))?;
            if !case.name.contains(filter) {
                continue;
            }
            let (request, expected) = (case.request.get(), case.answer.get());
            let actual = engine::answer(request);
            census.add(request, expected)?;
            for (left_out, difference) in switches::differences(request, &actual) {
                outcome.failed += 1;
                println!("{}: {difference} differ without {left_out}", case.name);
            }
            let (compared, others) = documents::compare(request);
            documents += compared;
            for document in others {
                outcome.failed += 1;
                println!(
                    "{}: {document} differs when asked for by its path",
                    case.name
                );
            }
            if let Some(difference) = engine::disagreement(request, &actual, expected) {
                outcome.failed += 1;
                println!("{}: {difference} differ between the machines", case.name);
            }
            let excused = exceptions.remove(case.name).is_some();
            match compare::difference(expected, &actual) {
                None if excused => {
                    outcome.failed += 1;
                    println!("{}: agrees now, take it out of exceptions.txt", case.name);
                }
                Some(difference) if !excused => {
                    outcome.failed += 1;
                    println!("{}: {difference} differ", case.name);
                    report.add_recorded(case.name, difference, request, expected, &actual)?;
                }
                _ => outcome.passed += 1,
            }
        }
    }
    if filter.is_empty() {
        if documents < 1000 {
            outcome.failed += 1;
            println!("only {documents} documents were asked for by their paths");
        }
        for fault in census.shortfalls() {
            outcome.failed += 1;
            println!("{fault}");
        }
        for case in exceptions.keys() {
            outcome.failed += 1;
            println!("{case}: in exceptions.txt, but not in the record");
        }
    }
    outcome.report = report.path();
    Ok(outcome)
}
