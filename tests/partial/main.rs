//! Partial evaluation: residuals must equal OPA's, and must have the results of the whole query.
//!
//! `cargo test --test partial [-- FILTER]` compares with the record, then draws programs and compares Solon with
//! itself. `SOLON_RECORD=ORACLE` records OPA's residuals of random programs. `SOLON_ORACLE=ORACLE SOLON_SEED=7
//! SOLON_COUNT=2000` draws new programs and compares residuals live; without an oracle, whole and residual results are
//! compared.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::format_push_string,
    clippy::unwrap_used,
    clippy::panic,
    dead_code,
    reason = "a test program: it talks on the terminal, a panic in it is a failing test, and it shares the generator"
)]

mod canonical;
mod cases;
#[path = "../agreement/generate/mod.rs"]
mod generate;
mod live;
mod programs;
mod soundness;
mod written;

use std::env;
use std::process::ExitCode;

/// Seed of the programs that every run compares.
const SEED: u64 = 11;

/// Number of programs for the comparison with the whole query; unoptimised builds take a sample.
const DRAWN: u64 = if cfg!(debug_assertions) { 1_000 } else { 7_600 };

fn main() -> ExitCode {
    let filter = env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .unwrap_or_default();
    let number = |name: &str, or: u64| {
        let text = env::var(name).ok();
        text.map_or(or, |text| text.parse().expect("a number"))
    };
    let (seed, count) = (number("SOLON_SEED", SEED), number("SOLON_COUNT", DRAWN));
    let failed = if let Ok(oracle) = env::var("SOLON_RECORD") {
        cases::record(&oracle);
        0
    } else if let Ok(oracle) = env::var("SOLON_ORACLE") {
        live::compare(&oracle, seed, count, &filter)
    } else if env::var("SOLON_SEED").is_ok() {
        soundness::compare(seed, (count, number("SOLON_SECONDS", 0)), &filter)
    } else {
        cases::compare(&filter)
            + written::compare(&filter)
            + soundness::compare(seed, (count, 0), &filter)
    };
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
