//! Coverage report as an HTML page with the sources.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use solon::trace::{CoverageReport, FileCoverage};

use super::rows;

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<title>Coverage</title>
<style>
body { font-family: sans-serif; margin: 2em; }
table { border-collapse: collapse; }
td, th { padding: 0.2em 1em; text-align: left; }
pre { margin: 0; line-height: 1.4; }
pre span { display: block; }
pre i { display: inline-block; width: 4em; color: #777; font-style: normal; user-select: none; }
.covered { background: #dcf5dc; }
.partial { background: #fbf3cf; }
.missed { background: #f9d9d9; }
</style>
</head>
<body>
";

/// Returns the page: a table of files, and the source of each file. Rows are marked as covered, partly covered or not covered.
pub fn html(report: &CoverageReport, sources: &BTreeMap<String, String>) -> String {
    let mut out = HEAD.to_owned();
    let _ = writeln!(out, "<h1>Coverage: {:.2} %</h1>", report.coverage);
    out.push_str(
        "<table>\n<tr><th>File</th><th>Coverage</th><th>Lines</th><th>Not covered</th></tr>\n",
    );
    for (index, (file, coverage)) in report.files.iter().enumerate() {
        let _ = writeln!(
            out,
            "<tr><td><a href=\"#file{index}\">{}</a></td><td>{:.2} %</td><td>{}</td><td>{}</td></tr>",
            escape(file),
            coverage.coverage,
            coverage.covered_lines + coverage.not_covered_lines,
            coverage.not_covered_lines
        );
    }
    out.push_str("</table>\n");
    for (index, (file, coverage)) in report.files.iter().enumerate() {
        let _ = writeln!(out, "<h2 id=\"file{index}\">{}</h2>", escape(file));
        let source = sources.get(file).map_or("", String::as_str);
        write_source(source, coverage, &mut out);
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn write_source(source: &str, coverage: &FileCoverage, out: &mut String) {
    let (covered_rows, missed_rows) = rows(coverage);
    out.push_str("<pre>");
    for (row, line) in (1..).zip(source.lines()) {
        let class = match (covered_rows.contains(&row), missed_rows.contains(&row)) {
            (true, true) => " class=\"partial\"",
            (true, false) => " class=\"covered\"",
            (false, true) => " class=\"missed\"",
            (false, false) => "",
        };
        let _ = write!(out, "<span{class}><i>{row}</i>{}\n</span>", escape(line));
    }
    out.push_str("</pre>\n");
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
