//! `solon exec`: evaluates a decision for each input file.

mod inputs;
mod log;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::value::RawValue;
use solon::bundle::Verification;
use solon::{Change, Engine, Limits, Path, Request, Value, json};
use solon_host::RestrictedHost;
use solon_syntax::json::lay_out;

use self::log::{Format as LogFormat, Log};
use super::FAILED;
use super::amounts::signed_duration;
use super::forms::given;
use super::networks::NetworkArgs;
use super::report::Report;
use super::run::{random_id, with_config};
use super::terminal::print;
use crate::json::escape_html;

/// Evaluate a decision for each of some input files.
#[derive(clap::Args)]
#[command(after_help = "\
Files that end in `.json`, `.yaml` and `.yml` are inputs; folders are read at any depth.

Example:
  solon exec -b policies --decision authz/allow inputs")]
pub struct Args {
    /// Input files, and folders with input files.
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Bundle: policies and documents of a folder with a manifest.
    #[arg(short, long, value_name = "PATH")]
    bundle: Vec<String>,
    /// File of the configuration, in which `default_decision` counts.
    #[arg(short, long, value_name = "FILE")]
    config_file: Option<String>,
    /// A value of the configuration, like `default_decision=/authz/allow`.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// A value of the configuration that is the content of a file.
    #[arg(long, value_name = "KEY=FILE")]
    set_file: Vec<String>,
    /// The decision, like `authz/allow` [default: that of the configuration, else `system/main`].
    #[arg(long, value_name = "PATH")]
    decision: Option<String>,
    /// Read an input from standard input.
    #[arg(short = 'I', long)]
    stdin_input: bool,
    /// Exit with 1 when a decision is undefined, or on errors.
    #[arg(long)]
    fail: bool,
    /// Exit with 1 when a decision is defined, or on errors.
    #[arg(long)]
    fail_defined: bool,
    /// Exit with 1 when a decision is neither undefined nor an empty array, or on errors.
    #[arg(long)]
    fail_non_empty: bool,
    /// How decisions are shown: only `json` is there.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Longest time of all decisions together, like `500ms` or `1m30s`; 0 sets no bound.
    #[arg(long, value_name = "DURATION", value_parser = signed_duration)]
    timeout: Option<Duration>,
    /// Least severe messages that are logged.
    #[arg(short, long, value_enum, default_value_t, value_name = "LEVEL")]
    log_level: LogLevel,
    /// How messages are logged.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,
    /// Accepted and without effect: the time of a message is that of RFC 3339.
    #[arg(long, hide = true, value_name = "LAYOUT")]
    log_timestamp_format: Option<String>,
    #[command(flatten)]
    networks: NetworkArgs,
    /// Read policies as Rego v0.
    #[arg(long)]
    v0_compatible: bool,
    /// Accepted and without effect: v1 is the default.
    #[arg(long, hide = true)]
    v1_compatible: bool,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    #[default]
    Json,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum LogLevel {
    Debug,
    Info,
    #[default]
    Error,
}

#[derive(Serialize)]
struct ExecDecision {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_id: Option<String>,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<DecisionError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
}

/// Error of a decision. It is an empty object if the input cannot be parsed.
#[derive(Serialize)]
struct DecisionError {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<crate::wire::ErrorLocation>,
}

/// Prints a decision for each input.
pub fn run(args: &Args) -> ExitCode {
    let log = Log::new(args.log_format);
    if args.paths.is_empty() && !args.stdin_input {
        // logged before the log flags take effect
        Log::new(LogFormat::Text)
            .unexpected("requires at least 1 path arg, or the --stdin-input flag");
        return ExitCode::from(FAILED);
    }
    match execute(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log.unexpected(&error);
            ExitCode::from(FAILED)
        }
    }
}

fn execute(args: &Args) -> Result<(), String> {
    let deadline = args.timeout.filter(|time| !time.is_zero());
    let deadline = deadline.and_then(|time| Instant::now().checked_add(time));
    let config = with_config(
        given(args.config_file.as_deref()),
        args.set.clone(),
        args.set_file.clone(),
    );
    let config = config.map_err(|error| format!("config error: {error}"))?;
    let (engine, host) = engine(args)?;
    check_flags(args)?;
    let decision = match given(args.decision.as_deref()) {
        Some(decision) => decision.to_owned(),
        None => config.settings.default_decision.clone(),
    };
    let limits = Limits::default().until(deadline);
    let mut decisions = Decisions {
        args,
        engine: &engine,
        host: &host,
        decision: &decision,
        limits,
        decided: Vec::new(),
        failures: 0,
        errors: 0,
    };
    if args.stdin_input {
        let input = inputs::standard().map_err(|error| format!("exec error: {error}"))?;
        decisions.decide("--stdin-input", &input);
    }
    for path in &args.paths {
        inputs::each(path, &mut |path, input| match input {
            Ok(input) => decisions.decide(path, &input),
            Err(_) => decisions.cannot_read(path),
        })
        .map_err(|error| format!("exec error: {error}"))?;
    }
    decisions.finish()
}

