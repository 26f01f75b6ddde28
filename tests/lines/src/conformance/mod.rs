//! OPA's conformance cases, run with any driver.
//!
//! `REGO_CASES` names a folder of cases; otherwise the cases next to a checkout are used if they exist.

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

/// Location of the cases, and those that may fail.
pub struct Cases {
    /// Folder of the cases.
    pub directory: PathBuf,
    exceptions: Exceptions,
}

/// Results of the cases.
#[derive(Debug, Default)]
pub struct Report {
    /// Number of passed cases.
    pub passed: usize,
    /// Failed cases, with the reasons.
    pub failed: Vec<(String, String)>,
    /// Failed cases that may fail.
    pub excused: Vec<String>,
}

impl Cases {
    /// Returns the cases of the folder that `REGO_CASES` names, or those next to the checkout without the ones that `exceptions`
    /// excuses. Each line of `exceptions` is a note or `built-in NAME`, a tab and a reason.
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

    /// Returns `true` if the folder exists.
    pub fn are_there(&self) -> bool {
        self.directory.is_dir()
    }

    /// Runs all cases with a driver.
    pub fn run(&self, driver: &mut dyn Driver) -> Report {
        let mut report = Report::default();
        for case in case::read_all(&self.directory) {
            match judge::check(&case, driver) {
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
