//! `solon test`

mod args;
mod benchmark;
mod coverage;
mod failure;
mod load;
mod report;
mod schedule;

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::mpsc;

use solon::Engine;
use solon::bundle::Loaded;
use solon::testing::{PolicyTest, TestOptions, TestResult, Verdict};

use self::args::{CoverageFormat, Format, Sort};
use self::coverage::Covered;
use self::failure::Explainer;
use self::report::{Reporter, TestReport};
use super::FAILED;
use super::report::Report;
use super::run::watch::Watch;
use super::terminal::{complain, print};
use crate::system::signals::{SignalKind, signal};

pub use self::args::Args;

/// Exit code if a test did not pass, or the coverage is too low.
const NOT_PASSED: u8 = 2;

/// Runs the tests and prints their results.
pub fn run(args: Box<Args>) -> ExitCode {
    if args.paths.is_empty() {
        crate::cli::wrong_usage("test", "specify at least one file");
    }
    if args.format == Format::Gobench && !args.bench {
        complain("cannot use output format gobench without running benchmarks (--bench)\n");
        return ExitCode::SUCCESS;
    }
    if !(0.0..=100.0).contains(&args.threshold()) {
        complain("Code coverage threshold must be between 0 and 100\n");
        return ExitCode::from(FAILED);
    }
    if args.coverage().is_some() && args.bench {
        complain("coverage reporting is not supported when benchmarking tests\n");
        return ExitCode::from(FAILED);
    }
    if args.watch {
        return watch(args);
    }
    match run_as_often(&args) {
        Ok(code) => ExitCode::from(code),
        Err(report) => {
            complain(format_report(&report));
            ExitCode::from(FAILED)
        }
    }
}

fn format_report(report: &Report) -> String {
    match report.bare() {
        Some(message) => format!("{message}\n"),
        None => report.text(report.is_of_loading()),
    }
}

/// Loads everything and runs the tests the selected number of times. Returns the exit code.
fn run_as_often(args: &Args) -> Result<u8, Report> {
    let loaded = load::load(args)?;
    let engine = load::compile(args, &loaded, args.var_values)?;
    if !args.watch {
        super::keep_to_exit(&engine);
    }
    let tests = load::select(engine.tests(), args.pattern())?;
    for _ in 0..args.count {
        let code = run_once(args, &loaded, &engine, &tests);
        if code != 0 {
            return Ok(code);
        }
    }
    Ok(0)
}

/// Runs the tests once. Returns the exit code.
fn run_once(args: &Args, loaded: &Loaded, engine: &Engine, tests: &[PolicyTest]) -> u8 {
    if let Some(format) = args.coverage() {
        return run_covered(args, loaded, engine, tests, format);
    }
    let json = args.format == Format::Json;
    if args.sort != Sort::None && !json {
        complain("warning: --sort is only supported with JSON format\n");
    }
    let explainer = Explainer::new(args, loaded);
    let mut reporter = Reporter::new(args);
    let options = args.options();
    let mut code = 0;
    let report = |test, result: TestResult| {
        let is_accepted = match result.verdict {
            Verdict::Pass => true,
            Verdict::Skip => args.exit_zero_on_skipped,
            Verdict::Fail | Verdict::Error(_) => false,
        };
        if !is_accepted {
            code = NOT_PASSED;
        }
        let details = explainer.explain(test, &result);
        print(reporter.add(TestReport {
            test,
            result,
            details,
            benchmark: None,
        }));
        ControlFlow::Continue(())
    };
    if args.bench {
        code = benchmark::run(args, tests, &options, &mut reporter);
    } else {
        let order = schedule::order(tests.len(), args.shuffle);
        let run = |test: &PolicyTest| test.run(&options);
        schedule::run_all(tests, &order, args.threads(), run, report);
    }
    print(reporter.finish());
    if tests.is_empty() && args.fail_on_empty {
        complain("no tests were run\n");
        return FAILED;
    }
    code
}

