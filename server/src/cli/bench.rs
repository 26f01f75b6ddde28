//! `solon bench`: measures a query, in process or over HTTP.

mod end_to_end;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use solon::trace::Statistics;
use solon::{Change, CompilerOptions, Engine, Error, PartialOptions, QuerySource, Request, Value};

use self::end_to_end::BenchServer;
use super::FAILED;
use super::amounts::integer;
use super::benchmarks::BenchmarkResult;
use super::forms::given;
use super::networks::NetworkArgs;
use super::report::Report;
use super::table::TextTable;
use super::target::TargetArgs;
use super::terminal::{complain, print};

/// Name of the histogram of query evaluation times.
const EVAL: &str = "histogram_timer_rego_query_eval_ns";
/// Name of the histogram of partial evaluation times.
const PARTIAL: &str = "histogram_timer_rego_partial_eval_ns";

/// Measure how long the evaluation of a query takes.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  solon bench -b policies -i input.json data.authz.allow")]
pub struct Args {
    /// The query.
    #[arg(value_name = "QUERY")]
    query: Option<String>,
    /// Read the query from standard input.
    #[arg(long)]
    stdin: bool,
    /// Policies and documents: a file or a folder, optionally below a path of `data` as `a.b:PATH`.
    #[arg(short, long, value_name = "PATH")]
    data: Vec<String>,
    /// Bundle: policies and documents of a folder with a manifest.
    #[arg(short, long, value_name = "PATH")]
    bundle: Vec<String>,
    /// The input, JSON or YAML.
    #[arg(short, long, value_name = "FILE")]
    input: Option<String>,
    /// Read the input from standard input.
    #[arg(short = 'I', long)]
    stdin_input: bool,
    /// Package of the query: its rules can be named without their path.
    #[arg(long, value_name = "PACKAGE")]
    package: Option<String>,
    /// Import of the query, such as `data.users as us`.
    #[arg(long = "import", value_name = "IMPORT")]
    imports: Vec<String>,
    /// Evaluate partially.
    #[arg(short, long)]
    partial: bool,
    /// Unknown document, such as `input.user` or `data.users`; `input` by default.
    #[arg(short, long, value_name = "REF")]
    unknowns: Vec<String>,
    /// Number of repetitions of the benchmark.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = integer)]
    count: i64,
    /// Show the distribution of times.
    #[arg(long, default_value_t = true)]
    metrics: bool,
    /// Accepted and without effect: allocations are not counted.
    #[arg(long, hide = true, default_value_t = true)]
    benchmem: bool,
    /// Fail when the query is undefined.
    #[arg(long, default_value_t = true)]
    fail: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// JSON schema of the input, or a folder of schemas that annotations name as `schema.a.b`.
    #[arg(short, long, value_name = "PATH")]
    schema: Option<String>,
    /// Names of files and folders to ignore.
    #[arg(long, value_name = "PATTERN")]
    ignore: Vec<String>,
    /// Measure requests to a policy server, which runs in a process of its own.
    #[arg(long)]
    e2e: bool,
    /// Configuration of the server, as YAML or JSON; only with `--e2e`.
    #[arg(short, long, value_name = "FILE")]
    config_file: Option<String>,
    /// Maximum seconds that the server waits for open requests; only with `--e2e`.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = integer)]
    shutdown_grace_period: i64,
    /// Seconds that the server continues serving after a termination signal; only with `--e2e`.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = integer)]
    shutdown_wait_period: i64,
    #[command(flatten)]
    networks: NetworkArgs,
    /// Read policies as Rego v0.
    #[arg(long)]
    v0_compatible: bool,
    /// Accepted and without effect: v1 is the default.
    #[arg(long, hide = true)]
    v1_compatible: bool,
    #[command(flatten)]
    target: TargetArgs,
    /// Accepted and without effect: documents are always optimized for reads.
    #[arg(long, hide = true)]
    optimize_store_for_read_speed: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table.
    #[default]
    Pretty,
    /// One object a run.
    Json,
    /// The format of Go's benchmarks.
    Gobench,
}

/// Measures the query and prints the result.
pub fn run(args: &Args) -> ExitCode {
    let wrong = match (&args.query, args.stdin) {
        (None, false) => Some("specify query argument or --stdin"),
        (Some(_), true) => Some("specify query argument or --stdin but not both"),
        _ if args.stdin && args.stdin_input => {
            Some("specify --stdin or --stdin-input but not both")
        }
        _ if args.stdin_input && given(args.input.as_deref()).is_some() => {
            Some("specify --stdin-input or --input but not both")
        }
        _ => None,
    };
    if let Some(wrong) = wrong {
        super::wrong_usage("bench", wrong);
    }
    match measure(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            match args.format {
                Format::Json => print(report.json()),
                Format::Pretty | Format::Gobench => complain(report.text(false)),
            }
            ExitCode::from(FAILED)
        }
    }
}

