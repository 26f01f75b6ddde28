//! Flags of `solon test`.

use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use solon::Capabilities;
use solon::testing::TestOptions;
use solon::trace::{Detail, UncoveredReason};

use crate::cli::amounts::{integer, signed_duration};
use crate::cli::capabilities;
use crate::cli::forms::given;
use crate::cli::networks::NetworkArgs;
use crate::cli::target::TargetArgs;

/// Default time limit of a test.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Run the tests of policies: rules whose names begin with `test_`.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 when all tests pass, 1 when the tests cannot be run, 2 when a test fails or is skipped, or when too little is
covered.

Examples:
  solon test policies
  solon test -v -r allow policies
  solon test --coverage --threshold 80 policies
  solon test -f junit policies > report.xml")]
pub struct Args {
    /// Files and folders with policies, tests and documents.
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    /// The paths are bundles: policies and documents of a folder with a manifest.
    #[arg(short, long)]
    pub bundle: bool,
    /// Show passing tests, too, and the steps of failed tests.
    #[arg(short, long)]
    verbose: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
    /// Run only tests whose name, like `data.authz_test.test_allow`, matches this regular expression.
    #[arg(short, long, value_name = "REGEX")]
    run: Option<String>,
    /// Maximum number of concurrent tests; 0 is the number of processors [default: 0].
    #[arg(short, long, value_name = "N", value_parser = integer)]
    parallel: Option<i64>,
    /// Number of runs of all tests.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = integer)]
    pub count: i64,
    /// Time limit of each test, such as `500ms` or `1m30s` [default: 5s, for benchmarks 30s].
    #[arg(long, value_name = "DURATION", value_parser = signed_duration)]
    timeout: Option<Duration>,
    /// Run tests in random order. The order of the report stays the same.
    #[arg(long)]
    pub shuffle: bool,
    /// Show the coverage of the tests instead of their results.
    #[arg(short, long)]
    coverage: bool,
    /// Output format of coverage.
    #[arg(long, value_enum, value_name = "FORMAT")]
    coverage_format: Option<CoverageFormat>,
    /// Exit with 2 when less than this percentage of lines is covered; implies `--coverage`.
    #[arg(long, value_name = "PERCENT")]
    threshold: Option<f64>,
    /// Optimization that `--coverage` disables in a second run, to explain why an expression was not covered; implies `--coverage`.
    #[arg(
        long,
        value_delimiter = ',',
        hide_default_value = true,
        value_parser = coverage_kind,
        value_name = "KINDS"
    )]
    coverage_runs: Option<Vec<Option<UncoveredReason>>>,
    /// Measure the duration of tests.
    #[arg(long)]
    pub bench: bool,
    /// Accepted and without effect: allocations are not counted.
    #[arg(long, hide = true, default_value_t = true)]
    benchmem: bool,
    /// Steps shown for failed tests; implies `--verbose`.
    #[arg(long, value_enum, value_name = "DETAIL")]
    pub explain: Option<TestExplainLevel>,
    /// Show the expression that failed and the values of its variables.
    #[arg(long)]
    pub var_values: bool,
    /// When to show the failed expression, its values and the difference of the sides of an equality. `auto` shows them in a
    /// terminal.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub failure_report: When,
    /// Exit with 0 when tests are skipped.
    #[arg(short = 'z', long)]
    pub exit_zero_on_skipped: bool,
    /// Exit with 1 when no test is found.
    #[arg(long)]
    pub fail_on_empty: bool,
    /// Order of results in JSON.
    #[arg(long, value_enum, default_value_t, value_name = "ORDER")]
    pub sort: Sort,
    /// Run the tests again when files change.
    #[arg(short, long)]
    pub watch: bool,
    /// Maximum number of compile errors shown; 0 shows all.
    #[arg(short, long, default_value_t = 10, value_parser = integer, value_name = "N")]
    pub max_errors: i64,
    /// JSON schema of the input, or a folder of schemas that annotations name as `schema.a.b`.
    #[arg(short, long, value_name = "PATH")]
    pub schema: Option<String>,
    /// Capabilities of policies: a file in the format of `solon capabilities --current`, or a version of OPA.
    #[arg(long, value_name = "FILE|VERSION", value_parser = capabilities::read)]
    pub capabilities: Option<Arc<Capabilities>>,
    /// Names of files and folders to ignore.
    #[arg(long, value_name = "PATTERN")]
    pub ignore: Vec<String>,
    #[command(flatten)]
    pub networks: NetworkArgs,
    /// Read policies as Rego v0.
    #[arg(long)]
    pub v0_compatible: bool,
    /// Accepted and without effect: v1 is the default.
    #[arg(long, hide = true)]
    v1_compatible: bool,
    #[command(flatten)]
    target: TargetArgs,
}

