//! Filters of rows: their texts equal OPA's wherever those are correct, and they keep the rows for which the policy is
//! true.
//!
//! `cargo test --test filters` compares with the record. `SOLON_RECORD=ORACLE` records OPA's filters; each difference
//! must have one of the reasons in `differences.rs`, which `docs/differences.md` explains with examples;
//! `SOLON_ORACLE=ORACLE` compares policies beyond the record. `SOLON_SEED=7 SOLON_COUNT=2000` draws other policies for
//! the comparison of rows, and `SOLON_SECONDS=300` runs random names and values for that long on each database.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test program: it talks on the terminal, and a panic in it is a failing test"
)]

#[path = "../servers/mod.rs"]
#[allow(dead_code, reason = "the control plane's tests do more with servers")]
mod servers;
#[path = "../time/waiting.rs"]
mod waiting;

mod chains;
mod databases;
mod differences;
mod draw;
mod edges;
mod extended;
mod handed;
mod injection;
mod masks;
mod parsed;
mod policies;
mod random_policies;
mod recorded_policies;
mod rows;
mod tables;
mod texts;
mod undefined;

use std::env;

/// Returns a number that the environment may set.
fn number(name: &str, or: u64) -> u64 {
    let text = env::var(name).ok();
    text.map_or(or, |text| text.parse().expect("a number"))
}
