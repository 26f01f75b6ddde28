//! Test results for humans, as OPA prints them.

use solon::TraceLines;
use solon::testing::{Case, TestResult, Verdict};
use solon::trace::FailedExpression;

use super::{OutcomeCounts, TestReport, error_text, line, write_cases};
use crate::cli::report::running;
use crate::cli::test::args::{Args, Format};

/// Writes each result at once, then the failures, then the counts.
pub struct Pretty<'a> {
    is_verbose: bool,
    var_values: bool,
    is_bench: bool,
    is_gobench: bool,
    counts: OutcomeCounts,
    failures: Vec<TestReport<'a>>,
    last_file: Option<&'a str>,
    has_written: bool,
}

impl<'a> Pretty<'a> {
    /// Creates a reporter with the flags of the command.
    pub fn new(args: &Args) -> Self {
        Self {
            var_values: args.var_values,
            is_bench: args.bench,
            is_gobench: args.format == Format::Gobench,
            ..Self::of_failures(args.is_verbose())
        }
    }

    /// Creates a reporter of failed tests.
    pub fn of_failures(is_verbose: bool) -> Self {
        Self {
            is_verbose,
            var_values: false,
            is_bench: false,
            is_gobench: false,
            counts: OutcomeCounts::default(),
            failures: Vec::new(),
            last_file: None,
            has_written: false,
        }
    }

    /// Adds a result. Returns its lines.
    pub fn add(&mut self, item: TestReport<'a>) -> String {
        self.counts.add(&item.result);
        let mut out = String::new();
        let is_pass = matches!(item.result.verdict, Verdict::Pass);
        match &item.benchmark {
            Some(measured) if is_pass && self.is_bench => {
                self.has_written = true;
                let test = item.test;
                let name = format!("{}.{}", test.package, test.name);
                let name = if self.is_gobench {
                    gobench_name(&name)
                } else {
                    name
                };
                out.push_str(&format!("{name}\t{}\n", measured.line()));
            }
            _ if self.is_verbose || !is_pass => self.write(&item, &mut out),
            _ => {}
        }
        if let Verdict::Error(error) = &item.result.verdict {
            out.push_str(&format!("  {}\n", error_text(error)));
            write_stack(error, &item, &mut out);
        }
        if matches!(item.result.verdict, Verdict::Fail) {
            self.failures.push(item);
        }
        out
    }

    fn write(&mut self, item: &TestReport<'a>, out: &mut String) {
        let (test, result) = (item.test, &item.result);
        if self.last_file.is_some_and(|last| last != test.file) {
            out.push('\n');
        }
        self.last_file = Some(&test.file);
        self.has_written = true;
        out.push_str(&format!("{}:{}:\n{}\n", test.file, test.row, line(item)));
        let mut cases = String::new();
        write_cases(&result.cases, 0, self.is_verbose, &mut cases);
        indent(&cases, 2, out);
        let output = result.output.trim();
        if !result.output.is_empty() {
            out.push('\n');
            indent(&format!("{output}\n"), 2, out);
            out.push('\n');
        }
        for detail in &item.details {
            out.push('\n');
            indent(&detail.text(), 2, out);
        }
        if !item.details.is_empty() {
            out.push('\n');
        }
    }

    /// Returns the failures and the counts.
    pub fn finish(self) -> String {
        let mut out = String::new();
        let rule = format!("{}\n", "-".repeat(80));
        if self.counts.fail > 0 && (self.is_verbose || self.var_values) {
            out.push_str(&format!("{rule}FAILURES\n{rule}"));
            for item in &self.failures {
                out.push_str(&line(item));
                out.push('\n');
                self.write_failure(&item.result, &mut out);
                out.push('\n');
            }
        }
        if self.has_written {
            out.push_str(&rule);
        }
        out.push_str(&self.counts.lines());
        out
    }

    fn write_failure(&self, result: &TestResult, out: &mut String) {
        self.write_steps(result, out);
        if result.cases.is_empty() {
            if self.var_values {
                write_expression(result.failure.as_ref(), 0, out);
            }
            return;
        }
        if self.is_verbose || self.var_values {
            out.push('\n');
        }
        for case in result.cases.values() {
            self.write_case(case, &mut Vec::new(), out);
        }
    }

    /// Writes the trace of a test.
    fn write_steps(&self, result: &TestResult, out: &mut String) {
        if !self.is_verbose {
            return;
        }
        out.push('\n');
        let Some(explanation) = &result.explanation else {
            return;
        };
        // OPA indents each column, and the end of each line
        let options = TraceLines::default()
            .locations(true)
            .variables(self.var_values)
            .gap(2);
        match explanation.lines(options) {
            Ok(lines) => lines
                .iter()
                .for_each(|line| out.push_str(&format!("  {line}  \n"))),
            Err(error) => out.push_str(&format!("  {error}\n")),
        }
    }

    /// Writes the names of a failed innermost case, and the expression that failed.
    fn write_case<'c>(&self, case: &'c Case, names: &mut Vec<&'c str>, out: &mut String) {
        names.push(&case.name);
        if case.failed && case.cases.is_empty() {
            let mut blanks = 2;
            for name in &*names {
                indent(&format!("{name}: FAIL\n"), blanks, out);
                blanks += 2;
            }
            if self.var_values {
                write_expression(case.failure.as_ref(), blanks, out);
            }
        }
        for inner in case.cases.values() {
            self.write_case(inner, names, out);
        }
        names.pop();
    }
}

/// Writes the expression that failed and the values of its variables.
fn write_expression(failure: Option<&FailedExpression>, blanks: usize, out: &mut String) {
    indent("\n", blanks, out);
    if let Some(failure) = failure {
        let location = format!("{}:{}:\n", failure.file, failure.row);
        indent(&location, blanks + 2, out);
        indent(&failure.rendered(true), blanks + 4, out);
        indent("\n", blanks, out);
    }
}

/// Writes the queries that were running when an error ended a test.
fn write_stack(error: &solon::Error, item: &TestReport<'_>, out: &mut String) {
    let entries = error.entries();
    let stack = entries.iter().flat_map(|entry| &entry.stack);
    let text_of = |file: &str| {
        if file.is_empty() {
            return Some(item.test.path().to_owned());
        }
        item.test.source(file)
    };
    let lines: Vec<String> = stack.map(|frame| running(frame, &text_of)).collect();
    if !lines.is_empty() {
        out.push_str("  Traceback:\n");
    }
    for line in lines {
        out.push_str(&format!("    {line}\n"));
    }
}

/// Writes a text with spaces before each of its lines, including empty ones.
fn indent(text: &str, blanks: usize, out: &mut String) {
    for line in text.split_inclusive('\n') {
        out.extend(std::iter::repeat_n(' ', blanks));
        out.push_str(line);
    }
}

/// Returns a name in the form of Go's benchmarks: `BenchmarkDataAuthzTestAllow`.
fn gobench_name(name: &str) -> String {
    let parts = name.split(['_', '.']).map(|part| {
        let mut letters = part.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect::<String>()
    });
    format!("Benchmark{}", parts.collect::<String>())
}
