//! Optimised bundles: their policies are those of `opa build -O`, and they answer as the policies that they were made of.
//!
//! `tests/cases/build/policies.json` has policies with entry points, written by hand; `generated.json` has generated ones by their
//! numbers. Both record what `opa build -O1` and `-O2` write. `SOLON_RECORD=PATH`, the program of OPA, records them again. Where Solon
//! writes something else on purpose, `differs` says why, and only answers are compared. `SOLON_ORACLE=PATH SOLON_SEED=7
//! SOLON_COUNT=500` compares new programs with OPA.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    clippy::format_push_string,
    dead_code,
    unused_imports,
    reason = "a panic here is a failing test, and the generator is shared"
)]

mod answers;
mod cases;
#[path = "../agreement/generate/mod.rs"]
mod generate;
mod generated;
mod inputs;
mod written;
