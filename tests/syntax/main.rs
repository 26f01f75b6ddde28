//! The front end against recorded answers of the reference engine's parser.
//!
//! Each file under `tests/cases/syntax` holds cases with a module and what came of it: its AST JSON, or its errors.
//! With `SOLON_RECORD` set to the reference program, the answers are recorded anew instead.

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
