//! Modules and queries compile as in OPA: its errors with messages and locations are recorded in `tests/cases/compile`.
//! `SOLON_RECORD=ORACLE` records them again.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic here is a failing test"
)]

mod canonical;
mod damaged_plans;
mod large_types;
mod passes;
#[path = "compile/record.rs"]
mod record;
mod type_details;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Json;
use solon::internal::compile::{Options, Query, compile, compile_query};
use solon_syntax::ast::Version;
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{ParseOptions, parse_body, parse_module};

/// A set of modules, optionally a query, and their errors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    modules: BTreeMap<String, String>,
    query: Option<String>,
    /// Base documents, which rules must not conflict with.
    data: Option<Json>,
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    v0: bool,
    /// Schemas by dotted name. The empty name is the schema of `input`.
    #[serde(default)]
    schemas: BTreeMap<String, Json>,
    want_errors: Vec<RecordedError>,
}

/// An error in the format of the record. Errors without a location have row 0.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct RecordedError {
    #[serde(default)]
    file: String,
    #[serde(default)]
    row: u32,
    #[serde(default)]
    col: u32,
    code: String,
    message: String,
    /// The lines after the message, if they are recorded.
    details: Option<Vec<String>>,
}

#[test]
fn rejects_what_opa_rejects() {
    if let Ok(oracle) = std::env::var("SOLON_RECORD") {
        return record::record(&oracle);
    }
    let mut failures = Vec::new();
    let mut count = 0;
    for file in files() {
        let text = fs::read_to_string(&file).unwrap();
        let cases: Vec<Case> = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for case in &cases {
            count += 1;
            if let Err(difference) = check(case) {
                let file = file.file_stem().unwrap().to_string_lossy().into_owned();
                failures.push(format!("{file}: {}\n{difference}", case.note));
            }
        }
    }
    assert!(count > 0, "no cases");
    assert!(
        failures.is_empty(),
        "{} of {count} cases differ:\n\n{}",
        failures.len(),
        failures.join("\n")
    );
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/compile");
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    files
}

fn check(case: &Case) -> Result<(), String> {
    let mut got: Vec<RecordedError> = match refusals(case) {
        Ok(()) => Vec::new(),
        Err(errors) => errors
            .0
            .into_iter()
            .map(|error| RecordedError {
                file: error.file.to_string(),
                row: error.span.row,
                col: error.span.col,
                code: error.code.to_string(),
                message: error.message,
                details: Some(error.details),
            })
            .collect(),
    };
    let mut want = case.want_errors.clone();
    got.sort();
    want.sort();
    for (got, want) in got.iter_mut().zip(&want) {
        if want.details.is_none() {
            got.details = None;
        }
    }
    if got == want {
        return Ok(());
    }
    let list = |sign: &str, these: &[RecordedError], those: &[RecordedError]| -> String {
        let missing = these.iter().filter(|one| !those.contains(one));
        missing
            .map(|one| {
                let details = one.details.iter().flatten();
                let details: String = details.map(|line| format!("\n      {line}")).collect();
                format!(
                    "  {sign} {}:{}:{}: {}: {}{details}\n",
                    one.file, one.row, one.col, one.code, one.message
                )
            })
            .collect()
    };
    let sources: String = case
        .modules
        .iter()
        .map(|(name, text)| format!("  {name}:\n    {}\n", text.replace('\n', "\n    ")))
        .collect();
    Err(format!(
        "{sources}{}{}",
        list("-", &want, &got),
        list("+", &got, &want)
    ))
}