/// Runs the tests and prints their coverage. Returns the exit code.
fn run_covered(
    args: &Args,
    loaded: &Loaded,
    engine: &Engine,
    tests: &[PolicyTest],
    format: CoverageFormat,
) -> u8 {
    let options: TestOptions = args.options();
    let mut coverage_of_tests = Covered::default();
    let mut failed: Vec<TestReport<'_>> = Vec::new();
    let mut error = None;
    let mut has_skipped = false;
    let order = schedule::order(tests.len(), args.shuffle);
    let run = |test: &PolicyTest| test.run(&options);
    schedule::run_all(tests, &order, args.threads(), run, |test, mut result| {
        if let Some(coverage) = result.coverage.take() {
            coverage_of_tests.add(coverage);
        }
        match &result.verdict {
            Verdict::Error(error_of_test) => {
                error = Some(report::error_text(error_of_test));
                return ControlFlow::Break(());
            }
            Verdict::Fail => {
                failed.push(TestReport {
                    test,
                    result,
                    details: Vec::new(),
                    benchmark: None,
                });
            }
            Verdict::Skip => has_skipped = true,
            Verdict::Pass => {}
        }
        ControlFlow::Continue(())
    });
    if let Some(error) = error {
        complain(format!("{error}\n"));
        return FAILED;
    }
    if let Some(first) = failed.first() {
        let line = format!(
            "{}\n{}\n",
            report::line(first),
            report::cases(&first.result.cases)
        );
        let mut reporter = Reporter::of_failures(args);
        for item in failed {
            print(reporter.add(item));
        }
        print(reporter.finish());
        complain(line);
        return FAILED;
    }
    let report = coverage_of_tests.report(engine);
    if report.coverage < args.threshold() {
        complain(coverage::too_little(
            &report,
            args.threshold(),
            args.is_verbose(),
        ));
        return NOT_PASSED;
    }
    print(match format {
        CoverageFormat::Json => crate::json::answer_text(&report, true),
        CoverageFormat::Lcov => coverage::lcov(&report).into_bytes(),
        CoverageFormat::Html => coverage::html(&report, &loaded.modules).into_bytes(),
    });
    if tests.is_empty() && args.fail_on_empty {
        complain("no tests were run\n");
        return FAILED;
    }
    if has_skipped && !args.exit_zero_on_skipped {
        NOT_PASSED
    } else {
        0
    }
}

/// Runs the tests, and repeats them each time files change, until a signal ends the process.
fn watch(args: Box<Args>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(format!("Error creating path watcher: {error}\n"));
            return ExitCode::from(FAILED);
        }
    };
    let (paths, ignore, is_bundle) = (args.paths.clone(), args.ignore.clone(), args.bundle);
    let watch = Watch::new(move || {
        let loader = solon::bundle::Loader::new(&solon_host::SystemFiles).ignore(&ignore);
        if is_bundle {
            loader.bundle_files(&paths)
        } else {
            loader.files(&paths)
        }
    });
    if let Err(report) = run_as_often(&args) {
        complain(format_report(&report));
        return ExitCode::from(FAILED);
    }
    let print_waiting = || print(format!("{}\nWatching for changes ...\n", "*".repeat(80)));
    print_waiting();
    // no requests are sent on this channel
    let (_requests, received) = mpsc::channel();
    watch.start(received, move |_| {
        if let Err(report) = run_as_often(&args) {
            print(format_report(&report));
        }
        print_waiting();
        true
    });
    runtime.block_on(async {
        let stop_signal = async {
            let (mut interrupt, mut terminate) = (
                signal(SignalKind::interrupt()).ok()?,
                signal(SignalKind::terminate()).ok()?,
            );
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            Some(())
        };
        match stop_signal.await {
            Some(()) => ExitCode::SUCCESS,
            None => ExitCode::from(FAILED),
        }
    })
}
