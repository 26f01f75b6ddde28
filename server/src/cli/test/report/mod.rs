//! Test results in each output format.

mod github;
mod json;
mod junit;
mod pretty;

use solon::testing::{Cases, PolicyTest, TestResult, Verdict};

use self::github::Github;
use self::json::Json;
use self::junit::Junit;
use self::pretty::Pretty;
use super::args::{Args, Format};
use super::failure::Detail;
use crate::cli::amounts::format_duration;
use crate::cli::benchmarks::BenchmarkResult;
use crate::cli::report::Report;

/// A test and its result.
pub struct TestReport<'a> {
    pub test: &'a PolicyTest,
    pub result: TestResult,
    /// Details of a failure, if they are reported.
    pub details: Vec<Detail>,
    /// Benchmark of the test, if it was measured.
    pub benchmark: Option<BenchmarkResult>,
}

/// Writes results.
pub enum Reporter<'a> {
    /// Text for humans, and Go's benchmark format.
    Pretty(Pretty<'a>),
    Json(Json<'a>),
    /// JUnit XML.
    Junit(Junit<'a>),
    /// Annotations of GitHub Actions.
    Github(Github),
}

impl<'a> Reporter<'a> {
    /// Returns the reporter that the flags select.
    pub fn new(args: &'a Args) -> Self {
        match args.format {
            Format::Pretty | Format::Gobench => Self::Pretty(Pretty::new(args)),
            Format::Json => Self::Json(Json::new(args.sort)),
            Format::Junit => Self::Junit(Junit::default()),
            Format::Github => Self::Github(Github::default()),
        }
    }

    /// Returns a reporter of the failures, which are printed instead of coverage.
    pub fn of_failures(args: &'a Args) -> Self {
        Self::Pretty(Pretty::of_failures(args.is_verbose()))
    }

    /// Adds a result. Returns the text to be written at once.
    pub fn add(&mut self, item: TestReport<'a>) -> String {
        match self {
            Self::Pretty(pretty) => pretty.add(item),
            Self::Json(json) => json.add(item),
            Self::Junit(junit) => junit.add(item),
            Self::Github(github) => github.add(&item),
        }
    }

    /// Returns the text to be written after the last result.
    pub fn finish(self) -> Vec<u8> {
        match self {
            Self::Pretty(pretty) => pretty.finish().into_bytes(),
            Self::Json(json) => json.finish(),
            Self::Junit(junit) => junit.finish(),
            Self::Github(github) => github.finish().into_bytes(),
        }
    }
}

/// Number of tests, or of cases, by outcome.
#[derive(Default)]
pub struct OutcomeCounts {
    pass: usize,
    fail: usize,
    skip: usize,
    error: usize,
}

impl OutcomeCounts {
    /// Counts a test: its innermost cases, or the test itself.
    pub fn add(&mut self, result: &TestResult) {
        match &result.verdict {
            Verdict::Skip => self.skip += 1,
            Verdict::Error(_) => self.error += 1,
            _ if !result.cases.is_empty() => self.add_cases(&result.cases),
            Verdict::Pass => self.pass += 1,
            Verdict::Fail => self.fail += 1,
        }
    }

    fn add_cases(&mut self, cases: &Cases) {
        for case in cases.values() {
            if !case.cases.is_empty() {
                self.add_cases(&case.cases);
            } else if case.failed {
                self.fail += 1;
            } else {
                self.pass += 1;
            }
        }
    }

    /// Returns a line for each count that is not zero.
    pub fn lines(&self) -> String {
        let total = self.pass + self.fail + self.skip + self.error;
        let counts = [
            ("PASS", self.pass),
            ("FAIL", self.fail),
            ("SKIPPED", self.skip),
            ("ERROR", self.error),
        ];
        let counts = counts.iter().filter(|(_, count)| *count > 0);
        counts
            .map(|(name, count)| format!("{name}: {count}/{total}\n"))
            .collect()
    }
}

/// Returns the outcome of a test as one word.
pub fn outcome(result: &TestResult) -> &'static str {
    match result.verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::Skip => "SKIPPED",
        Verdict::Error(_) => "ERROR",
    }
}

/// Returns the line of a test, without a line break.
pub fn line(item: &TestReport<'_>) -> String {
    let (test, result) = (item.test, &item.result);
    let line = format!("{}.{}: {}", test.package, test.name, outcome(result));
    if matches!(result.verdict, Verdict::Skip) {
        return line;
    }
    let took = u64::try_from(result.duration.as_nanos()).unwrap_or(u64::MAX);
    format!("{line} ({})", format_duration(took))
}

/// Returns a line for each case, indented by its depth.
pub fn cases(cases: &Cases) -> String {
    let mut out = String::new();
    write_cases(cases, 0, true, &mut out);
    out
}

/// Writes a line for each case, or for each failed one unless `all` is set.
fn write_cases(cases: &Cases, depth: usize, all: bool, out: &mut String) {
    for case in cases.values() {
        if case.failed || all {
            let outcome = if case.failed { "FAIL" } else { "PASS" };
            let blanks = "  ".repeat(depth);
            out.push_str(&format!("{blanks}{}: {outcome}\n", case.name));
        }
        write_cases(&case.cases, depth + 1, all, out);
    }
}

/// Returns the text of an error, without a trailing line break.
pub fn error_text(error: &solon::Error) -> String {
    match error {
        solon::Error::Compile(_) => {
            let text = Report::of_error(error, &|_| None).text(false);
            text.trim_end_matches('\n').to_owned()
        }
        other => other.to_string(),
    }
}
