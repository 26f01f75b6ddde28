//! `solon eval`: evaluates a query and prints the result.

mod answer;
mod args;
mod extras;
mod filter;
mod metrics;
mod partial;
mod profile;
mod run;

use std::io::Read as _;
use std::process::ExitCode;

use solon::Value;

use self::answer::QueryOutput;
use self::args::Format;
use self::extras::{Extras, Times};
use self::filter::FilterOutput;
use self::partial::Left;
use self::run::RunResults;
use super::FAILED;
use super::report::Report;
use super::terminal::{complain, print};

pub use self::args::Args;

/// Exit code if the query failed.
const ERROR: u8 = 2;

/// Evaluates the query and prints the result.
pub fn run(args: &Args) -> ExitCode {
    if let Some(rejection) = args.conflict() {
        crate::cli::wrong_usage("eval", rejection);
    }
    if let Some(rejection) = unfit(args) {
        return unreadable(rejection);
    }
    let query = match args.query() {
        Ok(query) => query,
        Err(error) => return unreadable(&error),
    };
    let input = match input(args) {
        Ok(input) => input,
        Err(error) => return unreadable(&error),
    };
    let (result, extras) = evaluate(args, &query, input.as_ref());
    match result {
        Ok(output) => {
            print(extras.with_extras(&output.render(args.format), args.format));
            let fails = if output.is_defined() {
                args.fail_defined
            } else {
                args.fail
            };
            if fails {
                ExitCode::from(FAILED)
            } else {
                ExitCode::SUCCESS
            }
        }
        Err(report) => {
            match args.format {
                Format::Json => print(extras.with_extras(&report.json(), Format::Json)),
                Format::Discard => {
                    print(extras.with_extras(&report.sorted_json(), Format::Discard));
                }
                Format::Pretty => {
                    complain(report.text(false));
                    print(extras.with_extras(b"", Format::Pretty));
                }
                _ => complain(report.text(false)),
            }
            if report.is_of_answered() {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(ERROR)
            }
        }
    }
}

/// Returns why the result cannot be shown in the selected format.
fn unfit(args: &Args) -> Option<&'static str> {
    if args.show_builtin_errors && args.strict_builtin_errors {
        return Some(
            "cannot use --show-builtin-errors with --strict-builtin-errors, --strict-builtin-errors will return the \
             first built-in error encountered immediately",
        );
    }
    if !args.filter.is_empty() {
        return match args.format {
            _ if args.partial => Some("specify --filter or --partial"),
            Format::Json | Format::Raw | Format::Pretty | Format::Discard => None,
            _ => Some("invalid output format for filters"),
        };
    }
    match (args.partial, args.format) {
        (true, Format::Json | Format::Pretty | Format::Source) => None,
        (true, _) => Some("invalid output format for partial evaluation"),
        (false, Format::Source) => Some("invalid output format for evaluation"),
        (false, _) => None,
    }
}

enum Answered {
    Whole(QueryOutput),
    Left(Left),
    Filter(FilterOutput),
}

impl Answered {
    fn is_defined(&self) -> bool {
        match self {
            Self::Whole(output) => output.is_defined(),
            Self::Left(output) => output.is_defined(),
            Self::Filter(output) => output.is_defined(),
        }
    }

    fn render(&self, format: Format) -> Vec<u8> {
        match self {
            Self::Whole(output) => output.render(format),
            Self::Left(output) => output.render(format),
            Self::Filter(output) => output.render(format),
        }
    }
}

fn unreadable(error: &str) -> ExitCode {
    complain(format!("{error}\n"));
    ExitCode::from(ERROR)
}

/// Returns the input, or `None` if there is none.
fn input(args: &Args) -> Result<Option<Value>, String> {
    let bytes = if args.stdin_input {
        let mut bytes = Vec::new();
        std::io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        bytes
    } else if let Some(path) = args.input() {
        super::read(path).map_err(|error| error.to_string())?
    } else {
        return Ok(None);
    };
    let file = args.input().filter(|_| !args.stdin_input);
    super::input::read(&bytes, file)
        .map(Some)
        .map_err(|error| format!("unable to parse input: {error}"))
}

/// Evaluates the selected number of times. The metrics are of all runs, everything else is of the last run.
fn evaluate(args: &Args, query: &str, input: Option<&Value>) -> (Result<Answered, Report>, Extras) {
    let mut run = RunResults::once(args, query, input);
    let (mut metrics, mut profiles) = (Vec::new(), Vec::new());
    for _ in 1..args.count {
        if run.answer.is_err() {
            break;
        }
        let before = std::mem::replace(&mut run, RunResults::once(args, query, input));
        metrics.push(before.metrics);
        profiles.extend(before.profile);
    }
    let often = !metrics.is_empty();
    metrics.push(run.metrics);
    profiles.extend(run.profile);
    let mut rows = if often {
        profile::aggregated(profiles)
    } else {
        profiles.pop().unwrap_or_default()
    };
    let limit = args.profile();
    profile::sort(&mut rows, &args.profile_sort, limit.unwrap_or(0));
    let measured = args.metrics || args.instrument || limit.is_some();
    let times = if often {
        Some(Times::Often(metrics::aggregated(&metrics)))
    } else {
        metrics.pop().map(Times::Once)
    };
    let extras = Extras {
        explanation: run.explanation,
        metrics: times.filter(|_| measured),
        profile: limit.map(|_| (rows, often)),
        coverage: run.coverage,
    };
    (run.answer, extras)
}
