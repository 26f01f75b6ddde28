//! Recorded bundles.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use solon::bundle::{Bundle, BundleFile, LoadErrorKind, Loader, MemoryFiles};
use solon::{Change, Engine, Request, json};

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    files: Vec<File>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    archive: Option<Outcome>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<Outcome>,
    /// Solon's outcome, if it differs on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    solon: Option<Outcome>,
}

#[derive(Clone, Deserialize, Serialize)]
struct File {
    path: String,
    text: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// JSON of all documents and rules.
    Data(String),
    Error(String),
}

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/bundles/read.json")
}

impl Case {
    fn bundle_files(&self) -> Vec<BundleFile> {
        let file = |file: &File| BundleFile {
            path: file.path.clone(),
            bytes: file.text.clone().into_bytes(),
        };
        self.files.iter().map(file).collect()
    }

    /// Returns `true` if the files can be stored in a folder.
    fn fits_a_folder(&self) -> bool {
        let is_plain = |file: &File| {
            let path = file.path.trim_start_matches('/');
            !path.split('/').any(|step| matches!(step, "" | "." | ".."))
        };
        !self.files.is_empty() && self.files.iter().all(is_plain)
    }
}

fn outcome(files: &MemoryFiles, name: &str) -> Outcome {
    let loaded = match Loader::new(files).load_bundles(&[name]) {
        Ok(loaded) => loaded,
        Err(errors) => {
            let text = match errors.0.as_slice() {
                [error] if error.kind() == LoadErrorKind::Activation => {
                    format!("bundle activation failed: {error}")
                }
                _ => format!("loading error: {errors}"),
            };
            return Outcome::Error(text);
        }
    };
    let engine = Engine::new();
    let mut change = Change::default();
    change.load(&loaded);
    engine.apply(change).unwrap();
    let query = engine.prepare_query("x := data").unwrap();
    let solutions = query.solutions(&Request::new()).unwrap();
    let mut text = Vec::new();
    json::write(solutions[0].bindings[0].1.borrow(), &mut text);
    Outcome::Data(String::from_utf8(text).unwrap())
}

/// The files of each recorded bundle, with its note.
pub fn recorded_files() -> impl Iterator<Item = (String, Vec<BundleFile>)> {
    let text = std::fs::read_to_string(cases()).unwrap();
    let all: Vec<Case> = serde_json::from_str(&text).unwrap();
    all.into_iter()
        .map(|case| (case.note.clone(), case.bundle_files()))
}

#[test]
fn recorded_bundles_are_read_as_opa_reads_them() {
    let text = std::fs::read_to_string(cases()).unwrap();
    let mut all: Vec<Case> = serde_json::from_str(&text).unwrap();
    if let Ok(oracle) = std::env::var("SOLON_RECORD") {
        for case in &mut all {
            record(&oracle, case);
        }
        let text = serde_json::to_string_pretty(&all).unwrap() + "\n";
        std::fs::write(cases(), text).unwrap();
    }
    let mut failures = Vec::new();
    let mut compared = 0;
    for case in &all {
        let mut compare = |kind: &str, want: &Outcome, got: Outcome| {
            compared += 1;
            let want = case.solon.as_ref().unwrap_or(want);
            let got = match (want, got) {
                // Solon shows lines where OPA shows none
                (Outcome::Error(want), Outcome::Error(got)) if !want.contains("\n\t") => {
                    let lines = got.lines().filter(|line| !line.starts_with('\t'));
                    Outcome::Error(lines.collect::<Vec<_>>().join("\n"))
                }
                (_, got) => got,
            };
            if got != *want {
                failures.push(format!(
                    "{} ({kind})\n  want {want:?}\n  got  {got:?}",
                    case.note
                ));
            }
        };
        if let Some(want) = &case.archive {
            let archive = Bundle::write_archive(&case.bundle_files()).unwrap();
            let files = MemoryFiles::from([("b.tar.gz", archive)]);
            compare("archive", want, outcome(&files, "b.tar.gz"));
        }
        if let Some(want) = &case.folder {
            let mut files = MemoryFiles::default();
            for file in &case.files {
                files.insert(format!("b/{}", file.path), file.text.clone());
            }
            compare("folder", want, outcome(&files, "b"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(compared > 200, "only {compared}");
}

/// Records OPA's outcome for a bundle.
fn record(oracle: &str, case: &mut Case) {
    let folder = std::env::temp_dir().join(format!("solon-bundles-{}", std::process::id()));
    let run = |format: &str, name: &str| {
        let args = ["eval", "-f", format, "-b", name, "data"];
        let mut command = Command::new(oracle);
        command.args(args).current_dir(&folder).output().unwrap()
    };
    let evaluate = |name: &str| {
        let output = run("raw", name);
        if output.status.success() {
            let value = json::read(&output.stdout).unwrap();
            let mut text = Vec::new();
            json::write(value.borrow(), &mut text);
            return Outcome::Data(String::from_utf8(text).unwrap());
        }
        let output = run("json", name);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let errors = answer["errors"].as_array().unwrap();
        let message = errors[0]["message"].as_str().unwrap();
        Outcome::Error(message.to_owned())
    };
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let archive = Bundle::write_archive(&case.bundle_files()).unwrap();
    std::fs::write(folder.join("b.tar.gz"), archive).unwrap();
    case.archive = Some(evaluate("b.tar.gz"));
    case.folder = case.fits_a_folder().then(|| {
        for file in &case.files {
            let path = folder.join("b").join(file.path.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &file.text).unwrap();
        }
        evaluate("b")
    });
    let _ = std::fs::remove_dir_all(&folder);
}
