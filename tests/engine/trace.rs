//! Traces, compared with OPA's recorded ones: event by event, and line by line for each detail.
//!
//! A case of `tests/cases/trace/*.jsonl` has a `request`; the lines of each detail; the `events` of the most detailed
//! one, as rows (see `rows`) whose nodes and values are positions in `texts`; in `kept` the positions of the events
//! that remain in each other detail; and in `placed` the lines with locations and the values of variables, unless there
//! are too many. `SOLON_RECORD=ORACLE` records them again.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failing test"
)]

#[path = "trace/engine.rs"]
mod engine;
#[path = "trace/oracle.rs"]
mod oracle;
#[path = "trace/rows.rs"]
mod rows;

use std::path::PathBuf;

use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Map, Value, json};
use solon::internal::builtins::HostFunction;
use solon::internal::value::ValueRef;
use solon::trace::Detail;
use solon::{Engine, Request, TraceLines};

const DETAILS: [&str; 4] = ["debug", "full", "fails", "notes"];

type Case = Map<String, Value>;

fn files() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/trace");
    ["written.jsonl", "drawn.jsonl"]
        .map(|name| folder.join(name))
        .to_vec()
}

fn cases(file: &PathBuf) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the request with a detail.
fn request_with(request: &Value, detail: &str, events: bool) -> String {
    let mut request = request.clone();
    request["explain"] = json!(detail);
    request["explain_json"] = json!(events);
    request.to_string()
}

/// If a whole package is read, OPA shows the name of its last rule for each rule.
fn line(text: &Value) -> String {
    let text = text.as_str().unwrap();
    match text.split_once("Unify data") {
        Some((indent, rest)) if rest.ends_with(" = _") => format!("{indent}Unify data = _"),
        _ => text.to_owned(),
    }
}

fn lines(answer: &Value) -> Vec<String> {
    answer.as_array().into_iter().flatten().map(line).collect()
}

fn differing<T: PartialEq + std::fmt::Debug>(want: &[T], got: &[T]) -> Option<String> {
    if want == got {
        return None;
    }
    let at = want.iter().zip(got).position(|(want, got)| want != got);
    let at = at.unwrap_or(want.len().min(got.len()));
    let shown = |list: &[T]| format!("{:?}", list.get(at));
    let (want, got) = (shown(want), shown(got));
    let parts = |text: &str| -> Vec<String> { text.split(", ").map(str::to_owned).collect() };
    let (wants, gots) = (parts(&want), parts(&got));
    // for long rows only the text before and after the difference
    let from = wants.iter().zip(&gots).position(|(want, got)| want != got);
    let from = from.unwrap_or_default().saturating_sub(4);
    let part = |parts: &[String]| parts[from..parts.len().min(from + 12)].join(", ");
    Some(format!(
        "at {at}: wanted {}, got {}",
        part(&wants),
        part(&gots)
    ))
}

/// Returns the recorded rows of a detail.
fn rows_of(case: &Case, rows: &[Value], detail: &str) -> Vec<Value> {
    match detail {
        "debug" => rows.to_vec(),
        _ => {
            let positions = case["kept"][detail].as_array().unwrap().iter();
            let positions = positions.map(|at| usize::try_from(at.as_u64().unwrap()).unwrap());
            positions.map(|at| rows[at].clone()).collect()
        }
    }
}

/// Returns the differences between the engine's results and the recorded ones.
fn findings(case: &Case) -> Vec<String> {
    let request = &case["request"];
    let rows = rows::read(case);
    let mut findings = Vec::new();
    let mut add = |what: &str, finding: Option<String>| {
        findings.extend(finding.map(|finding| format!("{} {what} {finding}", case["case"])));
    };
    let answer =
        |line: &str| -> Value { serde_json::from_str(&solon_lines::answer(line)).unwrap() };
    for detail in DETAILS {
        let got = answer(&request_with(request, detail, false));
        add(
            detail,
            differing(&lines(&case[detail]), &lines(&got["trace"])),
        );
        let want = rows_of(case, &rows, detail);
        let explained = engine::explain(request, Detail::from_name(detail).unwrap());
        let text: Value = serde_json::from_str(&explained.detailed_json().unwrap()).unwrap();
        let got = rows::of_events(&text);
        add(&format!("{detail} events"), differing(&want, &got));
        if case[detail].is_null() {
            // the protocol has no traces of errors
            continue;
        }
        let got = answer(&request_with(request, detail, true));
        let got = rows::of_plain_events(&got["events"]);
        let want: Vec<Value> = want.iter().map(rows::plain).collect();
        add(&format!("{detail} plain events"), differing(&want, &got));
    }
    if let Some(placed) = case.get("placed") {
        let explained = engine::explain(request, Detail::Debug);
        let got = json!(
            explained
                .lines(TraceLines::default().locations(true).variables(true))
                .unwrap()
        );
        add("placed", differing(&lines(placed), &lines(&got)));
    }
    findings
}

