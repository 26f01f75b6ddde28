//! Cases: files of `tests/cases/control`, each a list of requests to a new control plane, run on every database.
//!
//! A case has a `note`, the numbers of the `rules` of the specification that it shows, and `steps`. A step sends a request
//! (`ask`: `METHOD /target`):
//!
//! - `as`: the principal, by default `admin`
//! - `with`: headers
//! - `body`: JSON, or a string that is sent unchanged
//! - `status`, `json` or `text`, and `headers`: the expected response
//! - `keep`: parts of the response (`next_cursor`, `@etag` for a header), which later steps insert as `{name}`
//!
//! In an expected response `"$any"` matches anything, `"$time"` a time, and `"$has …"` a text that contains another. Other
//! steps `record` a status, `repeat` a step for the numbers `{n}` from 1, or set whether the service is `ready`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use solon_control::model::{Compat, Phase, Status, StatusRecord};

use crate::databases::On;
use crate::plane::Plane;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    rules: Vec<String>,
    #[serde(default)]
    compat: bool,
    #[serde(default)]
    prefix: String,
    steps: Vec<Step>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(rename = "ask", default)]
    request_line: String,
    #[serde(default = "admin", rename = "as")]
    who: String,
    #[serde(default)]
    with: BTreeMap<String, String>,
    #[serde(default)]
    body: Option<Value>,
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    json: Option<Value>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    keep: BTreeMap<String, String>,
    #[serde(default)]
    record: Option<Recorded>,
    #[serde(default)]
    repeat: usize,
    #[serde(default)]
    ready: Option<bool>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    bundle: String,
    #[serde(default)]
    revision: String,
    phase: String,
    status: String,
    #[serde(default)]
    error_message: String,
}

fn admin() -> String {
    "admin".to_owned()
}

fn ok() -> u16 {
    200
}

fn cases() -> Vec<(String, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/control");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let cases: Vec<Case> =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        found.extend(cases.into_iter().map(|case| (name.clone(), case)));
    }
    found
}

#[test]
fn every_rule_has_a_case() {
    let named: BTreeSet<String> = cases()
        .into_iter()
        .flat_map(|(_, case)| case.rules)
        .collect();
    let all = (1..=173).map(|number| format!("C-{number:03}"));
    let missing: Vec<String> = all.filter(|rule| !named.contains(rule)).collect();
    assert!(missing.is_empty(), "no case names {}", missing.join(", "));
}

