//! The flags of `solon eval`.

use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use solon::trace::{Detail, UncoveredReason};
use solon::{Capabilities, FilterOptions, FilterTarget, PartialOptions, Shortcuts};

use super::profile::SortKey;
use crate::cli::amounts::{integer, signed_duration, size};
use crate::cli::capabilities;
use crate::cli::explanation::TraceFormat;
use crate::cli::filter;
use crate::cli::forms::given;
use crate::cli::networks::NetworkArgs;
use crate::cli::target::TargetArgs;
use crate::cli::verifying::VerifyArgs;

/// Evaluate a query.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 when the query was answered, 1 as `--fail` and `--fail-defined` ask, 2 on errors.

Examples:
  solon eval '1 + 1'
  solon eval -d policy.rego -i input.json 'data.authz.allow'
  solon eval -d policies -d users:users.json --format pretty 'data.users[name].admin'")]
pub struct Args {
    /// The query.
    #[arg(value_name = "QUERY")]
    query: Option<String>,
    /// Read the query from standard input.
    #[arg(long)]
    stdin: bool,
    /// Policies and documents: a file or a folder, optionally below a path of `data` as `a.b:PATH`.
    #[arg(short, long, value_name = "PATH")]
    pub data: Vec<String>,
    /// Bundle: an archive, or a folder with a manifest. Signatures are verified if a key is given.
    #[arg(short, long, value_name = "PATH")]
    pub bundle: Vec<String>,
    #[command(flatten)]
    pub verify: VerifyArgs,
    /// The input, JSON or YAML.
    #[arg(short, long, value_name = "FILE")]
    input: Option<String>,
    /// Read the input from standard input.
    #[arg(short = 'I', long)]
    pub stdin_input: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
    /// Accepted and without effect, as OPA has it: tables are never cut.
    #[arg(long, hide = true, value_name = "N", value_parser = integer)]
    pretty_limit: Option<i64>,
    /// Package of the query: its rules can be named without their path.
    #[arg(long, value_name = "PACKAGE")]
    pub package: Option<String>,
    /// Import of the query, such as `data.users as us`.
    #[arg(long = "import", value_name = "IMPORT")]
    pub imports: Vec<String>,
    /// Run the checks of strict mode.
    #[arg(short = 'S', long)]
    pub strict: bool,
    /// Fail at the first error of a built-in function, instead of an undefined result.
    #[arg(long)]
    pub strict_builtin_errors: bool,
    /// Show all errors of built-in functions.
    #[arg(long)]
    pub show_builtin_errors: bool,
    /// Read policies as Rego v0.
    #[arg(long)]
    pub v0_compatible: bool,
    /// Accepted and without effect: v1 is the default.
    #[arg(long, hide = true)]
    v1_compatible: bool,
    /// Exit with 1 when the query is undefined.
    #[arg(long)]
    pub fail: bool,
    /// Exit with 1 when the query is defined.
    #[arg(long)]
    pub fail_defined: bool,
    /// JSON schema of the input, or a folder of schemas that annotations name as `schema.a.b`.
    #[arg(short, long, value_name = "PATH")]
    pub schema: Option<String>,
    /// Capabilities of policies: a file in the format of `solon capabilities --current`, or a version of OPA.
    #[arg(long, value_name = "FILE|VERSION", value_parser = capabilities::read)]
    pub capabilities: Option<Arc<Capabilities>>,
    #[command(flatten)]
    pub networks: NetworkArgs,
    /// Names of files and folders to ignore.
    #[arg(long, value_name = "PATTERN")]
    pub ignore: Vec<String>,
    /// Show the durations of parsing, compilation and evaluation.
    #[arg(long)]
    pub metrics: bool,
    /// Show durations and counts of operations, too; implies `--metrics`.
    #[arg(long)]
    pub instrument: bool,
    /// Number of evaluations; shows the distribution of measurements if greater than 1.
    #[arg(long, default_value_t = 1, value_parser = count, value_name = "N")]
    pub count: u32,
    /// Show durations and counts of each line's expressions; implies `--metrics`.
    #[arg(long)]
    profile: bool,
    /// Maximum number of lines that `--profile` shows; 0 shows all [default: 10].
    #[arg(long, value_name = "N", value_parser = integer)]
    profile_limit: Option<i64>,
    /// Sort key of `--profile`, largest first.
    #[arg(long, value_enum, value_name = "KEY")]
    pub profile_sort: Vec<SortKey>,
    /// Show which rules and expressions were covered.
    #[arg(long)]
    pub coverage: bool,
    /// Optimization that `--coverage` disables in a second run, to explain why an expression was not covered.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "index_excluded,early_exit",
        hide_default_value = true,
        value_parser = coverage_kind,
        value_name = "KINDS"
    )]
    coverage_runs: Vec<Option<UncoveredReason>>,
    /// Evaluate rules that the index excludes.
    #[arg(long)]
    pub disable_indexing: bool,
    /// Evaluate rules that cannot change the value.
    #[arg(long)]
    pub disable_early_exit: bool,
    /// Evaluate partially: show the conditions that remain for unknown documents.
    #[arg(short, long)]
    pub partial: bool,
    /// Unknown document, such as `input.user` or `data.users`; `input` by default.
    #[arg(short, long, value_name = "REF")]
    pub unknowns: Vec<String>,
    /// Translate a rule to a filter of rows, for `sql+postgresql` (or `postgresql`) and others. The query names the rule;
    /// `--unknowns` names the rows, unless METADATA does.
    #[arg(long, value_name = "TARGET", value_delimiter = ',', value_parser = filter::target)]
    pub filter: Vec<FilterTarget>,
    #[command(flatten)]
    pub filtering: filter::Filtering,
    /// Use placeholders in the SQL of `--filter`, and print the values separately.
    #[arg(long)]
    pub parameters: bool,
    /// Omit `WHERE` from the SQL of `--filter`.
    #[arg(long)]
    pub bare: bool,
    /// Document whose rules are not inlined.
    #[arg(long, value_name = "REF")]
    pub disable_inlining: Vec<String>,
    /// Inline no rule that depends on unknown documents.
    #[arg(long)]
    pub shallow_inlining: bool,
    /// Call nondeterministic built-ins with known arguments during partial evaluation.
    #[arg(long = "nondeterminstic-builtins", alias = "nondeterministic-builtins")]
    pub nondeterministic_builtins: bool,
    /// Explain the result: show the steps of the evaluation.
    #[arg(long, value_enum, default_value_t, value_name = "DETAIL")]
    pub explain: ExplainLevel,
    /// Show the values of variables with `--explain`.
    #[arg(long)]
    pub var_values: bool,
    /// Time limit of the evaluation, such as `500ms` or `1m30s`; 0 means no limit.
    #[arg(long, value_name = "DURATION", value_parser = signed_duration)]
    timeout: Option<Duration>,
    /// Memory limit of values, such as `512MiB` or `2GB` [default: 1GiB].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<usize>,
    #[command(flatten)]
    target: TargetArgs,
    /// Accepted and without effect: the plans of policies are always optimised.
    #[arg(short = 'O', long, hide = true, value_name = "LEVEL", value_parser = integer)]
    optimize: Option<i64>,
    /// Accepted and without effect: only `--optimize` uses it.
    #[arg(short, long, hide = true, value_name = "PATH")]
    entrypoint: Vec<String>,
    /// Accepted and without effect: documents are always optimized for reads.
    #[arg(long, hide = true)]
    optimize_store_for_read_speed: bool,
}

