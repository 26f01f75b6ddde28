//! Coverage and profiles, compared with OPA's recorded ones, except for times.
//!
//! A case of `tests/cases/coverage.jsonl` has a `request`, the `coverage` report and the rows of the `profile`.
//! `SOLON_RECORD=ORACLE` records them again.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failing test"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};
use solon::trace::{Coverage, Observer, Observers, Profile, UncoveredReason};
use solon::{Engine, PreparedQuery, Request, SearchOptions, Shortcuts};

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/coverage.jsonl")
}

fn cases() -> Vec<Map<String, Value>> {
    let text = std::fs::read_to_string(file()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn value(json: &Value) -> solon::Value {
    solon::internal::value::json::read(json.to_string().as_bytes()).unwrap()
}

fn covered(query: &PreparedQuery, request: &Request<'_>, shortcuts: Shortcuts) -> Coverage {
    let mut coverage = Coverage::default();
    let search = SearchOptions::default()
        .observer(&mut coverage)
        .shortcuts(shortcuts);
    drop(query.search(request, search));
    coverage
}

/// Returns the coverage report and the profile of a request.
fn answer(request: &Value) -> (Value, Value) {
    let engine = Engine::builder().allow_base_conflicts(true).build();
    let modules = request["modules"].as_object().unwrap();
    let modules = modules
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str().unwrap()));
    engine.set_modules(modules).unwrap();
    if let Some(data) = request.get("data") {
        engine.put("data", value(data)).unwrap();
    }
    let query = engine
        .prepare_query(request["query"].as_str().unwrap())
        .unwrap();
    let input = request.get("input").map(value);
    let mut asked = Request::new();
    if let Some(input) = &input {
        asked = asked.input(input);
    }
    let (mut coverage, mut profile) = (Coverage::default(), Profile::default());
    let mut observers = Observers(vec![&mut coverage as &mut dyn Observer, &mut profile]);
    let search = SearchOptions::default().observer(&mut observers);
    query.search(&asked, search).unwrap();
    let usual = Shortcuts::default();
    let index = covered(&query, &asked, usual.indexing(false));
    let early = covered(&query, &asked, usual.early_exit(false));
    let parsed = engine.modules();
    let others = [
        (UncoveredReason::IndexExcluded, &index),
        (UncoveredReason::EarlyExit, &early),
    ];
    let report = coverage.report(&others, parsed.iter().map(|(_, module)| &**module));
    let rows = profile.finish(parsed.iter().map(|(_, module)| &**module));
    assert!(rows.is_sorted_by(|one, other| one.time >= other.time));
    let rows = rows.iter().map(|row| serde_json::to_value(row).unwrap());
    (
        serde_json::to_value(report).unwrap(),
        sorted(rows.collect()),
    )
}

/// Sorts the rows of a profile by location.
fn sorted(mut rows: Vec<Value>) -> Value {
    for row in &mut rows {
        row.as_object_mut().unwrap().remove("total_time_ns");
    }
    rows.sort_by_key(|row| {
        let place = &row["location"];
        (place["file"].to_string(), place["row"].as_u64())
    });
    Value::Array(rows)
}

#[test]
fn coverage_and_profile_equal_those_of_opa() {
    if let Ok(oracle) = std::env::var("SOLON_RECORD") {
        return record(&oracle);
    }
    let mut findings = Vec::new();
    let cases = cases();
    for case in &cases {
        let (coverage, profile) = answer(&case["request"]);
        for (what, want, got) in [
            ("coverage", &case["coverage"], coverage),
            ("profile", &case["profile"], profile),
        ] {
            if *want != got {
                findings.push(format!(
                    "{}: {what}: wanted {want}, got {got}",
                    case["case"]
                ));
            }
        }
    }
    assert!(cases.len() >= 50, "only {} cases", cases.len());
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

fn record(oracle: &str) {
    let folder = std::env::temp_dir().join(format!("solon-coverage-{}", std::process::id()));
    let mut lines = String::new();
    for mut case in cases() {
        std::fs::create_dir_all(&folder).unwrap();
        let request = &case["request"];
        // in separate runs: with coverage the oracle's profile counts additional evaluations
        let coverage = run_oracle(oracle, &folder, request, &["--coverage"])["coverage"].clone();
        let profile = run_oracle(oracle, &folder, request, &["--profile-limit", "100000"]);
        let profile = sorted(profile["profile"].as_array().cloned().unwrap_or_default());
        std::fs::remove_dir_all(&folder).unwrap();
        case.insert("coverage".to_owned(), coverage);
        case.insert("profile".to_owned(), profile);
        lines.push_str(&json!(case).to_string());
        lines.push('\n');
    }
    std::fs::write(file(), lines).unwrap();
}

fn run_oracle(oracle: &str, folder: &Path, request: &Value, flags: &[&str]) -> Value {
    let mut command = Command::new(oracle);
    command.current_dir(folder).arg("eval").args(flags);
    for (name, text) in request["modules"].as_object().unwrap() {
        std::fs::write(folder.join(name), text.as_str().unwrap()).unwrap();
        command.args(["--data", name]);
    }
    for (name, flag) in [("data", "--data"), ("input", "--input")] {
        if let Some(document) = request.get(name) {
            let name = format!("{name}.json");
            std::fs::write(folder.join(&name), document.to_string()).unwrap();
            command.args([flag, &name]);
        }
    }
    let output = command
        .arg(request["query"].as_str().unwrap())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}
