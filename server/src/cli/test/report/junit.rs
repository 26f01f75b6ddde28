//! Test results as JUnit XML.

use std::collections::BTreeMap;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use solon::testing::{Cases, Verdict};

use super::{TestReport, error_text};

/// Writes a suite for each package, and a test case for each test or each of its cases.
#[derive(Default)]
pub struct Junit<'a> {
    items: Vec<TestReport<'a>>,
}

impl<'a> Junit<'a> {
    /// Adds a result. Returns an empty text, because all output is written at the end.
    pub fn add(&mut self, item: TestReport<'a>) -> String {
        self.items.push(item);
        String::new()
    }

    /// Returns the XML document.
    pub fn finish(self) -> Vec<u8> {
        let mut suites: BTreeMap<&str, (TestSuite, Duration)> = BTreeMap::new();
        let mut total = Duration::ZERO;
        for item in &self.items {
            let package = item.test.package.as_str();
            let suite = suites
                .entry(package)
                .or_insert_with(|| (TestSuite::new(package), Duration::ZERO));
            suite.0.add_test_cases(test_cases(item));
            suite.1 += item.result.duration;
            total += item.result.duration;
        }
        let mut report = Report::new("solon test");
        report.set_time(total);
        for (mut suite, time) in suites.into_values() {
            suite.set_time(time);
            report.add_test_suite(suite);
        }
        let mut text = report.to_string().unwrap_or_default().into_bytes();
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text
    }
}

/// Returns the test itself, or its innermost cases.
fn test_cases(item: &TestReport<'_>) -> Vec<TestCase> {
    let (test, result) = (item.test, &item.result);
    let mut all = Vec::new();
    let status = match &result.verdict {
        Verdict::Pass | Verdict::Fail if !result.cases.is_empty() => {
            add_cases(item, &result.cases, &mut Vec::new(), &mut all);
            return all;
        }
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::Skip => TestCaseStatus::skipped(),
        Verdict::Fail => failure(item, &[]),
        Verdict::Error(error) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            let text = error_text(error);
            status.set_message(text.lines().next().unwrap_or_default().to_owned());
            status.set_description(text);
            status
        }
    };
    all.push(test_case(item, test.name.clone(), status, result.duration));
    all
}

fn add_cases(
    item: &TestReport<'_>,
    cases: &Cases,
    case_path: &mut Vec<String>,
    all: &mut Vec<TestCase>,
) {
    for case in cases.values() {
        case_path.push(case.name.clone());
        if case.cases.is_empty() {
            let status = if case.failed {
                failure(item, case_path)
            } else {
                TestCaseStatus::success()
            };
            let name = format!("{}/{}", item.test.name, case_path.join("/"));
            all.push(test_case(item, name, status, Duration::ZERO));
        }
        add_cases(item, &case.cases, case_path, all);
        case_path.pop();
    }
}

fn test_case(
    item: &TestReport<'_>,
    name: String,
    status: TestCaseStatus,
    time: Duration,
) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(item.test.package.clone());
    case.set_time(time);
    case.extra
        .insert("file".into(), item.test.file.clone().into());
    case.extra
        .insert("line".into(), item.test.row.to_string().into());
    if !item.result.output.is_empty() {
        case.set_system_out(item.result.output.clone());
    }
    case
}

/// Returns the failure of a test, or of one of its cases.
fn failure(item: &TestReport<'_>, case: &[String]) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    let detail = item.details.iter().find(|detail| detail.case == case);
    match detail {
        Some(detail) => {
            let expression = &detail.expression;
            status.set_message(format!(
                "{}:{}: {}",
                expression.file, expression.row, expression.text
            ));
            status.set_description(detail.text());
        }
        None => {
            status.set_message("the test is not true");
        }
    }
    status
}
