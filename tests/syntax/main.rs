//! Compares the parser with recorded results of OPA's parser.
//!
//! Each file under `tests/cases/syntax` contains cases with a module and the expected result: its AST JSON, or its
//! errors. With `SOLON_RECORD` set to the OPA program, the results are recorded again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod annotations;
mod ast;
mod bytes;
mod cases;
mod format;
mod grammar;
mod limits;
mod nesting;
mod numbers;
#[path = "../time/processor.rs"]
mod processor;