fn measure(args: &Args) -> Result<(), Report> {
    let message = |error: String| Report::message(error);
    let query = match &args.query {
        Some(query) => query.clone(),
        None => standard_input().map_err(message)?,
    };
    let input = input(args)?;
    if args.e2e {
        return measure_server(args, &query, input.as_ref());
    }
    let engine = load(args)?;
    let text_of = |file: &str| {
        if file.is_empty() {
            return Some(query.clone());
        }
        engine
            .module(file)
            .map(|module| module.source.text.to_string())
    };
    let error_report = |error: Error| Report::of_error(&error, &text_of);
    let mut request = Request::new();
    if let Some(input) = &input {
        request = request.input(input);
    }
    let mut source = QuerySource::new(&query).imports(&args.imports);
    source.package = given(args.package.as_deref());
    let evaluate: Box<dyn Fn() -> Result<bool, Error> + '_> = if args.partial {
        let mut options = PartialOptions::default();
        if !args.unknowns.is_empty() {
            options.unknowns.clone_from(&args.unknowns);
        }
        let prepared = engine.prepare_partial(source, &options);
        let prepared = prepared.and_then(|partial| partial.pin());
        let prepared = prepared.map_err(error_report)?;
        Box::new(move || {
            let residuals = prepared.evaluate(&request)?;
            Ok(!residuals.query_texts().is_empty())
        })
    } else {
        let prepared = engine.prepare_query(source);
        let prepared = prepared
            .and_then(|query| query.pin())
            .map_err(error_report)?;
        Box::new(move || Ok(!prepared.solutions(&request)?.is_empty()))
    };
    for _ in 0..args.count {
        let mut times = Vec::new();
        let measured = BenchmarkResult::repeat(|| {
            let start = Instant::now();
            let is_defined = evaluate().map_err(error_report)?;
            if args.metrics {
                times.push(nanoseconds(start.elapsed()));
            }
            if args.fail && !is_defined {
                return Err(Report::message("undefined result"));
            }
            Ok(())
        });
        let mut measured = measured?;
        if args.metrics {
            // the first run, which fills caches, is not measured
            times.remove(0);
            let name = if args.partial { PARTIAL } else { EVAL };
            measured.extra = distribution(name, &times);
        }
        print(format_result(args.format, &measured));
    }
    Ok(())
}

/// Measures requests to a server and prints the results.
fn measure_server(args: &Args, query: &str, input: Option<&Value>) -> Result<(), Report> {
    let message = |error: String| Report::message(error);
    let mut server = BenchServer::start(args, query, input).map_err(message)?;
    for _ in 0..args.count {
        let mut measured = BenchmarkResult::repeat(|| {
            let is_defined = server.send().map_err(message)?;
            if args.fail && !is_defined {
                return Err(Report::message("undefined result"));
            }
            Ok(())
        })?;
        measured.extra = server.distributions();
        print(format_result(args.format, &measured));
    }
    Ok(())
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the numbers of a histogram, by name.
fn distribution(name: &str, times: &[u64]) -> BTreeMap<String, f64> {
    let statistics = Statistics::of_samples(times, times.len() as u64);
    let numbers = serde_json::to_value(statistics).unwrap_or_default();
    let numbers = numbers.as_object().into_iter().flatten();
    let numbers = numbers.filter_map(|(part, number)| Some((part, number.as_f64()?)));
    numbers
        .map(|(part, number)| (format!("{name}_{part}"), number))
        .collect()
}

fn format_result(format: Format, measured: &BenchmarkResult) -> Vec<u8> {
    match format {
        Format::Json => crate::json::answer_text(&measured.json(), true),
        Format::Gobench => format!("BenchmarkOPAEval\t{}\n", measured.line()).into_bytes(),
        Format::Pretty => {
            let mut table = TextTable::default();
            let mut row = |name: &str, number: String| {
                table.row(vec![name.to_owned(), number]);
            };
            row("samples", measured.runs.to_string());
            row("ns/op", rounded_text(measured.mean_ns()));
            for (name, number) in &measured.extra {
                row(name, round(*number));
            }
            table.numbers_right().render().into_bytes()
        }
    }
}

fn rounded_text(number: f64) -> String {
    format!("{number:.0}")
}

/// Returns a number with three significant digits, and without decimals from 100 on.
fn round(number: f64) -> String {
    match number.abs() {
        0.0 | 99.95.. => rounded_text(number),
        9.995.. => format!("{number:.1}"),
        0.9995.. => format!("{number:.2}"),
        0.09995.. => format!("{number:.3}"),
        _ => format!("{number:.4}"),
    }
}

fn standard_input() -> Result<String, String> {
    let mut text = String::new();
    let result = std::io::stdin().read_to_string(&mut text);
    result.map_err(|error| error.to_string())?;
    Ok(text)
}

fn input(args: &Args) -> Result<Option<Value>, Report> {
    let file = given(args.input.as_deref());
    let text = match file {
        _ if args.stdin_input => standard_input().map_err(Report::message)?.into_bytes(),
        Some(file) => super::read(file).map_err(|error| Report::message(error.to_string()))?,
        None => return Ok(None),
    };
    let value = super::input::read(&text, file.filter(|_| !args.stdin_input));
    let unreadable = |error| Report::message(format!("unable to parse input: {error}"));
    value.map(Some).map_err(unreadable)
}

fn load(args: &Args) -> Result<Engine, Report> {
    let version = super::version_of(args.v0_compatible);
    let options = CompilerOptions::default().schemas(super::schemas(args.schema.as_deref())?);
    let engine = Engine::builder()
        .version(version)
        .compiler(options)
        .host(Arc::new(args.networks.host()))
        .build();
    let loader = super::loader(&args.ignore, None, version)?;
    let files = loader.load(&args.data).map_err(Report::of_files)?;
    let failed = |error: &dyn std::fmt::Display| Report::message(format!("loading error: {error}"));
    let bundles = loader.load_bundles(&args.bundle);
    let bundles = bundles.map_err(|error| failed(&error))?;
    let loaded = bundles.with(files);
    let loaded =
        loaded.ok_or_else(|| failed(&"documents of bundles and files are at the same place"))?;
    let mut change = Change::default();
    change.load(&loaded);
    let text_of = |file: &str| loaded.modules.get(file).cloned();
    let applied = engine.apply(change);
    applied.map_err(|error| Report::of_error(&error, &text_of))?;
    Ok(engine)
}