/// Output format of results.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Human-readable.
    #[default]
    Pretty,
    /// An array of results.
    Json,
    /// The format of Go's benchmarks, with `--bench`.
    Gobench,
    /// JUnit XML for continuous integration.
    Junit,
    /// Annotations of GitHub Actions.
    Github,
}

/// Output format of coverage.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum CoverageFormat {
    /// Ranges of rows and columns.
    #[default]
    Json,
    /// The tracefile of `lcov`.
    Lcov,
    /// A page with the sources.
    Html,
}

/// Steps shown for a test.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TestExplainLevel {
    /// Steps that failed, and those on the way to them.
    Fails,
    /// Everything but unification.
    Full,
    /// Messages of `trace`, with their locations.
    Notes,
    /// Everything.
    Debug,
}

/// Condition for showing something.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// In a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The order of results in JSON.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// The order of files and of source.
    #[default]
    None,
    /// The slowest first.
    Duration,
}

impl Args {
    /// Returns `true` if passing tests are listed as well.
    pub fn is_verbose(&self) -> bool {
        self.verbose || self.explain.is_some()
    }

    /// Returns the regular expression that selects tests by name, if there is one.
    pub fn pattern(&self) -> Option<&str> {
        given(self.run.as_deref())
    }

    /// Returns the required percentage of covered lines.
    pub fn threshold(&self) -> f64 {
        self.threshold.unwrap_or(0.0)
    }

    /// Returns the format of the coverage report, if it replaces the results.
    pub fn coverage(&self) -> Option<CoverageFormat> {
        let is_implied = self.threshold() > 0.0
            || self.coverage_runs.is_some()
            || self.coverage_format.is_some();
        (self.coverage || is_implied).then(|| self.coverage_format.unwrap_or_default())
    }

    /// Returns the maximum number of threads.
    pub fn threads(&self) -> usize {
        match usize::try_from(self.parallel.unwrap_or(0)) {
            Ok(threads) if threads > 0 => threads,
            _ => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        }
    }

    /// Returns the kinds of steps that are recorded. As in OPA, these are notes for failed tests unless a flag selects others.
    fn detail(&self) -> Option<Detail> {
        if !self.is_verbose() && !self.var_values {
            return None;
        }
        Some(match self.explain {
            None if self.is_verbose() => Detail::FailsAndNotes,
            None | Some(TestExplainLevel::Fails) => Detail::Fails,
            Some(TestExplainLevel::Full) => Detail::Full,
            Some(TestExplainLevel::Notes) => Detail::Notes,
            Some(TestExplainLevel::Debug) => Detail::Debug,
        })
    }

    /// Returns the options of a test run.
    pub fn options(&self) -> TestOptions {
        let kinds = self.coverage().map(|_| match &self.coverage_runs {
            Some(kinds) => kinds.iter().copied().flatten().collect(),
            None => vec![UncoveredReason::IndexExcluded, UncoveredReason::EarlyExit],
        });
        let timeout = self.timeout.filter(|time| !time.is_zero());
        TestOptions::default()
            .detail(self.detail())
            .documents(self.var_values)
            .failures(self.var_values)
            .coverage(kinds)
            .timeout(Some(timeout.unwrap_or(TIMEOUT)))
    }
}

/// Parses a kind of optimization. An empty text is `None`.
fn coverage_kind(text: &str) -> Result<Option<UncoveredReason>, String> {
    match UncoveredReason::from_name(text) {
        None if !text.is_empty() => Err("expected `index_excluded` or `early_exit`".to_owned()),
        kind => Ok(kind),
    }
}
