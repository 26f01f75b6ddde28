//! Rules for every file of the repository, checked by reading the files.

#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a panic here is a failing test"
)]

mod clock;
mod hosts;
mod layers;
mod lengths;
mod names;
mod pages;
mod platforms;
mod source;
mod understanding;
mod vocabulary;
mod wording;

use std::path::{Path, PathBuf};

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Fails the calling test with one line for each finding.
fn report(rule: &str, findings: &[String]) {
    assert!(findings.is_empty(), "{rule}\n  {}\n", findings.join("\n  "));
}
