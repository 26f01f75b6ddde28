//! One evaluation, from loading files to the result.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

use solon::CompilerOptions as Options;
use solon::Value;
use solon::bundle::{LoadErrorKind, Loaded as Files, Loader, Verification};
use solon::trace::{
    Coverage, CoverageReport, Instruments, Observer, Observers, Profile, Timer, UncoveredReason,
};
use solon::{
    BuiltinErrors, Change, Engine, Error, ExplainOptions, Limits, PinnedQuery, QuerySource,
    Request, SearchOptions, SendMetrics, Shortcuts, Solution,
};

use super::Answered;
use super::answer::QueryOutput;
use super::args::{Args, Format};
use super::filter::FilterOutput;
use super::partial::Left;
use super::profile::Row;
use crate::cli;
use crate::cli::explanation::Explanation;
use crate::cli::filter;
use crate::cli::forms::given;
use crate::cli::report::Report;
use crate::cli::terminal::complain;
use crate::telemetry::Metrics;

pub struct RunResults {
    pub answer: Result<Answered, Report>,
    pub metrics: Metrics,
    pub explanation: Option<Explanation>,
    /// Durations of expressions, if they were measured.
    pub profile: Option<Vec<Row>>,
    pub coverage: Option<CoverageReport>,
}

/// Engine with everything loaded, and the source texts of the modules.
struct LoadedEngine {
    engine: Engine,
    modules: BTreeMap<String, String>,
}

impl RunResults {
    /// Loads, compiles and evaluates.
    pub fn once(args: &Args, query: &str, input: Option<&Value>) -> Self {
        let mut run = Self {
            answer: Err(Report::message("")),
            metrics: Metrics::default(),
            explanation: None,
            profile: None,
            coverage: None,
        };
        run.answer = run.answer(args, query, input);
        run
    }

    fn answer(
        &mut self,
        args: &Args,
        query: &str,
        input: Option<&Value>,
    ) -> Result<Answered, Report> {
        let LoadedEngine { engine, modules } = load(args, &self.metrics)?;
        if args.count == 1 {
            cli::keep_to_exit(&engine);
        }
        let text_of = |file: &str| {
            if file.is_empty() {
                Some(query.to_owned())
            } else {
                modules.get(file).cloned()
            }
        };
        let error_report = |error| Report::of_error(&error, &text_of);
        // `print` writes while the evaluation runs, in every output format
        let printed = |line: &str| complain(format!("{line}\n"));
        let send_metrics = SendMetrics::default();
        let mut request = Request::new()
            .strict_builtin_errors(args.strict_builtin_errors)
            .send_metrics(&send_metrics)
            .print(&printed);
        if let Some(input) = input {
            request = request.input(input);
        }
        let on_stage = |name: &str, took: Duration| {
            // stages of compilation are recorded only with `--instrument`
            if args.instrument || !name.starts_with("query_compile_stage") {
                self.metrics.add(name, took);
            }
        };
        let mut source = QuerySource::new(query)
            .imports(&args.imports)
            .timer(Timer::new(&on_stage));
        source.package = given(args.package.as_deref());
        let instruments = Instruments::default();
        let errors = BuiltinErrors::default();
        let (mut profile, mut coverage) = (Profile::default(), Coverage::default());
        let mut watching = Observers::default();
        if args.profile().is_some() {
            watching.0.push(&mut profile);
        }
        if args.coverage {
            watching.0.push(&mut coverage);
        }
        let observed = !watching.0.is_empty();
        let watched = observed
            || args.instrument
            || args.show_builtin_errors
            || args.shortcuts() != Shortcuts::default();
        let mut search = SearchOptions::default().shortcuts(args.shortcuts());
        search.observer = observed.then_some(&mut watching as &mut dyn Observer);
        search.instruments = args.instrument.then_some(&instruments);
        search.builtin_errors = args.show_builtin_errors.then_some(&errors);
        let watched_in = |detail, search| {
            let watched = ExplainOptions::new(detail).documents(args.var_values);
            watched.search(search)
        };
        let mut other_coverage = Vec::new();
        let output = if !args.filter.is_empty() {
            let prepared = engine.prepare_filters(filter::rule(query)?, &args.filter_options());
            let prepared = prepared.map_err(error_report)?;
            let start = Instant::now();
            let filters = prepared.compile(&request);
            self.metrics.since("rego_partial_eval", start);
            filters.map(|filters| Answered::Filter(FilterOutput(filters)))
        } else if args.partial {
            let prepared = engine.prepare_partial(source, &args.partial_options());
            let prepared = prepared.map_err(error_report)?;
            let start = Instant::now();
            let residuals = match args.explain.detail() {
                None => prepared.search(&request, search),
                Some(detail) => {
                    let explained = prepared.explain(&request, watched_in(detail, search));
                    self.explained(args, explained)
                }
            };
            self.metrics.since("rego_partial_eval", start);
            residuals.map(|residuals| Answered::Left(Left(residuals)))
        } else {
            let prepared = engine.prepare_query(source);
            let prepared = prepared
                .and_then(|query| query.pin())
                .map_err(error_report)?;
            let start = Instant::now();
            let solutions = match args.explain.detail() {
                None if watched => prepared.search(&request, search.cross_check(true)),
                None => prepared.solutions(&request),
                Some(detail) => {
                    let explained = prepared.explain(&request, watched_in(detail, search));
                    self.explained(args, explained)
                }
            };
            self.metrics.since("rego_query_eval", start);
            if args.coverage {
                let runs = args.coverage_runs();
                other_coverage = runs
                    .map(|kind| (kind, without(kind, args, &prepared, input)))
                    .collect();
            }
            solutions.map(|solutions| Answered::Whole(output_of(&prepared, solutions)))
        };
        let errors = errors.take().into_iter();
        let errors: Vec<Error> = errors.map(|error| Error::Eval(Box::new(error))).collect();
        let output_or_report = if errors.is_empty() {
            output.map_err(error_report)
        } else {
            let failed = output.as_ref().err();
            let is_discarded = args.format == Format::Discard;
            let defined = output
                .as_ref()
                .ok()
                .filter(|output_of_run| output_of_run.is_defined());
            let report = Report::of_builtins(failed, &errors, &text_of)
                .discarding(is_discarded && defined.is_some());
            Err(match defined {
                Some(output_of_run) if args.format == Format::Json => {
                    report.with_result(output_of_run.render(args.format))
                }
                _ => report,
            })
        };
        self.metrics.instruments(&instruments);
        self.metrics.add_http_sends(&send_metrics);
        let parsed = engine.modules();
        if args.profile().is_some() {
            let rows = profile.finish(parsed.iter().map(|(_, module)| &**module));
            let rows = rows.into_iter().map(|row| Row::from_row(row, query));
            self.profile = Some(rows.collect());
        }
        if args.coverage {
            let other_coverage_refs: Vec<(UncoveredReason, &Coverage)> = other_coverage
                .iter()
                .map(|(kind, other)| (*kind, other))
                .collect();
            let modules = parsed.iter().map(|(_, module)| &**module);
            self.coverage = Some(coverage.report(&other_coverage_refs, modules));
        }
        output_or_report
    }