/// Creates an engine with the bundles.
fn engine(args: &Args) -> Result<(Engine, Arc<RestrictedHost>), String> {
    let version = super::version_of(args.v0_compatible);
    let host = Arc::new(args.networks.host());
    let engine = Engine::builder()
        .version(version)
        .host(host.clone())
        .build();
    let failed = |report: &Report| {
        let text = report.text(false);
        format!("runtime error: {}", text.trim_end())
    };
    let loader = super::loader(&[], None, version).map_err(|report| failed(&report))?;
    // without a key, signed bundles are rejected, as in OPA
    let loader = loader.verification(Verification::default());
    let loaded = loader.load_bundles(&args.bundle);
    let loaded = loaded.map_err(|error| format!("runtime error: {error}"))?;
    let mut change = Change::default();
    change.load(&loaded);
    let text_of = |file: &str| loaded.modules.get(file).cloned();
    let applied = engine.apply(change);
    applied.map_err(|error| failed(&Report::of_error(&error, &text_of)))?;
    Ok((engine, host))
}

fn check_flags(args: &Args) -> Result<(), String> {
    let pairs = [
        (args.fail && args.fail_defined, "--fail or --fail-defined"),
        (
            args.fail_non_empty && args.fail,
            "--fail-non-empty or --fail",
        ),
        (
            args.fail_non_empty && args.fail_defined,
            "--fail-non-empty or --fail-defined",
        ),
    ];
    match pairs.iter().find(|(are_both_set, _)| *are_both_set) {
        Some((_, flags)) => Err(format!("exec error: specify {flags} but not both")),
        None => Ok(()),
    }
}

/// Decisions so far, and the number that the flags count as failures.
struct Decisions<'a> {
    args: &'a Args,
    engine: &'a Engine,
    host: &'a RestrictedHost,
    decision: &'a str,
    limits: Limits,
    decided: Vec<ExecDecision>,
    failures: usize,
    errors: usize,
}

impl Decisions<'_> {
    fn decide(&mut self, path: &str, input: &Value) {
        let request = Request::new().input(input).limits(&self.limits);
        let prepared = self.engine.document(&Path::from_slashes(self.decision));
        let result = prepared.evaluate(&request);
        let (decision_id, error, result) = match result {
            Ok(Some(value)) => {
                self.count_defined(&value);
                let mut text = Vec::new();
                json::write(value.borrow(), &mut text);
                let text = String::from_utf8_lossy(&text).into_owned();
                (
                    Some(random_id(self.host)),
                    None,
                    RawValue::from_string(text).ok(),
                )
            }
            Ok(None) => (None, Some(self.undefined()), None),
            Err(error) => {
                if self.args.fail_defined || self.args.fail_non_empty {
                    self.errors += 1;
                }
                let entry = error.entries().into_iter().next();
                let error = DecisionError {
                    code: entry.as_ref().map(|entry| entry.code.clone()),
                    message: entry.as_ref().map(|entry| entry.message.clone()),
                    location: entry.and_then(|entry| entry.location.map(Into::into)),
                };
                (None, Some(error), None)
            }
        };
        self.decided.push(ExecDecision {
            decision_id,
            path: path.to_owned(),
            error,
            result,
        });
    }

    fn undefined(&mut self) -> DecisionError {
        if self.args.fail {
            self.errors += 1;
        }
        DecisionError {
            code: Some("opa_undefined_error".to_owned()),
            message: Some(format!("{} decision was undefined", self.decision)),
            location: None,
        }
    }

    fn count_defined(&mut self, value: &Value) {
        let is_null = value.is_null();
        if (self.args.fail_defined && !is_null) || (self.args.fail && is_null) {
            self.failures += 1;
        }
        // a set is an array in the output
        let is_empty = value.as_array().is_some_and(|items| items.is_empty())
            || value
                .as_set()
                .is_some_and(|members| members.items().is_empty());
        if self.args.fail_non_empty && !is_null && !is_empty {
            self.failures += 1;
        }
    }

    fn cannot_read(&mut self, path: &str) {
        if self.args.fail || self.args.fail_defined || self.args.fail_non_empty {
            self.errors += 1;
        }
        self.decided.push(ExecDecision {
            decision_id: None,
            path: path.to_owned(),
            error: Some(DecisionError {
                code: None,
                message: None,
                location: None,
            }),
            result: None,
        });
    }

    /// Prints all decisions. Returns an error if the flags count some of them as failures.
    fn finish(self) -> Result<(), String> {
        let compact = serde_json::to_vec(&self.decided).unwrap_or_default();
        let compact = [b"{\"result\":", compact.as_slice(), b"}"].concat();
        let mut out = Vec::new();
        let compact = escape_html(compact);
        lay_out(&compact, 0, &mut out, usize::MAX, |byte, out| {
            out.push(byte);
        });
        out.push(b'\n');
        print(out);
        if self.failures == 0 && self.errors == 0 {
            return Ok(());
        }
        let flag = match (self.args.fail, self.args.fail_defined) {
            (true, _) => "--fail",
            (false, true) => "--fail-defined",
            (false, false) => "--fail-non-empty",
        };
        Err(format!(
            "exec error: there were {} failures and {} errors counted in the results list, and {flag} is set",
            self.failures, self.errors
        ))
    }
}
