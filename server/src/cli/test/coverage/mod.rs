//! Coverage of tests.

mod html;
mod lcov;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use solon::Engine;
use solon::trace::{Coverage, CoverageReport, FileCoverage, UncoveredReason};

pub use html::html;
pub use lcov::lcov;

/// Coverage of all tests together, with and without optimizations.
#[derive(Default)]
pub struct Covered {
    own: Coverage,
    others: Vec<(UncoveredReason, Coverage)>,
}

impl Covered {
    /// Adds the coverage of a test.
    pub fn add(
        &mut self,
        (own_coverage, other_coverage): (Coverage, Vec<(UncoveredReason, Coverage)>),
    ) {
        self.own.merge(own_coverage);
        for (kind, other) in other_coverage {
            match self.others.iter_mut().find(|(reason, _)| *reason == kind) {
                Some((_, all)) => all.merge(other),
                None => self.others.push((kind, other)),
            }
        }
    }

    /// Returns the report of all modules.
    pub fn report(&self, engine: &Engine) -> CoverageReport {
        let other_coverage: Vec<(UncoveredReason, &Coverage)> = self
            .others
            .iter()
            .map(|(kind, other)| (*kind, other))
            .collect();
        let modules = engine.modules();
        let modules = modules.iter().map(|(_, module)| &**module);
        self.own.report(&other_coverage, modules)
    }
}

/// Returns the message that the coverage is below `threshold`. If `is_verbose` is set, it lists the lines that are not covered.
pub fn too_little(report: &CoverageReport, threshold: f64, is_verbose: bool) -> String {
    let mut text = format!(
        "Code coverage threshold not met: got {:.2} instead of {threshold:.2}\n",
        report.coverage
    );
    if is_verbose {
        text.push_str("Lines not covered:\n");
        for (file, coverage) in &report.files {
            for (first, last) in runs(&rows(coverage).1) {
                let _ = if first == last {
                    writeln!(text, "\t{file}:{first}")
                } else {
                    writeln!(text, "\t{file}:{first}-{last}")
                };
            }
        }
    }
    text
}

/// Returns the rows that contain covered parts, and the rows that contain parts that are not covered.
fn rows(file: &FileCoverage) -> (BTreeSet<u32>, BTreeSet<u32>) {
    let covered_rows = file.covered.iter();
    let covered_rows = covered_rows.flat_map(|range| range.start.row..=range.end.row);
    let missed_rows = file.not_covered.iter();
    let missed_rows = missed_rows.flat_map(|range| range.start.row..=range.end.row);
    (covered_rows.collect(), missed_rows.collect())
}

/// Returns the first and the last row of each run of adjacent rows.
fn runs(rows: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for row in rows {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *row => *last = *row,
            _ => runs.push((*row, *row)),
        }
    }
    runs
}
