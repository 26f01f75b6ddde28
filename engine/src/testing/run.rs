//! Execution of one test, with its limits, trace and coverage.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use super::cases::{CaseObserver, Cases};
use super::rule::PolicyTest;
use crate::builtins::NdBuiltinCache;
use crate::error::Error;
use crate::explanation::{ExplainOptions, Explanation};
use crate::query::{PinnedQuery, Request, Solution};
use crate::topdown::{SearchOptions, Shortcuts};
use crate::trace::{
    Coverage, Detail, Event, FailedExpression, FailureSources, Names, Observer, Observers,
    UncoveredReason,
};
use crate::value::{Repr, Value};

/// Options of a test run. By default, nothing is recorded.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TestOptions {
    /// Selects the steps in [`TestResult::explanation`]. `None` leaves it out.
    pub detail: Option<Detail>,
    /// `true` if the explanation contains the values of documents, too.
    pub documents: bool,
    /// `true` if the expression that failed is searched for.
    pub failures: bool,
    /// The optimisations without which evaluations are repeated, to find why code is not covered. `None` turns coverage
    /// off.
    pub coverage: Option<Vec<UncoveredReason>>,
    /// Time limit of each test. `None` sets none.
    pub timeout: Option<Duration>,
}

impl TestOptions {
    /// Selects the steps that are explained.
    #[must_use]
    pub fn detail(mut self, detail: Option<Detail>) -> Self {
        self.detail = detail;
        self
    }

    /// Sets whether explanations contain the values of documents.
    #[must_use]
    pub fn documents(mut self, documents: bool) -> Self {
        self.documents = documents;
        self
    }

    /// Sets whether the expression that failed is searched for.
    #[must_use]
    pub fn failures(mut self, failures: bool) -> Self {
        self.failures = failures;
        self
    }

    /// Sets whether coverage is recorded, and which evaluations are repeated for it.
    #[must_use]
    pub fn coverage(mut self, kinds: Option<Vec<UncoveredReason>>) -> Self {
        self.coverage = kinds;
        self
    }

    /// Sets the time limit of each test. `None` sets none.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    fn searches(&self, test: &PolicyTest) -> bool {
        test.has_cases || self.failures || self.detail.is_some() || self.coverage.is_some()
    }
}

/// The outcome of a test: whether its rule is true.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The rule is `true`, or no case failed.
    Pass,
    /// The rule is undefined or a value other than `true`, or a case failed.
    Fail,
    /// The test was not run.
    Skip,
    /// The evaluation failed, or the test is not a document.
    Error(Error),
}

/// The result of a test, with its cases and duration.
#[non_exhaustive]
pub struct TestResult {
    /// The outcome of the rule itself.
    pub verdict: Verdict,
    /// The cases of a rule with keys.
    pub cases: Cases,
    /// The lines that `print` wrote.
    pub output: String,
    /// Duration of compiling the query and evaluating it.
    pub duration: Duration,
    /// The steps of the evaluation, if they were recorded.
    pub explanation: Option<Explanation<()>>,
    /// The last expression that failed, if it was searched for.
    pub failure: Option<FailedExpression>,
    /// The coverage of the test, and its coverage without each optimisation, if they were recorded.
    pub coverage: Option<(Coverage, Vec<(UncoveredReason, Coverage)>)>,
}

impl TestResult {
    fn new(verdict: Verdict) -> Self {
        Self {
            verdict,
            cases: Cases::new(),
            output: String::new(),
            duration: Duration::ZERO,
            explanation: None,
            failure: None,
            coverage: None,
        }
    }
}

impl PolicyTest {
    /// Compiles the query that evaluates the test.
    ///
    /// # Errors
    /// [`Error::Compile`] if the rule is a function.
    pub fn prepare(&self) -> Result<PinnedQuery, Error> {
        let query = self.engine.prepare_query(&self.query)?;
        query.pin_to(&self.snapshot)
    }

    /// Runs the test. A test that needs no steps uses the fast evaluator, all others use the tracing evaluator.
    pub fn run(&self, options: &TestOptions) -> TestResult {
        if self.is_skipped {
            return TestResult::new(Verdict::Skip);
        }
        let start = Instant::now();
        let mut result = match self.prepare() {
            Ok(query) => self.evaluate(&query, options, start),
            Err(error) => TestResult::new(Verdict::Error(error)),
        };
        result.duration = start.elapsed();
        result
    }

