//! Published Rego cases, asked of any face.
//!
//! `REGO_CASES` names a folder of them; without it the cases beside a checkout are read when they are there.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "for tests: a file of cases that cannot be read is a failing test"
)]

mod case;
mod exceptions;
mod judge;

use std::path::{Path, PathBuf};

pub use case::Case;
pub use exceptions::Exceptions;

use crate::Driver;

/// Where cases are, and which of them may fail.
pub struct Cases {
    /// The folder.
    pub directory: PathBuf,
    exceptions: Exceptions,
}

/// What came of the cases.
#[derive(Debug, Default)]
pub struct Report {
    /// How many were answered as they want.
    pub passed: usize,
    /// Those that were not, with the reasons.
    pub failed: Vec<(String, String)>,
    /// Those that were not either, and may be.
    pub excused: Vec<String>,
}

impl Cases {
    /// The cases of the folder that `REGO_CASES` names, or of `beside` without those that `exceptions` excuse: lines of a
    /// note or `built-in NAME`, a tab and a reason.
    pub fn find(beside: &Path, exceptions: &str) -> Self {
        match std::env::var_os("REGO_CASES") {
            Some(directory) => Self {
                directory: directory.into(),
                exceptions: Exceptions::read(""),
            },
            None => Self {
                directory: beside.to_owned(),
                exceptions: Exceptions::read(exceptions),
            },
        }
    }

    /// Whether there is such a folder.
    pub fn are_there(&self) -> bool {
        self.directory.is_dir()
    }

    /// Asks all of them of a face.
    pub fn ask(&self, face: &mut dyn Driver) -> Report {
        let mut report = Report::default();
        for case in case::read_all(&self.directory) {
            match judge::check(&case, face) {
                Ok(()) => report.passed += 1,
                Err(reason) if self.exceptions.excuse(&case.note, &reason) => {
                    report.excused.push(case.note);
                }
                Err(reason) => report.failed.push((case.note, reason)),
            }
        }
        for entry in self.exceptions.unused(&report.excused) {
            let reason = "is an exception that excuses nothing".to_owned();
            report.failed.push((entry, reason));
        }
        report
    }
}