#[test]
fn traces_equal_those_of_opa() {
    if let Ok(oracle) = std::env::var("SOLON_RECORD") {
        return record(&oracle);
    }
    let cases: Vec<Case> = files().iter().flat_map(cases).collect();
    let findings: Vec<String> = cases.iter().flat_map(findings).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert!(cases.len() >= 300, "only {} cases", cases.len());
    let written = |case: &&Case| case["case"].as_str().unwrap().starts_with("written/");
    assert!(cases.iter().filter(written).count() >= 100);
    let placed = cases.iter().filter(|case| case.contains_key("placed"));
    assert!(placed.count() >= 100);
    let ops: std::collections::BTreeSet<String> = cases
        .iter()
        .flat_map(|case| case["events"].as_array().unwrap())
        .map(|row| row[0].as_str().unwrap().to_owned())
        .collect();
    let want = [
        "Duplicate",
        "Enter",
        "Eval",
        "Exit",
        "Fail",
        "Index",
        "Note",
        "Redo",
        "Unify",
    ];
    assert!(ops.iter().eq(want), "{ops:?}");
}

/// A function that returns different results each time makes the evaluators disagree, which a debug build reports.
#[test]
fn evaluators_that_disagree_are_reported() {
    let calls = AtomicI64::new(0);
    let next = HostFunction::new("next", "x: number => n: number", move |_, _| {
        Ok(ValueRef::from(calls.fetch_add(1, Ordering::Relaxed)))
    })
    .unwrap();
    let asks = |function: HostFunction| {
        let engine = Engine::builder().function(function).unwrap().build();
        let query = engine.prepare_query("next(1) + 0").unwrap();
        query.explain(&Request::new(), Detail::Full).result
    };
    let answer = asks(next.clone());
    if cfg!(debug_assertions) {
        let error = answer.unwrap_err().entries().remove(0);
        assert_eq!(error.code, "eval_internal_error");
        let words = "both machines answer the query `next(1) + 0`, but not alike";
        assert_eq!(error.message, words);
    } else {
        assert_eq!(answer.unwrap().len(), 1);
    }
    // a nondeterministic function is not called twice
    assert_eq!(asks(next.without_memo()).unwrap().len(), 1);
}

/// An index selects rules with different values, and finds a number as the key of its text below base documents.
#[test]
fn the_rule_index_finds_numbers_as_keys() {
    let heads = [
        "r := 1",
        "r := 2",
        "s contains 1",
        "s contains 2",
        "f(x) := 1",
        "f(x) := 2",
    ];
    let key = |head: &str| {
        if head.starts_with('f') {
            "x"
        } else {
            "input.id"
        }
    };
    let rules = heads.iter().enumerate().map(|(at, head)| {
        let document = ["a", "b"][at % 2];
        format!("{head} if data.{document}[{}]\n", key(head))
    });
    let module = format!("package p\n\n{}", rules.collect::<String>());
    for id in ["100", "1.5", "1.0"] {
        let request = json!({
            "modules": {"p.rego": module},
            "data": {"a": {"100": true, "1": true}, "b": {"1.5": true, "1.0": true}},
            "query": "[data.p.r, data.p.s, data.p.f(input.id)] = x",
            "input": {"id": serde_json::from_str::<Value>(id).unwrap()},
        });
        let found = engine::explain(&request, Detail::Full).result.unwrap();
        let value = if id == "100" {
            "[1, {1}, 1]"
        } else {
            "[2, {2}, 2]"
        };
        assert_eq!(
            found[0].bindings[0].1.rego_text().to_string(),
            value,
            "{id}"
        );
    }
}

fn record(oracle: &str) {
    let mut lines = oracle::Lines::start(oracle);
    for file in files() {
        let mut cases = cases(&file);
        for case in &mut cases {
            let request = case["request"].clone();
            for detail in DETAILS {
                let answer = lines.respond(&request_with(&request, detail, false));
                case.insert(detail.to_owned(), answer["trace"].clone());
            }
            let folder = oracle::Folder::from_request(&request);
            let events = rows::of_events(&folder.events(oracle, "debug"));
            rows::write(case, &events);
            let kept = DETAILS[1..].iter().map(|detail| {
                let kept = rows::of_events(&folder.events(oracle, detail));
                let positions = rows::positions(&events, &kept);
                ((*detail).to_owned(), json!(positions))
            });
            case.insert("kept".to_owned(), Value::Object(kept.collect()));
            case.remove("placed");
            let shown = case["debug"].as_array().cloned();
            // with an error there is only the trace
            let count = shown.as_ref().map_or(usize::MAX, Vec::len);
            let shown = shown.unwrap_or_default();
            // replaced names change the width of columns
            let same = events
                .iter()
                .all(|row| row[0] != "Unify" || !row[1].is_null());
            let placed = folder.lines(oracle, "debug", count);
            // and the order of two wildcards is unspecified
            let same = same && !placed.iter().any(|text| text.contains(", _: "));
            if shown.len() <= PLACED && same {
                case.insert("placed".to_owned(), json!(placed));
            }
        }
        let text = cases.iter().map(|case| json!(case).to_string() + "\n");
        std::fs::write(file, text.collect::<String>()).unwrap();
    }
}

/// Maximum number of lines that are recorded with their locations.
const PLACED: usize = 150;