    /// Stores the trace and returns the result.
    fn explained<T>(&mut self, args: &Args, explained: solon::Explanation<T>) -> Result<T, Error> {
        self.explanation = Some(Explanation::from_explanation(
            &explained,
            args.trace_format(),
            args.var_values,
        )?);
        explained.result
    }
}

fn output_of(prepared: &PinnedQuery, solutions: Vec<Solution>) -> QueryOutput {
    QueryOutput {
        expressions: prepared.expressions().to_vec(),
        solutions,
    }
}

/// Returns the coverage without one of the optimizations. Results and prints of this run are discarded.
fn without(
    kind: UncoveredReason,
    args: &Args,
    prepared: &PinnedQuery,
    input: Option<&Value>,
) -> Coverage {
    let mut coverage = Coverage::default();
    let mut request = Request::new().strict_builtin_errors(args.strict_builtin_errors);
    if let Some(input) = input {
        request = request.input(input);
    }
    let mut shortcuts = args.shortcuts();
    match kind {
        UncoveredReason::IndexExcluded => shortcuts.indexing = false,
        UncoveredReason::EarlyExit => shortcuts.early_exit = false,
    }
    let search = SearchOptions::default()
        .observer(&mut coverage)
        .shortcuts(shortcuts);
    drop(prepared.search(&request, search));
    coverage
}

/// Creates an engine and loads the files that the flags name.
fn load(args: &Args, metrics: &Metrics) -> Result<LoadedEngine, Report> {
    let version = crate::cli::version_of(args.v0_compatible);
    let options = Options::default()
        .strict(args.strict)
        .capabilities(args.capabilities.clone())
        .schemas(crate::cli::schemas(args.schema.as_deref())?);
    let limits = Limits::default()
        .time(args.timeout())
        .memory(args.memory.or(Limits::default().memory));
    let engine = Engine::builder()
        .version(version)
        .compiler(options)
        .limits(limits)
        .host(Arc::new(args.networks.host()))
        .build();
    let mut modules = BTreeMap::new();
    if !args.data.is_empty() || !args.bundle.is_empty() {
        let loader = cli::loader(&args.ignore, args.capabilities.as_deref(), version)?;
        let loaded = read(args, &loader, metrics)?;
        if let Some(took) = loaded.reading {
            metrics.add("rego_data_parse", took);
        }
        let mut change = Change::default();
        change.load(&loaded);
        modules = loaded.modules;
        // modules of archives have different names in messages and as policies
        let parsed = loaded.parsed.values().map(|module| &module.source);
        modules.extend(parsed.map(|source| (source.name.to_string(), source.text.to_string())));
        let on_stage = |name: &str, took: Duration| {
            if args.instrument || !name.starts_with("compile_sta") {
                metrics.add(name, took);
            }
        };
        let text_of = |file: &str| modules.get(file).cloned();
        engine
            .apply_with(|_| Ok(change), Timer::new(&on_stage))
            .map_err(|error: Error| Report::of_error(&error, &text_of))?;
    }
    Ok(LoadedEngine { engine, modules })
}

/// Reads the files that the flags name, including bundles.
fn read(args: &Args, loader: &Loader<'_>, metrics: &Metrics) -> Result<Files, Report> {
    let start = Instant::now();
    let files = loader.load(&args.data).map_err(Report::of_files)?;
    if !args.data.is_empty() {
        metrics.since("rego_load_files", start);
    }
    if args.bundle.is_empty() {
        return Ok(files);
    }
    let loading_error = |reason: &dyn Display| Report::message(format!("loading error: {reason}"));
    let start = Instant::now();
    let verification = args.verify.verification(Verification::skip());
    let loader = loader
        .clone()
        .verification(verification.map_err(Report::message)?);
    let bundles = loader.load_bundles(&args.bundle);
    let bundles = bundles.map_err(|errors| match errors.0.as_slice() {
        [error] if error.kind() == LoadErrorKind::Activation => {
            Report::message(format!("bundle activation failed: {error}"))
        }
        _ => loading_error(&errors),
    })?;
    metrics.since("rego_load_bundles", start);
    let files = bundles.with(files);
    files.ok_or_else(|| loading_error(&"documents of bundles and files are at the same place"))
}
