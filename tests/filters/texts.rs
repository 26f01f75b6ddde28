//! Filters as OPA writes them.
//!
//! A case is a request, OPA's response, and ours with the reason if it differs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use solon_lines::{Driver as _, Native, Process};

use crate::differences::reason;
use crate::number;
use crate::policies::policy;

/// Number of random policies in the record.
const DRAWN: u64 = 1_500;
const TARGETS: [(&str, &str); 8] = [
    ("sql", "postgresql"),
    ("sql", "mysql"),
    ("sql", "sqlserver"),
    ("sql", "sqlite"),
    ("ucast", "all"),
    ("ucast", "minimal"),
    ("ucast", "linq"),
    ("ucast", "prisma"),
];

#[derive(Serialize, Deserialize)]
struct Case {
    #[serde(rename = "case")]
    name: String,
    request: Value,
    /// OPA's response.
    answer: Value,
    /// Our response, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ours: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn file(name: &str) -> PathBuf {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/filters");
    PathBuf::from(cases).join(name)
}

fn read(name: &str) -> Vec<Case> {
    let text = fs::read_to_string(file(name)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn ours(request: &Value) -> Value {
    let answer = Native::Plans.answer(&request.to_string()).unwrap();
    serde_json::from_str(&answer).unwrap()
}

/// Returns the requests of random policies from a seed on, each for another target.
fn drawn(first: u64) -> Vec<(String, Value)> {
    let one = |seed: u64| {
        let drawn = policy(seed, false);
        let (target, dialect) = TARGETS[usize::try_from(seed).unwrap() % TARGETS.len()];
        let request = json!({
            "modules": {"filters.rego": drawn.text},
            "query": "data.filters.include",
            "input": drawn.input,
            "unknowns": ["input.fruits", "input.baskets"],
            "filters": {"target": target, "dialect": dialect},
        });
        (format!("drawn/{seed}/{dialect}"), request)
    };
    (first..first + DRAWN).map(one).collect()
}

/// Returns OPA's responses, and ours where they differ, and the number of differences without a reason.
fn compare_with_oracle(oracle: &str, requests: Vec<(String, Value)>) -> (Vec<Case>, usize) {
    let mut oracle = Process::new(oracle);
    let (mut cases, mut unexplained) = (Vec::new(), 0);
    for (case, request) in requests {
        let answer = oracle.answer(&request.to_string()).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let own = ours(&request);
        let differs = !is_same(&answer, &own);
        let dialect = request["filters"]["dialect"].as_str().unwrap_or("");
        let reason = differs.then(|| reason(dialect, &answer, &own));
        if reason == Some(None) {
            println!("{case}: no reason for a difference\n  {answer}\n  {own}");
            unexplained += 1;
        }
        cases.push(Case {
            name: case,
            request,
            answer,
            ours: differs.then_some(own),
            reason: reason.flatten().map(str::to_owned),
        });
    }
    (cases, unexplained)
}

fn record(oracle: &str, name: &str, requests: Vec<(String, Value)>) {
    let mut text = String::new();
    for case in compare_with_oracle(oracle, requests).0 {
        writeln!(text, "{}", serde_json::to_string(&case).unwrap()).unwrap();
    }
    fs::write(file(name), text).unwrap();
}

fn is_same(theirs: &Value, ours: &Value) -> bool {
    theirs == ours
}

fn compare(name: &str) {
    let mut failures = String::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let cases = read(name);
    let count = cases.len();
    for case in cases {
        let own = ours(&case.request);
        let wanted = case.ours.as_ref().unwrap_or(&case.answer);
        if !is_same(wanted, &own) {
            writeln!(failures, "{}\n  wanted {wanted}\n  got    {own}", case.name).unwrap();
        }
        match (&case.ours, case.reason) {
            (None, None) => {}
            (Some(_), Some(reason)) => *reasons.entry(reason).or_default() += 1,
            (Some(_), None) => writeln!(failures, "{}: differs without reason", case.name).unwrap(),
            (None, Some(_)) => {
                writeln!(failures, "{}: a reason to be the same", case.name).unwrap();
            }
        }
    }
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/filters.md"));
    let page = page.unwrap();
    for (reason, times) in &reasons {
        println!("{name}: {times} of {count} differ: {reason}");
        if !page.contains(reason) {
            writeln!(failures, "docs/filters.md does not describe: {reason}").unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn examples_are_as_recorded() {
    if let Ok(oracle) = std::env::var("SOLON_RECORD") {
        let cases = read("examples.jsonl");
        let requests = cases.into_iter().map(|case| (case.name, case.request));
        record(&oracle, "examples.jsonl", requests.collect());
    }
    compare("examples.jsonl");
}

/// Compares policies that are not in the record, if the environment names OPA's binary.
#[test]
fn other_policies_are_those_of_the_reference_engine() {
    let Ok(oracle) = std::env::var("SOLON_ORACLE") else {
        println!("skipped: SOLON_ORACLE names no reference engine");
        return;
    };
    let (cases, unexplained) = compare_with_oracle(&oracle, drawn(number("SOLON_SEED", DRAWN)));
    let differing = cases.iter().filter(|case| case.ours.is_some()).count();
    println!("{differing} of {} differ with a reason", cases.len());
    assert_eq!(unexplained, 0, "differences without a reason");
}

#[test]
fn drawn_policies_are_as_recorded() {
    if let Ok(oracle) = std::env::var("SOLON_RECORD") {
        record(&oracle, "drawn.jsonl", drawn(0));
    }
    let drawn = drawn(0);
    let recorded = read("drawn.jsonl");
    assert_eq!(drawn.len(), recorded.len());
    for ((name, request), case) in drawn.iter().zip(&recorded) {
        assert_eq!(
            (name, request),
            (&case.name, &case.request),
            "the record is of other policies"
        );
    }
    compare("drawn.jsonl");
}