    fn evaluate(&self, query: &PinnedQuery, options: &TestOptions, start: Instant) -> TestResult {
        let output = RefCell::new(String::new());
        let print = |line: &str| {
            let mut output = output.borrow_mut();
            output.push_str(line);
            output.push('\n');
        };
        let until = options.timeout.and_then(|time| start.checked_add(time));
        let limits = self.engine.limits().clone().until(until);
        // repeated evaluations see the same clock and random numbers
        let recorded_results = NdBuiltinCache::default();
        let mut request = Request::new().limits(&limits);
        if options.coverage.is_some() {
            request = request.nd_builtin_cache(&recorded_results);
        }
        let printing = request.print(&print);
        let mut observer = CaseObserver::new(options.failures);
        let mut coverage = Coverage::default();
        let mut explanation = None;
        let result = if options.searches(self) {
            let mut observers = Observers::default();
            observers.0.push(&mut observer);
            if options.coverage.is_some() {
                observers.0.push(&mut coverage);
            }
            let search = SearchOptions::default().observer(&mut observers as &mut dyn Observer);
            match options.detail {
                Some(detail) => {
                    let watched = ExplainOptions::new(detail).documents(options.documents);
                    let explained = query.explain(&printing, watched.search(search));
                    let (result_of_query, trace) = explained.split();
                    explanation = Some(trace);
                    result_of_query
                }
                None => query.search(&printing, search.cross_check(true)),
            }
        } else {
            query.solutions(&printing)
        };
        let other_coverage = match (&options.coverage, &result) {
            (Some(kinds), Ok(_)) => kinds
                .iter()
                .map(|kind| (*kind, without(*kind, query, &request)))
                .collect(),
            _ => Vec::new(),
        };
        let coverage_report = options
            .coverage
            .is_some()
            .then_some((coverage, other_coverage));
        let mut result = self.result(query, result, observer);
        result.output = output.into_inner();
        result.explanation = explanation;
        result.coverage = coverage_report;
        result
    }

    fn result(
        &self,
        query: &PinnedQuery,
        answer: Result<Vec<Solution>, Error>,
        observer: CaseObserver,
    ) -> TestResult {
        let value = match answer {
            Ok(solutions) => {
                let first = solutions.into_iter().next();
                first.and_then(|first| first.values.into_iter().next())
            }
            Err(error) => return TestResult::new(Verdict::Error(error)),
        };
        let explain = |event: &Event| explained(query, event);
        let failure = observer.last.as_ref().and_then(explain);
        let (failed, cases) = match value {
            Some(value) if self.has_cases => observer.cases(&value, explain),
            Some(Value(Repr::Bool(true))) => (false, Cases::new()),
            _ => (true, Cases::new()),
        };
        let mut result = TestResult::new(if failed { Verdict::Fail } else { Verdict::Pass });
        result.failure = failure.filter(|_| failed);
        result.cases = cases;
        result
    }
}

fn explained(query: &PinnedQuery, event: &Event) -> Option<FailedExpression> {
    let policy = &query.snapshot().state().policy;
    let canonical = &policy.program.canonical;
    let is_of = |source| source == event.span.source;
    let mut parsed = policy.modules.values();
    let parsed = parsed.find(|module| is_of(module.source.id))?;
    let mut compiled = canonical.modules.iter();
    let compiled = compiled.find(|module| is_of(module.source.id))?;
    let sources = FailureSources {
        parsed,
        canonical: compiled,
        originals: Names {
            modules: Some(canonical.originals.all()),
            query: None,
        },
    };
    FailedExpression::of_event(event, sources)
}

/// Returns the coverage without one of the optimisations. Its result and its prints are ignored.
fn without(kind: UncoveredReason, query: &PinnedQuery, request: &Request<'_>) -> Coverage {
    let mut coverage = Coverage::default();
    let mut shortcuts = Shortcuts::default();
    match kind {
        UncoveredReason::IndexExcluded => shortcuts.indexing = false,
        UncoveredReason::EarlyExit => shortcuts.early_exit = false,
    }
    let search = SearchOptions::default()
        .observer(&mut coverage)
        .shortcuts(shortcuts);
    drop(query.search(request, search));
    coverage
}

#[cfg(test)]
mod tests {
    use super::{TestOptions, Verdict};
    use crate::compile::Options;
    use crate::engine::Engine;

    #[test]
    fn rules_of_the_same_name_are_separate_tests() {
        let options = Options::default().tests(true);
        let engine = Engine::builder().compiler(options).build();
        let text = "package p_test\ntest_a if true\ntest_a if false\na.test_b if true\na.test_b if false\ntodo_test_c if false\ntest_d(x) := x";
        engine.set_module("p_test.rego", text).unwrap();
        let tests = engine.tests();
        let of = |test: &super::PolicyTest| match test.run(&TestOptions::default()).verdict {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Skip => "skip",
            Verdict::Error(_) => "error",
        };
        let got: Vec<(&str, &str)> = tests.iter().map(|test| (&*test.name, of(test))).collect();
        let want = [
            ("test_a", "pass"),
            ("test_a#01", "fail"),
            ("a.test_b", "pass"),
            ("a[\"test_b#01\"]", "fail"),
            ("todo_test_c", "skip"),
            ("test_d", "error"),
        ];
        assert_eq!(got, want);
    }
}