/// Steps that an explanation shows.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ExplainLevel {
    /// Nothing.
    #[default]
    Off,
    /// Everything but unification.
    Full,
    /// Messages of `trace`, with their locations.
    Notes,
    /// Expressions that failed, and the steps that led to them.
    Fails,
    /// Everything.
    Debug,
}

impl ExplainLevel {
    /// Returns the level of detail, or `None` if nothing is shown.
    pub fn detail(self) -> Option<Detail> {
        Some(match self {
            Self::Off => return None,
            Self::Full => Detail::Full,
            Self::Notes => Detail::Notes,
            Self::Fails => Detail::Fails,
            Self::Debug => Detail::Debug,
        })
    }
}

/// Output format of results.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One object with all expressions and bindings.
    #[default]
    Json,
    /// Human-readable: the value, or a table.
    Pretty,
    /// The values of expressions, one array per solution.
    Values,
    /// The bindings, one object per solution.
    Bindings,
    /// Strings without quotes, other values as JSON, one line per solution.
    Raw,
    /// Only whether there is a result.
    Discard,
    /// The result of `--partial` as Rego source.
    Source,
}

impl Args {
    /// Returns the form of the trace, which depends on the output format.
    pub fn trace_format(&self) -> TraceFormat {
        match self.format {
            Format::Pretty => TraceFormat::Lines,
            Format::Json | Format::Discard | Format::Source => TraceFormat::Events,
            Format::Values | Format::Bindings | Format::Raw => TraceFormat::Nothing,
        }
    }

