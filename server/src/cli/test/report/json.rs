//! Test results as JSON, as OPA prints them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use serde_json::value::RawValue;
use solon::testing::{Case, Cases, Verdict};
use solon_syntax::json::lay_out;
use std::collections::BTreeMap;

use super::TestReport;
use crate::cli::benchmarks::{BenchmarkResult, MeasuredJson};
use crate::cli::test::args::Sort;
use crate::json::escape_html;
use crate::wire::{ErrorItem, ErrorLocation, RunningQuery};

/// Collects results, and writes all of them at the end.
pub struct Json<'a> {
    sort: Sort,
    items: Vec<TestReport<'a>>,
}

#[derive(Serialize)]
struct Result {
    location: ErrorLocation,
    package: String,
    name: String,
    #[serde(skip_serializing_if = "is_false")]
    fail: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Errors>,
    #[serde(skip_serializing_if = "is_false")]
    skip: bool,
    duration: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    output: String,
    #[serde(rename = "benchmark_result", skip_serializing_if = "Option::is_none")]
    benchmark: Option<MeasuredJson>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sub_results: BTreeMap<String, SubResult>,
}

/// One error, or the errors of the compiler.
#[derive(Serialize)]
#[serde(untagged)]
enum Errors {
    One(ErrorItem),
    All(Vec<ErrorItem>),
}

#[derive(Serialize)]
struct SubResult {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "is_false")]
    fail: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sub_results: BTreeMap<String, SubResult>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl<'a> Json<'a> {
    /// Creates a reporter with a sort order.
    pub fn new(sort: Sort) -> Self {
        Self {
            sort,
            items: Vec::new(),
        }
    }

    /// Adds a result. Returns an empty text, because all output is written at the end.
    pub fn add(&mut self, item: TestReport<'a>) -> String {
        self.items.push(item);
        String::new()
    }

    /// Returns the JSON array.
    pub fn finish(mut self) -> Vec<u8> {
        if self.sort == Sort::Duration {
            self.items
                .sort_by_key(|item| std::cmp::Reverse(item.result.duration));
        }
        let results: Vec<Result> = self.items.iter().map(result).collect();
        let compact = serde_json::to_vec(&results).unwrap_or_default();
        let mut out = Vec::new();
        let compact = escape_html(compact);
        lay_out(&compact, 0, &mut out, usize::MAX, |byte, out| {
            out.push(byte);
        });
        out.push(b'\n');
        out
    }
}

fn result(item: &TestReport<'_>) -> Result {
    let (test, result) = (item.test, &item.result);
    let explanation = result.explanation.as_ref();
    let explanation = explanation.filter(|explanation| !explanation.events.is_empty());
    let trace = explanation.and_then(|explanation| explanation.detailed_json().ok());
    Result {
        location: ErrorLocation {
            file: test.file.clone(),
            row: test.row,
            col: test.col,
        },
        package: test.package.clone(),
        name: test.name.clone(),
        fail: matches!(result.verdict, Verdict::Fail),
        error: match &result.verdict {
            Verdict::Error(error) => Some(errors(error)),
            _ => None,
        },
        skip: matches!(result.verdict, Verdict::Skip),
        duration: u64::try_from(result.duration.as_nanos()).unwrap_or(u64::MAX),
        trace: trace.and_then(|trace| RawValue::from_string(trace).ok()),
        output: BASE64_STANDARD.encode(&result.output),
        benchmark: item.benchmark.as_ref().map(BenchmarkResult::json),
        sub_results: sub_results(&result.cases),
    }
}

fn sub_results(cases: &Cases) -> BTreeMap<String, SubResult> {
    let sub_result = |case: &Case| SubResult {
        name: case.name.clone(),
        fail: case.failed,
        sub_results: sub_results(&case.cases),
    };
    cases
        .iter()
        .map(|(name, case)| (name.clone(), sub_result(case)))
        .collect()
}

fn errors(error: &solon::Error) -> Errors {
    if let solon::Error::Compile(diagnostics) = error {
        let entries = diagnostics.0.iter().map(ErrorItem::from_diagnostic);
        return Errors::All(entries.collect());
    }
    let entry = error.entries().into_iter().next();
    let entry = entry.unwrap_or_else(|| solon::ErrorEntry::new("", error.to_string()));
    Errors::One(ErrorItem {
        code: entry.code,
        message: entry.message,
        location: entry.location.map(ErrorLocation::from),
        details: None,
        stack_trace: entry.stack.iter().map(RunningQuery::from).collect(),
    })
}
