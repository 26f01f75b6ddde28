//! Recorded cases: residuals must equal the oracle's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::canonical::{canonical, unordered};
use crate::programs::draw;
use solon_lines::Process;

/// A hand-written case; `want` is OPA's response.
#[derive(Deserialize)]
struct Case {
    note: String,
    want: Value,
    #[serde(flatten)]
    request: BTreeMap<String, Value>,
}

/// A recorded random program.
#[derive(Deserialize)]
struct Recorded<'a> {
    case: String,
    #[serde(borrow)]
    request: &'a RawValue,
    #[serde(borrow)]
    answer: &'a RawValue,
}

/// Number of recorded random programs.
const RECORDED: usize = 600;

/// Seed of the recorded programs.
const SEED: u64 = 5;

/// Reason of exceptions whose bodies consist of the same expressions.
const REORDERED: &str = "in another order";

/// Maximum length of a recorded response in bytes; longer ones are no more informative.
const LONGEST: usize = 4000;

/// Returns the folder of the cases.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/partial")
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).expect("recorded cases")
}

/// Compares Solon with the record and returns the number of failing cases.
pub fn compare(filter: &str) -> usize {
    let exceptions = read("exceptions.txt");
    let exceptions = exceptions.lines().filter(|line| !line.starts_with('#'));
    let mut exceptions: BTreeMap<&str, &str> = exceptions
        .filter_map(|line| line.split_once(": "))
        .collect();
    let (mut passed, mut failed) = (0, 0);
    let mut check = |note: &str, request: &str, want: &str| {
        if !note.contains(filter) {
            return;
        }
        let query = serde_json::from_str::<Value>(request).expect("a request");
        let query = query.get("query").and_then(Value::as_str).unwrap_or("");
        let got = solon_lines::answer(request);
        let same = canonical(&got, query) == canonical(want, query);
        let exception = exceptions.remove(note).filter(|reason| {
            !reason.contains(REORDERED) || unordered(&got, query) == unordered(want, query)
        });
        match (same, exception) {
            (true, None) | (false, Some(_)) => passed += 1,
            (true, Some(_)) => {
                failed += 1;
                println!("{note}: agrees now, take it out of exceptions.txt");
            }
            (false, None) => {
                failed += 1;
                println!("{note}\n  want {want}\n  got  {got}");
            }
        }
    };
    for file in ["examples.json", "options.json"] {
        for case in serde_json::from_str::<Vec<Case>>(&read(file)).expect("cases") {
            let mut request = case.request;
            request.insert("partial".into(), true.into());
            check(
                &case.note,
                &json!(request).to_string(),
                &case.want.to_string(),
            );
        }
    }
    for file in ["agreement.jsonl", "random.jsonl"] {
        for line in read(file).lines() {
            let recorded: Recorded<'_> = serde_json::from_str(line).expect("a case");
            check(
                &recorded.case,
                recorded.request.get(),
                recorded.answer.get(),
            );
        }
    }
    if filter.is_empty() {
        for note in exceptions.keys() {
            failed += 1;
            println!("{note}: in exceptions.txt, but not in the record");
        }
    }
    println!("residuals: {passed} passed, {failed} failed");
    failed
}

/// Draws programs, queries the oracle, and writes a new record.
pub fn record(oracle: &str) {
    let mut oracles = [Process::new(oracle), Process::new(oracle)];
    let mut kept = Vec::new();
    let mut seen = BTreeSet::new();
    for number in 0.. {
        if kept.len() == RECORDED {
            break;
        }
        let Some(drawn) = draw(SEED, number, "") else {
            continue;
        };
        let (line, query) = (drawn.line(), &drawn.request.query);
        let Ok(answer) = oracles[0].request(&line) else {
            continue;
        };
        let wanted = canonical(&answer, query);
        // only residuals that depend on an unknown are informative, and only stable ones can be compared
        let telling = answer.contains("input") || answer.contains("data");
        let steady = oracles.iter_mut().all(|oracle| {
            let again = oracle.request(&line);
            again.is_ok_and(|again| canonical(&again, query) == wanted)
        });
        if wanted.is_some()
            && telling
            && steady
            && answer.len() <= LONGEST
            && seen.insert(line.clone())
        {
            kept.push(format!(
                "{{\"case\":\"{}\",\"request\":{line},\"answer\":{answer}}}\n",
                drawn.name
            ));
        }
    }
    fs::write(folder().join("random.jsonl"), kept.concat()).expect("the record");
    println!("{} programs recorded", kept.len());
}
