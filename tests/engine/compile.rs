//! Modules and queries compile as they do in OPA: what it refuses, with which words and where, is recorded in
//! `tests/cases/compile`.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic here is a failing test"
)]

mod passes;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Json;
use solon::compile::{Options, Query, compile, compile_query};
use solon_syntax::ast::Version;
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{ParseOptions, parse_body, parse_module};

/// A set of modules, perhaps a query, and what is wrong with them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    modules: BTreeMap<String, String>,
    query: Option<String>,
    /// Base documents, which rules may not stand in the place of.
    data: Option<Json>,
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    v0: bool,
    want_errors: Vec<Refusal>,
}

/// An error as the record has it; errors without a place have row 0.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Refusal {
    #[serde(default)]
    file: String,
    #[serde(default)]
    row: u32,
    #[serde(default)]
    col: u32,
    code: String,
    message: String,
}

#[test]
fn refuses_what_opa_refuses() {
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
    let mut got: Vec<Refusal> = match refusals(case) {
        Ok(()) => Vec::new(),
        Err(errors) => errors
            .0
            .into_iter()
            .map(|error| Refusal {
                file: error.file.to_string(),
                row: error.span.row,
                col: error.span.col,
                code: error.code.to_string(),
                message: error.message,
            })
            .collect(),
    };
    let mut want = case.want_errors.clone();
    got.sort();
    want.sort();
    if got == want {
        return Ok(());
    }
    let list = |sign: &str, these: &[Refusal], those: &[Refusal]| -> String {
        let missing = these.iter().filter(|one| !those.contains(one));
        missing
            .map(|one| {
                format!(
                    "  {sign} {}:{}:{}: {}: {}\n",
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

/// What is wrong with the modules; if nothing is, with the query.
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
    let options = Options {
        strict: case.strict,
        ..Options::default()
    };
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