#[tokio::test(flavor = "multi_thread")]
async fn in_memory() {
    run(On::Memory).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_sqlite() {
    run(On::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres() {
    run(On::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_mariadb() {
    run(On::Mariadb).await;
}

async fn run(on: On) {
    let mut failed = Vec::new();
    let only = std::env::var("CASE").unwrap_or_default();
    for (file, case) in cases() {
        if !case.note.contains(&only) && !file.contains(&only) {
            continue;
        }
        let change = |options: &mut solon_control::Options| {
            if case.compat {
                options.compat = Compat::Ocp;
            }
            options.api_prefix.clone_from(&case.prefix);
        };
        let Some(plane) = Plane::with(on, change).await else {
            return;
        };
        if let Err(words) = play(&plane, &case).await {
            failed.push(format!("{file}: {}: {words}", case.note));
        }
    }
    assert!(failed.is_empty(), "{on:?}:\n{}\n", failed.join("\n"));
}

async fn play(plane: &Plane, case: &Case) -> Result<(), String> {
    let mut captured: BTreeMap<String, String> = BTreeMap::new();
    for step in &case.steps {
        if let Some(ready) = step.ready {
            plane.plane.set_ready(ready);
        }
        if let Some(record) = &step.record {
            let record_of = |number: usize| StatusRecord {
                revision: record.revision.replace("{n}", &number.to_string()),
                phase: *Phase::ALL
                    .iter()
                    .find(|phase| phase.as_str() == record.phase)
                    .unwrap(),
                status: *Status::ALL
                    .iter()
                    .find(|status| status.as_str() == record.status)
                    .unwrap(),
                error_message: record.error_message.clone(),
            };
            for number in 1..=step.repeat.max(1) {
                let record_of = record_of(number);
                let recorded = plane.plane.record_status(&record.bundle, &record_of);
                recorded.await.map_err(|error| error.to_string())?;
            }
            continue;
        }
        for number in 1..=step.repeat.max(1) {
            captured.insert("n".to_owned(), number.to_string());
            take(plane, step, &mut captured).await?;
        }
    }
    Ok(())
}

async fn take(
    plane: &Plane,
    step: &Step,
    captured: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    let filled = |text: &str| {
        captured
            .iter()
            .fold(text.to_owned(), |text, (name, value)| {
                text.replace(&format!("{{{name}}}"), value)
            })
    };
    if step.request_line.is_empty() {
        return Ok(());
    }
    let ask = filled(&step.request_line);
    let body = match &step.body {
        None => String::new(),
        Some(Value::String(text)) => filled(text),
        Some(body) => filled(&body.to_string()),
    };
    let with = step
        .with
        .iter()
        .map(|(name, value)| (name.clone(), filled(value)));
    let response = plane
        .send_with(&step.who, &ask, body, &with.collect())
        .await;
    let text = String::from_utf8_lossy(response.body()).into_owned();
    let told = format!("{} {ask}", step.who);
    if response.status().as_u16() != step.status {
        return Err(format!(
            "{told}: wanted {}, got {} {text}",
            step.status,
            response.status()
        ));
    }
    for (name, wanted) in &step.headers {
        let value = response
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok());
        if !matches(
            &Value::from(filled(wanted)),
            &value.map_or(Value::Null, Value::from),
        ) {
            return Err(format!("{told}: wanted {name}: {wanted}, got {value:?}"));
        }
    }
    if let Some(wanted) = &step.text
        && *wanted != text
    {
        return Err(format!("{told}: wanted {wanted:?}, got {text:?}"));
    }
    let answer: Value = serde_json::from_str(&text).unwrap_or_default();
    if let Some(wanted) = &step.json {
        let wanted: Value = serde_json::from_str(&filled(&wanted.to_string())).unwrap();
        if !matches(&wanted, &answer) {
            return Err(format!("{told}: wanted {wanted}, got {text}"));
        }
    }
    for (name, part) in &step.keep {
        let value = match part.strip_prefix('@') {
            Some(header) => response
                .headers()
                .get(header)
                .map(|value| value.to_str().unwrap()),
            None => answer.pointer(&format!("/{part}")).and_then(Value::as_str),
        };
        let value = value.ok_or_else(|| format!("{told}: no {part} in {text}"))?;
        captured.insert(name.clone(), value.to_owned());
    }
    Ok(())
}

/// Returns `true` if a response matches the expected one.
fn matches(wanted: &Value, answer: &Value) -> bool {
    match (wanted, answer) {
        (Value::String(wanted), answer) if wanted.starts_with('$') => {
            let text = answer.as_str();
            match wanted.as_str() {
                "$any" => !answer.is_null(),
                "$time" => text.is_some_and(|text| {
                    text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()
                }),
                other => other
                    .strip_prefix("$has ")
                    .is_some_and(|part| text.is_some_and(|text| text.contains(part))),
            }
        }
        (Value::Array(wanted), Value::Array(items)) => {
            let same = wanted
                .iter()
                .zip(items)
                .all(|(wanted, item)| matches(wanted, item));
            wanted.len() == items.len() && same
        }
        (Value::Object(wanted), Value::Object(members)) => {
            let same = |(name, wanted): (&String, &Value)| {
                members
                    .get(name)
                    .is_some_and(|member| matches(wanted, member))
            };
            wanted.len() == members.len() && wanted.iter().all(same)
        }
        _ => wanted == answer,
    }
}