    /// Returns the unknowns and the inlining options.
    pub fn partial_options(&self) -> PartialOptions {
        let mut options = PartialOptions::default()
            .disable_inlining(self.disable_inlining.clone())
            .shallow_inlining(self.shallow_inlining)
            .nondeterministic_builtins(self.nondeterministic_builtins);
        if !self.unknowns.is_empty() {
            options.unknowns.clone_from(&self.unknowns);
        }
        options
    }

    /// Returns the options of filters for the selected targets.
    pub fn filter_options(&self) -> FilterOptions {
        self.filtering
            .options(self.filter.clone())
            .unknowns(self.unknowns.clone())
            .disable_inlining(self.disable_inlining.clone())
            .parameters(self.parameters)
            .bare(self.bare)
    }

    /// Returns the maximum number of rows of a profile, or `None` if a profile is not selected.
    pub fn profile(&self) -> Option<usize> {
        let is_requested =
            self.profile || self.profile_limit.is_some() || !self.profile_sort.is_empty();
        // like 0, a negative limit shows all rows
        is_requested.then(|| usize::try_from(self.profile_limit.unwrap_or(10)).unwrap_or(0))
    }

    /// Returns the optimizations that the evaluation may use.
    pub fn shortcuts(&self) -> Shortcuts {
        Shortcuts::default()
            .indexing(!self.disable_indexing)
            .early_exit(!self.disable_early_exit)
    }

    /// Returns the kinds of optimizations that coverage is measured without, one run each.
    pub fn coverage_runs(&self) -> impl Iterator<Item = UncoveredReason> {
        self.coverage_runs.iter().copied().flatten()
    }

    /// Returns the error of conflicting flags, in OPA's words.
    ///
    /// clap cannot check this: it sees whether a flag is present, but `--stdin=false` means the same as no `--stdin`.
    pub fn conflict(&self) -> Option<&'static str> {
        match (&self.query, self.stdin) {
            (None, false) => return Some("specify query argument or --stdin"),
            (Some(_), true) => return Some("specify query argument or --stdin but not both"),
            _ => {}
        }
        if self.stdin && self.stdin_input {
            Some("specify --stdin or --stdin-input but not both")
        } else if self.stdin_input && self.input().is_some() {
            Some("specify --stdin-input or --input but not both")
        } else if self.fail && self.fail_defined {
            Some("specify --fail or --fail-defined but not both")
        } else {
            None
        }
    }

    /// Returns the file of the input, or `None` if there is none or it is empty.
    pub fn input(&self) -> Option<&str> {
        given(self.input.as_deref())
    }

    /// Returns the time limit of the evaluation, if there is one.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout.filter(|time| !time.is_zero())
    }

    /// Returns the query from an argument, a file or standard input. Fails if that cannot be read.
    pub fn query(&self) -> Result<String, String> {
        if let Some(query) = &self.query {
            return Ok(query.clone());
        }
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| format!("cannot read the query: {error}"))?;
        Ok(text)
    }
}

/// Parses the number of evaluations, which must be positive. The error is for the user.
fn count(text: &str) -> Result<u32, String> {
    let number = u32::try_from(integer(text)?).ok();
    let number = number.filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{text}` is not a positive number of 32 bits"))
}

/// Parses a kind of optimization. An empty text is `None`.
fn coverage_kind(text: &str) -> Result<Option<UncoveredReason>, String> {
    match UncoveredReason::from_name(text) {
        None if !text.is_empty() => Err("expected `index_excluded` or `early_exit`".to_owned()),
        kind => Ok(kind),
    }
}
