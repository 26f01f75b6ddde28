//! `solon eval`

mod answer;
mod args;
mod partial;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use solon::compile::Options;
use solon::store::Path;
use solon::value::{Value, json, yaml};
use solon::{Change, Engine, Limits, QueryContext};
use solon_host::SystemHost;

use self::answer::{Answer, Metrics};
use self::args::Format;
use self::partial::Left;
use super::report::Report;
use super::terminal::{complain, print};
use super::{FAILED, capabilities};
use crate::files::{Ignore, LoadError, Loader, Wanted};

pub use self::args::Args;

/// Exit code when the query was not answered.
const ERROR: u8 = 2;

/// Prints what the query evaluates to.
pub fn run(args: &Args) -> ExitCode {
    if let Some(refusal) = unfit(args) {
        return unreadable(refusal);
    }
    let query = match args.query() {
        Ok(query) => query,
        Err(error) => return unreadable(&error),
    };
    let input = match input(args) {
        Ok(input) => input,
        Err(error) => return unreadable(&error),
    };
    match evaluate(args, &query, input.as_ref()) {
        Ok(answer) => {
            print(answer.shown(args.format));
            let fails = if answer.is_defined() {
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
                Format::Json => print(report.json()),
                Format::Discard => print(report.sorted_json()),
                _ => complain(report.text(false)),
            }
            ExitCode::from(ERROR)
        }
    }
}

/// Why the answer cannot be shown as asked.
fn unfit(args: &Args) -> Option<&'static str> {
    match (args.partial, args.format) {
        (true, Format::Json | Format::Pretty | Format::Source) => None,
        (true, _) => Some("invalid output format for partial evaluation"),
        (false, Format::Source) => Some("invalid output format for evaluation"),
        (false, _) => None,
    }
}

/// What a query is answered with.
enum Answered {
    Whole(Answer),
    Left(Left),
}

impl Answered {
    fn is_defined(&self) -> bool {
        match self {
            Self::Whole(answer) => answer.is_defined(),
            Self::Left(left) => left.is_defined(),
        }
    }

    fn shown(&self, format: Format) -> Vec<u8> {
        match self {
            Self::Whole(answer) => answer.shown(format),
            Self::Left(left) => left.shown(format),
        }
    }
}

fn unreadable(error: &str) -> ExitCode {
    complain(format!("{error}\n"));
    ExitCode::from(ERROR)
}

/// The input; `None` when there is none.
fn input(args: &Args) -> Result<Option<Value>, String> {
    let bytes = if args.stdin_input {
        let mut bytes = Vec::new();
        std::io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        bytes
    } else if let Some(path) = &args.input {
        std::fs::read(path).map_err(|error| LoadError::system("open", path, &error).to_string())?
    } else {
        return Ok(None);
    };
    if bytes.trim_ascii().is_empty() {
        return Ok(Some(Value::Null));
    }
    if let Ok(value) = json::read(&bytes) {
        return Ok(Some(value));
    }
    yaml::read(&bytes)
        .map(Some)
        .map_err(|error| format!("unable to parse input: {error}"))
}

fn evaluate(args: &Args, query: &str, input: Option<&Value>) -> Result<Answered, Report> {
    let mut metrics = Metrics::default();
    let version = super::version_of(args.v0_compatible);
    let mut modules = BTreeMap::new();
    let options = Options {
        strict: args.strict,
        capabilities: args.capabilities.clone(),
        schemas: crate::cli::schemas(args.schema.as_deref())?,
        ..Options::default()
    };
    let limits = Limits {
        time: args.timeout,
        ..Limits::default()
    };
    let host = Arc::new(SystemHost);
    let engine = Engine::builder()
        .version(version)
        .compiler(options)
        .limits(limits)
        .host(host)
        .allow_base_conflicts(true)
        .build();
    if !args.data.is_empty() {
        let start = Instant::now();
        let loader = Loader {
            wanted: Wanted::All,
            ignore: Ignore::new(&args.ignore),
            options: capabilities::parse_options(args.capabilities.as_deref(), version)?,
        };
        let loaded = loader.load(&args.data).map_err(Report::of_files)?;
        metrics.timer("rego_load_files", start);
        let mut change = Change::default();
        for (name, text) in &loaded.modules {
            change.set_module(name, text);
        }
        change.put(Path::default(), loaded.documents);
        modules = loaded.modules;
        let start = Instant::now();
        engine
            .apply(change)
            .map_err(|error| Report::of(&error, &|file| modules.get(file).cloned()))?;
        metrics.timer("rego_module_compile", start);
    }
    let text_of = |file: &str| {
        if file.is_empty() {
            Some(query.to_owned())
        } else {
            modules.get(file).cloned()
        }
    };
    let refused = |error| Report::of(&error, &text_of);
    let context = QueryContext {
        package: args.package.as_deref(),
        imports: &args.imports,
        ..QueryContext::default()
    };
    // lines of `print` come while the evaluation runs, whatever the format
    let printed = |line: &str| complain(format!("{line}\n"));
    let mut asked = solon::Request::new()
        .strict_builtin_errors(args.strict_builtin_errors)
        .print(&printed);
    if let Some(input) = input {
        asked = asked.input(input);
    }
    if args.partial {
        let prepared = engine.prepare_partial(query, &args.partial_options(), &context);
        let left = prepared.and_then(|prepared| prepared.evaluate(&asked));
        return left.map(|left| Answered::Left(Left(left))).map_err(refused);
    }
    let start = Instant::now();
    let prepared = engine.prepare_query_in(query, &context).map_err(refused)?;
    metrics.timer("rego_query_compile", start);
    let start = Instant::now();
    let (solutions, explanation) = match args.explain.detail() {
        None => (prepared.solutions(&asked).map_err(refused)?, None),
        Some(detail) => {
            let explained = prepared.explain(&asked);
            let lines = explained.lines(detail, true, args.var_values);
            let explanation = answer::Explanation {
                lines,
                events: explained.json(detail),
            };
            (explained.answer.map_err(refused)?, Some(explanation))
        }
    };
    metrics.timer("rego_query_eval", start);
    Ok(Answered::Whole(Answer {
        explanation,
        expressions: prepared.expressions().to_vec(),
        solutions,
        metrics: args.metrics.then_some(metrics),
    }))
}
