//! Traces, compared with those that the reference engine recorded: event by event, and line by line in each detail.
//!
//! A case of `tests/cases/trace/*.jsonl` has a `request`, the lines of each detail, and the `events`, unless there
//! are many. `SOLON_RECORD=ORACLE` writes the answers of an oracle anew.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failing test"
)]

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

const DETAILS: [&str; 4] = ["debug", "full", "fails", "notes"];

fn files() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/trace");
    ["written.jsonl", "drawn.jsonl"]
        .map(|name| folder.join(name))
        .to_vec()
}

fn cases(file: &PathBuf) -> Vec<Map<String, Value>> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The request with a detail.
fn asked(request: &Value, detail: &str, events: bool) -> String {
    let mut request = request.clone();
    request["explain"] = json!(detail);
    request["explain_json"] = json!(events);
    request.to_string()
}

fn answer(line: &str) -> Value {
    serde_json::from_str(&solon::lines::answer(line)).unwrap()
}

/// Where a whole package is read, the reference engine shows the name of its last rule for that of each rule.
fn line(text: &Value) -> String {
    let text = text.as_str().unwrap();
    match text.split_once("Unify data") {
        Some((indent, rest)) if rest.ends_with(" = _") => format!("{indent}Unify data = _"),
        _ => text.to_owned(),
    }
}

/// The same of an event, whose variables come in no order.
fn event(event: &Value) -> Value {
    let mut event = event.clone();
    if let Some(locals) = event["locals"].as_array_mut() {
        locals.sort_by_key(Value::to_string);
    }
    let leaf = |term: &Value| {
        term["value"]
            .as_str()
            .is_some_and(|name| name.contains("_leaf"))
    };
    if event["op"] == "unify" && leaf(&event["node"]["terms"][2]) {
        event["node"] = Value::Null;
    }
    event
}

fn differing<T: PartialEq + std::fmt::Debug>(want: &[T], got: &[T]) -> Option<String> {
    if want == got {
        return None;
    }
    let at = want.iter().zip(got).position(|(want, got)| want != got);
    let at = at.unwrap_or(want.len().min(got.len()));
    Some(format!(
        "at {at}: wanted {:?}, got {:?}",
        want.get(at),
        got.get(at)
    ))
}

#[test]
fn traces_are_those_of_the_reference_engine() {
    if let Ok(oracle) = std::env::var("SOLON_RECORD") {
        return record(&oracle);
    }
    let mut findings = Vec::new();
    let mut count = 0;
    for case in files().iter().flat_map(cases) {
        count += 1;
        let request = &case["request"];
        for detail in DETAILS {
            let want: Vec<String> = case[detail].as_array().unwrap().iter().map(line).collect();
            let answer = answer(&asked(request, detail, false));
            let got: Vec<String> = answer["trace"]
                .as_array()
                .map(|lines| lines.iter().map(line).collect())
                .unwrap_or_default();
            if let Some(finding) = differing(&want, &got) {
                findings.push(format!("{} {detail} {finding}", case["case"]));
            }
        }
        if let Some(want) = case.get("events").and_then(Value::as_array) {
            let want: Vec<Value> = want.iter().map(event).collect();
            let answer = answer(&asked(request, "debug", true));
            let got: Vec<Value> = answer["events"]
                .as_array()
                .map(|events| events.iter().map(event).collect())
                .unwrap_or_default();
            if let Some(finding) = differing(&want, &got) {
                findings.push(format!("{} events {finding}", case["case"]));
            }
        }
    }
    assert!(count >= 300, "only {count} cases");
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

fn record(oracle: &str) {
    for file in files() {
        let mut cases = cases(&file);
        for case in &mut cases {
            let request = case["request"].clone();
            for detail in DETAILS {
                let answer = ask(oracle, &asked(&request, detail, false));
                case.insert(detail.to_owned(), answer["trace"].clone());
            }
            if case.contains_key("events") {
                let answer = ask(oracle, &asked(&request, "debug", true));
                case.insert("events".to_owned(), answer["events"].clone());
            }
        }
        let lines = cases.iter().map(|case| json!(case).to_string() + "\n");
        std::fs::write(file, lines.collect::<String>()).unwrap();
    }
}

fn ask(oracle: &str, line: &str) -> Value {
    let mut child = Command::new(oracle)
        .arg("lines")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{line}").unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}
