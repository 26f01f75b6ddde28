//! Benchmarks of tests.

use std::time::Instant;

use solon::Request;
use solon::testing::{PolicyTest, TestOptions, TestResult, Verdict};

use super::NOT_PASSED;
use super::args::Args;
use super::report::{Reporter, TestReport};
use crate::cli::benchmarks::BenchmarkResult;
use crate::cli::terminal::print;

/// Name of the query evaluation time, which excludes compilation.
const EVAL: &str = "timer_rego_query_eval_ns/op";

/// Measures the tests in sequence. Returns the exit code.
pub fn run<'a>(
    args: &Args,
    tests: &'a [PolicyTest],
    options: &TestOptions,
    reporter: &mut Reporter<'a>,
) -> u8 {
    let mut code = 0;
    for test in tests {
        let start = Instant::now();
        // only passing tests are measured
        let mut result = test.run(options);
        let measured = measure(test, &result);
        result.duration = start.elapsed();
        match &result.verdict {
            Verdict::Skip if args.exit_zero_on_skipped => {}
            Verdict::Pass => {}
            _ => code = NOT_PASSED,
        }
        print(reporter.add(TestReport {
            test,
            result,
            details: Vec::new(),
            benchmark: Some(measured),
        }));
    }
    code
}

/// Evaluates a passing test for one second.
fn measure(test: &PolicyTest, result: &TestResult) -> BenchmarkResult {
    if !matches!(result.verdict, Verdict::Pass) {
        return BenchmarkResult::default();
    }
    let measured = test.prepare().and_then(|query| {
        let request = Request::new();
        BenchmarkResult::repeat(|| query.solutions(&request).map(drop))
    });
    let mut measured = measured.unwrap_or_default();
    let mean = measured.mean_ns();
    measured.extra.insert(EVAL.to_owned(), mean);
    measured
}
