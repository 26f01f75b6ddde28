//! Coverage report as an `lcov` tracefile.

use std::fmt::Write as _;

use solon::trace::CoverageReport;

use super::rows;

/// Returns the tracefile. A line is covered if anything on it is covered. Each range of the JSON report is a branch of its first
/// line, so that ranges on one line can be distinguished.
pub fn lcov(report: &CoverageReport) -> String {
    let mut out = String::new();
    for (file, coverage) in &report.files {
        let (covered_rows, missed_rows) = rows(coverage);
        let _ = writeln!(out, "TN:\nSF:{file}");
        let mut ranges: Vec<_> = coverage
            .covered
            .iter()
            .map(|range| (range, 1))
            .chain(coverage.not_covered.iter().map(|range| (range, 0)))
            .collect();
        ranges.sort_by_key(|(range, _)| (range.start, range.end));
        for (branch, (range, is_taken)) in ranges.iter().enumerate() {
            let _ = writeln!(out, "BRDA:{},0,{branch},{is_taken}", range.start.row);
        }
        let hit = coverage.covered.len();
        let _ = writeln!(out, "BRF:{}\nBRH:{hit}", ranges.len());
        for row in covered_rows.union(&missed_rows) {
            let _ = writeln!(out, "DA:{row},{}", u8::from(covered_rows.contains(row)));
        }
        let lines = covered_rows.union(&missed_rows).count();
        let _ = writeln!(out, "LF:{lines}\nLH:{}\nend_of_record", covered_rows.len());
    }
    out
}
