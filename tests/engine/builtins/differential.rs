//! Generated calls of every function, compared with OPA's recorded results: strict and not strict, with constant
//! operands and with operands that are unknown at compile time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Json;
use solon::internal::value::{Arena, ValueRef};
use solon::{Engine, Error, Request};

use crate::text;

/// A call: its arguments, its strict outcome, and the outcome without strict errors if it does not follow from the
/// strict one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Case {
    Plain(Vec<String>, Json),
    Lax(Vec<String>, Json, Json),
}

/// Calls by function.
type Family = BTreeMap<String, Vec<Case>>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/builtins/differential")
}

/// Returns Solon's strict and non-strict outcomes: a value, `undefined`, or an error.
fn outcomes(engine: &Engine, call: &str) -> [String; 2] {
    let show_error = |error: Error| {
        let entry = error.entries().into_iter().next().unwrap();
        format!("{}: {}", entry.code, entry.message)
    };
    let query = match engine.prepare_query(&format!("x := {call}")) {
        Ok(query) => query,
        Err(error) => {
            let error = show_error(error);
            return [error.clone(), error];
        }
    };
    [true, false].map(|strict| {
        let request = Request::new().strict_builtin_errors(strict);
        match query.solutions(&request) {
            Err(error) => show_error(error),
            Ok(solutions) => match solutions.as_slice() {
                [] => "undefined".to_owned(),
                [one] => text::show(one.bindings[0].1.borrow()),
                _ => panic!("{call}: several solutions"),
            },
        }
    })
}

/// Returns the recorded outcome in the format of [`outcome`].
fn recorded(outcome: &Json) -> String {
    match outcome {
        Json::Null => "undefined".to_owned(),
        Json::String(value) => {
            let arena = Arena::new();
            let value: ValueRef<'_> = text::Reader::new(value).literal(&arena);
            text::show(value)
        }
        Json::Array(error) => format!(
            "{}: {}",
            error[0].as_str().unwrap(),
            error[1].as_str().unwrap()
        ),
        _ => panic!("{outcome}: no outcome"),
    }
}

/// Calls that differ on purpose, as text.
fn exceptions() -> BTreeSet<String> {
    let text = fs::read_to_string(folder().join("exceptions.tsv")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_once('\t').expect("a reason").0.to_owned())
        .collect()
}

#[test]
fn generated_calls_return_what_opa_returns() {
    let only = std::env::var("FUNCTION").ok();
    let engine = Engine::new();
    engine.set_module("k.rego", super::HIDE).unwrap();
    let mut unused = exceptions();
    let known = unused.clone();
    let (mut compared, mut failures) = (0, Vec::new());
    let edges = fs::read_dir(folder().join("edges")).unwrap();
    for entry in fs::read_dir(folder()).unwrap().chain(edges).flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let family: Family = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for (name, cases) in &family {
            let needs_crypto = name.starts_with("crypto.")
                || name.starts_with("io.jwt.")
                || name.starts_with("providers.");
            if needs_crypto && !cfg!(feature = "crypto") {
                continue;
            }
            if only
                .as_ref()
                .is_some_and(|only| !name.starts_with(only.as_str()))
            {
                continue;
            }
            for case in cases {
                compared += 1;
                let (arguments, strict, lax) = match case {
                    Case::Plain(arguments, strict) => {
                        let lax = if strict.is_array() {
                            &Json::Null
                        } else {
                            strict
                        };
                        (arguments, strict, lax)
                    }
                    Case::Lax(arguments, strict, lax) => (arguments, strict, lax),
                };
                let (strict, lax) = (recorded(strict), recorded(lax));
                let written = format!("{name}({})", arguments.join(", "));
                let differences = compare(&engine, name, arguments, [&strict, &lax]);
                if differences.is_empty() {
                    continue;
                }
                if known.contains(&written) {
                    unused.remove(&written);
                } else {
                    failures.push(format!("{written}\n{differences}"));
                }
            }
        }
    }
    if only.is_none() {
        failures.extend(
            unused
                .iter()
                .map(|one| format!("{one}\n    is an exception that excuses nothing\n")),
        );
    }
    assert!(
        failures.is_empty(),
        "{} of {compared} calls differ\n{}",
        failures.len(),
        failures.concat()
    );
    assert!(compared > 5_000 || only.is_some(), "only {compared} calls");
}

/// Returns the differences between Solon's outcomes and the strict and non-strict records.
fn compare(engine: &Engine, name: &str, arguments: &[String], wanted: [&str; 2]) -> String {
    let hidden: Vec<_> = arguments
        .iter()
        .map(|argument| format!("data.k.hide({argument})"))
        .collect();
    let mut differences = String::new();
    for (form, arguments) in [("hidden", hidden.as_slice()), ("constant", arguments)] {
        let mut call = format!("{name}({})", arguments.join(", "));
        if name == "walk" {
            call = format!("[y | walk({}, y)]", arguments.join(", "));
        }
        let found = outcomes(engine, &call);
        for (mode, (found, wanted)) in ["strict", "lax"].iter().zip(found.iter().zip(wanted)) {
            // constants of the wrong type are rejected before they are evaluated
            let refused = form == "constant" && found.starts_with("rego_");
            if found != wanted && !refused {
                differences +=
                    &format!("    {form}, {mode}\n      found  {found}\n      wanted {wanted}\n");
            }
        }
    }
    differences
}
