//! Loading of policies and their tests.

use std::sync::Arc;

use solon::bundle::{Loaded, Loader};
use solon::testing::PolicyTest;
use solon::{Change, CompilerOptions, Engine, Request, Value};

use super::args::Args;
use crate::cli;
use crate::cli::report::Report;

/// Loads the files that the arguments name.
pub fn load(args: &Args) -> Result<Loaded, Report> {
    let loader = loader(args)?;
    if args.bundle {
        let loaded = loader.load_bundles(&args.paths);
        let bundles = args.paths.join(", ");
        return loaded
            .map_err(|error| Report::message(format!("unable to load bundle {bundles}: {error}")));
    }
    loader.load(&args.paths).map_err(Report::of_files)
}

/// Returns a loader that is configured by the flags.
pub fn loader(args: &Args) -> Result<Loader<'static>, Report> {
    let version = cli::version_of(args.v0_compatible);
    cli::loader(&args.ignore, args.capabilities.as_deref(), version)
}

/// Compiles the loaded files for tests. With `names_sides` the sides of equalities get names, so that their values are known.
pub fn compile(args: &Args, loaded: &Loaded, names_sides: bool) -> Result<Engine, Report> {
    let options = CompilerOptions::default()
        .tests(true)
        .trace_tests(names_sides)
        .print(!args.bench)
        .error_limit(usize::try_from(args.max_errors).unwrap_or(0))
        .capabilities(args.capabilities.clone())
        .schemas(cli::schemas(args.schema.as_deref())?);
    let engine = Engine::builder()
        .version(cli::version_of(args.v0_compatible))
        .compiler(options)
        .host(Arc::new(args.networks.host()))
        .build();
    let mut change = Change::default();
    change.load(loaded);
    let text_of = |file: &str| loaded.modules.get(file).cloned();
    let applied = engine.apply(change);
    applied.map_err(|error| Report::of_error(&error, &text_of))?;
    Ok(engine)
}

/// Selects the tests whose full name matches the regular expression of the arguments, with the syntax of `regex.match`.
pub fn select(tests: Vec<PolicyTest>, pattern: Option<&str>) -> Result<Vec<PolicyTest>, Report> {
    let Some(pattern) = pattern else {
        return Ok(tests);
    };
    let invalid_pattern = |error: solon::Error| {
        let entries = error.entries().into_iter();
        let messages: Vec<String> = entries.map(|entry| entry.message).collect();
        let message = messages.join("\n");
        let message = message.strip_prefix("regex.match: ").unwrap_or(&message);
        Report::message(message)
    };
    let query = "regex.match(input.pattern, \"\") in {true, false}; \
        matching := [regex.match(input.pattern, name) | some name in input.names]";
    let query = Engine::new()
        .prepare_query(query)
        .map_err(invalid_pattern)?;
    let names: Vec<Value> = tests.iter().map(|test| test.path().into()).collect();
    let input = Value::object(vec![
        ("pattern".into(), pattern.into()),
        ("names".into(), names.into()),
    ]);
    let request = Request::new().input(&input).strict_builtin_errors(true);
    let solutions = query.solutions(&request).map_err(invalid_pattern)?;
    let bindings = solutions.first().map(|first| first.bindings.as_slice());
    let matching = bindings.and_then(|bindings| bindings.first());
    let matching = matching.and_then(|(_, value)| value.as_array());
    let selected = tests.into_iter().enumerate().filter(|(index, _)| {
        matching.is_some_and(|matching| matching.get(*index) == Some(&Value::from(true)))
    });
    Ok(selected.map(|(_, test)| test).collect())
}
