//! The C API: its header matches the code, and C programs that use it run.

#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "a panic here is a failing test, and a skipped one says so"
)]

mod abi;
mod compiler;
mod driver;
mod header;
mod hostile;
mod install;
mod nulls;
mod pages;
mod programs;
mod record;
mod reference;
mod rejected;
mod served;
mod units;

use std::path::{Path, PathBuf};

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
