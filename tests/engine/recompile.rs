//! Incremental compilation: after any sequence of changes an engine equals one that got all modules at once, with the
//! same errors, plans and results. A change processes what depends on it, not all modules.
//!
//! `tests/cases/recompile` contains files with several texts each. Random sequences replace, add and remove them. The
//! recorded programs of `tests/cases/agreement` and the rejected ones of `tests/cases/compile` are used, too. `STEPS`
//! sets their length.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failing test"
)]

#[path = "recompile/many.rs"]
mod many;
#[path = "recompile/random.rs"]
mod random;
#[path = "recompile/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Json;

use random::Random;
use world::World;

/// Files with the texts that each may have, and the documents to evaluate.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    v0: bool,
    data: Option<Json>,
    #[serde(default)]
    inputs: Vec<Json>,
    #[serde(default)]
    queries: Vec<String>,
    files: BTreeMap<String, Vec<String>>,
}

/// The number of accepted changes that kept some modules compiled, and of all accepted changes.
#[derive(Default)]
struct ReuseCounts {
    some: usize,
    all: usize,
}

#[test]
fn written_modules_change_as_they_compile() {
    let mut kept = ReuseCounts::default();
    for file in files("recompile") {
        let text = fs::read_to_string(&file).unwrap();
        let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
        for case in cases {
            walk(&case, steps(150), &mut kept);
        }
    }
    assert!(kept.some * 2 > kept.all, "{} of {}", kept.some, kept.all);
}

#[test]
fn recorded_modules_change_as_they_compile() {
    let mut kept = ReuseCounts::default();
    let mut cases = Vec::new();
    for file in files("agreement") {
        let text = fs::read_to_string(&file).unwrap();
        let records: Vec<Json> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for together in records.chunks(4).step_by(12) {
            cases.push(together_recorded(together));
        }
    }
    for file in files("compile") {
        let text = fs::read_to_string(&file).unwrap();
        let records: Vec<Json> = serde_json::from_str(&text).unwrap();
        for together in records.chunks(4).step_by(6) {
            cases.push(together_rejected(together));
        }
    }
    for case in cases {
        walk(&case, steps(9), &mut kept);
    }
    assert!(kept.some * 8 > kept.all, "{} of {}", kept.some, kept.all);
}

fn steps(usual: usize) -> usize {
    let asked = std::env::var("STEPS").ok();
    asked.map_or(usual, |asked| asked.parse().unwrap())
}

/// Returns the files of a folder of cases, in order.
fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    let entries = fs::read_dir(root.join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|kind| kind != "txt"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no cases in {folder}");
    files
}

/// Combines recorded programs: each file has the texts that it has in any of them.
fn together_recorded(records: &[Json]) -> Case {
    let mut case = Case {
        note: records[0]["case"].to_string(),
        strict: false,
        v0: records[0]["request"]["v0"] == true,
        data: records[0]["request"].get("data").cloned(),
        inputs: Vec::new(),
        queries: Vec::new(),
        files: BTreeMap::new(),
    };
    for (record, position) in records.iter().zip(0..) {
        let request = &record["request"];
        case.inputs.extend(request.get("input").cloned());
        case.queries
            .extend(request["query"].as_str().map(str::to_owned));
        add_files(&mut case, &request["modules"], position);
    }
    case
}

fn together_rejected(records: &[Json]) -> Case {
    let mut case = Case {
        note: records[0]["note"].to_string(),
        strict: records.iter().any(|record| record["strict"] == true),
        v0: records[0]["v0"] == true,
        data: records[0].get("data").cloned(),
        inputs: Vec::new(),
        queries: vec!["data".to_owned()],
        files: BTreeMap::new(),
    };
    for (record, position) in records.iter().zip(0..) {
        add_files(&mut case, &record["modules"], position);
    }
    case
}

/// Adds the texts of files, to existing files of the same name or as new files.
fn add_files(case: &mut Case, modules: &Json, position: usize) {
    for (name, text) in modules.as_object().into_iter().flatten() {
        let text = text.as_str().unwrap().to_owned();
        let apart = format!("{position}/{name}");
        // in a package of its own it conflicts with others less often
        let alone = text.replacen("package ", &format!("package alone{position}."), 1);
        case.files.entry(apart).or_default().push(alone);
        case.files.entry(name.clone()).or_default().push(text);
    }
}

/// Changes files at random, one or two at a time.
fn walk(case: &Case, steps: usize, kept: &mut ReuseCounts) {
    let mut random = Random::new(&case.note);
    let names: Vec<&String> = case.files.keys().collect();
    let mut world = World::new(case);
    for step in 0..steps {
        let count = 1 + random.less_than(8) / 6;
        let mut changes = BTreeMap::new();
        for _ in 0..count {
            let name = names[random.less_than(names.len())];
            let texts = &case.files[name];
            let text =
                (random.less_than(6) > 0).then(|| texts[random.less_than(texts.len())].as_str());
            changes.insert(name.as_str(), text);
        }
        let accepted = world.change(&changes);
        match accepted {
            Err(difference) => panic!("{}, step {step}: {changes:#?}\n{difference}", case.note),
            Ok(None) => {}
            Ok(Some(some)) => {
                kept.all += 1;
                kept.some += usize::from(some);
            }
        }
    }
}