/// Returns the errors of the modules or, without any, of the query.
fn refusals(case: &Case) -> Result<(), Diagnostics> {
    let parsing = ParseOptions {
        version: if case.v0 { Version::V0 } else { Version::V1 },
        ..ParseOptions::default()
    };
    let mut modules = Vec::new();
    let mut errors = Vec::new();
    for ((name, text), id) in case.modules.iter().zip(0..) {
        let source = Source::new(SourceId(id), name.as_str(), text.as_str());
        match parse_module(&source, &parsing) {
            Ok(module) => modules.push(module),
            Err(refused) => errors.extend(refused.0),
        }
    }
    if !errors.is_empty() {
        return Err(Diagnostics(errors));
    }
    let schemas = case.schemas.iter().map(|(name, schema)| {
        let steps = name.split('.').filter(|step| !step.is_empty());
        (steps.map(str::to_owned).collect(), schema.clone())
    });
    let schemas = (!case.schemas.is_empty()).then(|| schemas.collect());
    let options = Options::default().strict(case.strict).schemas(schemas);
    let base_exists = |path: &[String]| {
        let mut value = case.data.as_ref();
        for step in path {
            value = value.and_then(|value| value.get(step));
        }
        value.is_some()
    };
    let compiled = compile(modules, &options, Some(&base_exists), |_, _| {})?;
    if let Some(text) = &case.query {
        let source = Source::new(SourceId(u32::MAX - 1), "", text.as_str());
        let body = parse_body(&source, &parsing)?;
        compile_query(&compiled, Query::new(source, body), &options, |_, _| {})?;
    }
    Ok(())
}

/// Compiles generated text on a stack of 256 KB.
fn compile_small(text: String) -> Result<(), Diagnostics> {
    let run = move || {
        let source = Source::new(SourceId(0), "large.rego", text);
        let module = parse_module(&source, &ParseOptions::default())?;
        compile(vec![module], &Options::default(), None, |_, _| {}).map(|_| ())
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    thread.spawn(run).unwrap().join().unwrap()
}

fn large(rules: impl Fn(usize) -> String) -> String {
    let mut text = "package large\n\n".to_owned();
    for number in 0..10_000 {
        text.push_str(&rules(number));
        text.push('\n');
    }
    text
}

#[test]
fn long_chains_of_rules_take_no_stack() {
    let chain = large(|number| format!("p{number} := p{}", number + 1)) + "p10000 := 1\n";
    compile_small(chain).unwrap();
}

#[test]
fn long_cycles_of_rules_are_rejected() {
    let cycle = large(|number| format!("p{number} := p{}", (number + 1) % 10_000));
    let errors = compile_small(cycle).unwrap_err();
    let first = errors.0.first().unwrap().to_string();
    assert!(
        first.contains("rule data.large.p0 is recursive: data.large.p0 -> data.large.p1 -> "),
        "{first}"
    );
    assert_eq!(
        errors.0.len(),
        11,
        "ten errors and the note that there are more"
    );
}

#[test]
fn long_bodies_are_ordered() {
    let mut text = "package large\n\np if {\n".to_owned();
    for number in (0..2_000).rev() {
        text.push_str(&format!("\tx{} = x{number} + 1\n", number + 1));
    }
    text.push_str("\tx0 = 1\n}\n");
    compile_small(text).unwrap();
}

#[test]
fn many_rules_of_the_same_name_that_read_a_whole_package() {
    let rules = large(|number| {
        format!("p contains data.other[x] if {{ some x in input.xs; x > {number} }}")
    });
    compile_small(rules).unwrap();
}

#[test]
fn wrong_numbers_of_operands_are_compared_with_the_declaration() {
    let text = include_str!("compile/calls.rego");
    let source = Source::new(SourceId(0), "calls.rego", text);
    let module = parse_module(&source, &ParseOptions::default()).unwrap();
    let compiled = compile(vec![module], &Options::default(), None, |_, _| {});
    let errors = compiled.map(|_| ()).unwrap_err();
    assert_eq!(
        errors.to_string(),
        include_str!("compile/calls.txt").trim_end()
    );
}

#[test]
fn deep_comprehensions_fit_on_a_small_stack() {
    let mut text = String::from("1");
    for number in 0..199 {
        text = format!("[x{number} | x{number} = {text}]");
    }
    compile_small(format!("package deep\n\np := {text}\n")).unwrap();
}

#[test]
fn deep_negations_fit_on_a_small_stack() {
    let mut text = String::from("input.x");
    for _ in 0..390 {
        text = format!("not {{{text}}}");
    }
    let module = format!("package deep\n\nimport rego.v2\n\np if {{\n{text}\n}}\n");
    compile_small(module).unwrap();
}
