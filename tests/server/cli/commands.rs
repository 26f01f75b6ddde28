//! Commands whose results were recorded from OPA.
//!
//! A file of `tests/cases/commands` is a list of cases with a `note`, `files`, optional `archives`, and `runs`: `args`,
//! optional `stdin` and `env`, and the exit `code`, `stdout` and `stderr`. `SOLON_RECORD=PATH`, the program of OPA, records
//! them. A run with `own` is one that OPA does not have; `BLESS=1` records these. Times are omitted, and a run with
//! `numbers` ignores all numbers.
//!
//! Archives that a run writes are compared entry by entry: mode, name and contents. `before` lists runs that come first.
//!
//! OPA shows results in the order in which tests end. A record is repeated until that is the order of files and rows.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use solon::bundle::{Bundle, BundleFile};

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    files: BTreeMap<String, String>,
    /// Archives of bundles: their entries in order, each with its path and text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    archives: BTreeMap<String, Vec<(String, String)>>,
    runs: Vec<Run>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Run {
    args: Vec<String>,
    /// Arguments of runs before this one, in the same folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    before: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdin: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
    /// Only Solon supports it.
    #[serde(default, skip_serializing_if = "is_false")]
    own: bool,
    /// Numbers differ from run to run.
    #[serde(default, skip_serializing_if = "is_false")]
    numbers: bool,
    /// OPA prints errors of `run` to standard output, Solon to standard error: both are compared as one text.
    #[serde(default, skip_serializing_if = "is_false")]
    merged: bool,
    /// Solon shows the line of an error where OPA does not (`docs/differences.md`).
    #[serde(default, skip_serializing_if = "is_false")]
    excerpts: bool,
    #[serde(default)]
    want: Want,
}

#[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
struct Want {
    code: i32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    stdout: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    stderr: String,
    /// Contents of files that the command has changed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
    /// Entries of archives that the command has written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    archives: BTreeMap<String, Vec<String>>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A folder with the files of a case, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, case: &Case) -> Self {
        let name = format!("solon-commands-{}-{name}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        folder.write(case);
        folder
    }

    fn write(&self, case: &Case) {
        let _ = fs::remove_dir_all(&self.0);
        fs::create_dir_all(&self.0).unwrap();
        for (name, text) in &case.files {
            let path = self.0.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for (name, entries) in &case.archives {
            let file = |(path, text): &(String, String)| BundleFile {
                path: path.clone(),
                bytes: text.as_bytes().to_vec(),
            };
            let files: Vec<_> = entries.iter().map(file).collect();
            let archive = Bundle::write_archive(&files).unwrap();
            fs::write(self.0.join(name), archive).unwrap();
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(program: &str, folder: &Folder, case: &Case, run: &Run) -> Want {
    folder.write(case);
    for args in &run.before {
        let mut command = Command::new(program);
        let output = command.args(args).current_dir(&folder.0).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    }
    let mut command = Command::new(program);
    for (name, value) in &run.env {
        // the names of variables of both programs differ only in the prefix
        let prefix = if program.ends_with("solon") {
            "SOLON_"
        } else {
            "OPA_"
        };
        command.env(format!("{prefix}{name}"), value);
    }
    let mut child = command
        .args(&run.args)
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // a command that reads no input may have ended before the input is written
    let stdin = run.stdin.as_deref().unwrap_or_default();
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    let here = folder.0.to_str().unwrap();
    let text = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap().replace(here, "FOLDER");
        timeless(&text, run.numbers)
    };
    let changed = case.files.iter().filter_map(|(name, before)| {
        let now = fs::read_to_string(folder.0.join(name)).ok()?;
        (now != *before).then(|| (name.clone(), now))
    });
    let (mut stdout, mut stderr) = (text(output.stdout), text(output.stderr));
    if run.excerpts {
        for text in [&mut stdout, &mut stderr] {
            let lines = text.split_inclusive('\n');
            *text = lines.filter(|line| !line.starts_with('\t')).collect();
        }
    }
    if run.merged {
        stdout += &std::mem::take(&mut stderr);
    }
    Want {
        code: output.status.code().unwrap_or(-1),
        stdout,
        stderr,
        files: changed.collect(),
        archives: archives(&folder.0, case),
    }
}

/// Returns the archives in a folder that are not files of the case, entry by entry.
fn archives(folder: &Path, case: &Case) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_given =
            case.archives.contains_key(&name) || case.files.iter().any(|(file, _)| *file == name);
        let extension = path.extension().unwrap_or_default();
        if is_given || extension != "gz" && extension != "tgz" {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let header = entry.header();
            let numbers = [header.uid(), header.gid(), header.mtime()].map(Result::unwrap);
            assert_eq!(numbers, [0; 3], "{name}");
            let mode = header.mode().unwrap();
            let path = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            format!("{mode:04o} {path}\n{text}")
        });
        found.insert(name.clone(), entries.collect());
    }
    found
}

/// Returns the text without times, decision ids and, unless they are compared, numbers.
fn timeless(text: &str, numbers: bool) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let line = replaced(line, " (", ")\n", |time| {
            let unit = time.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            unit.len() < time.len() && ["ns", "µs", "ms", "s"].contains(&unit)
        });
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let line = replaced(&line, "\"duration\": ", ",\n", digits);
        let line = replaced(&line, "\"duration\": ", "\n", digits);
        let line = replaced(&line, "\"decision_id\": \"", "\"", |_| true);
        let line = replaced(&line, "\"time\":\"", "\"", |_| true);
        let line = replaced(&line, " time=\"", "\"", |_| true);
        replaced(&line, " timestamp=\"", "\"", |_| true)
    });
    let text: String = lines.collect();
    if !numbers {
        return text;
    }
    let mut out = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        let is_again = (c == '0' || c == ' ' || c == '─') && out.ends_with(c);
        let is_point = c == '.' && out.ends_with('0');
        if !is_again && !is_point {
            out.push(c);
        }
    }
    out
}

/// Returns the line with the text between `before` and `after` replaced, if it is a time.
fn replaced(line: &str, before: &str, after: &str, is_time: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(before) {
        let (head, tail) = rest.split_at(at + before.len());
        out.push_str(head);
        rest = tail;
        let end = rest.find(after).unwrap_or(rest.len());
        let (time, tail) = rest.split_at(end);
        if !tail.is_empty() && is_time(time) {
            out.push_str("TIME");
            rest = tail;
        }
    }
    out + rest
}

/// `true` if the tests of a report are in the order of files and rows.
fn is_in_order(want: &Want) -> bool {
    let report = want.stdout.split("\nFAILURES\n").next().unwrap();
    let mut places: Vec<(String, u32)> = Vec::new();
    let mut file = String::new();
    for line in report.lines() {
        let place = line
            .strip_suffix(':')
            .and_then(|line| line.rsplit_once(':'));
        if let Some((file, row)) = place
            && let Ok(row) = row.parse()
            && !line.starts_with(' ')
        {
            places.push((file.to_owned(), row));
        } else if let Some(name) = line.strip_prefix("      \"file\": ") {
            name.clone_into(&mut file);
        } else if let Some(row) = line.strip_prefix("      \"row\": ") {
            places.push((file.clone(), row.trim_end_matches(',').parse().unwrap()));
        }
    }
    places.is_sorted()
}

fn record(oracle: &str, folder: &Folder, case: &Case, one: &Run) -> Want {
    for _ in 0..400 {
        let want = run(oracle, folder, case, one);
        if is_in_order(&want) {
            return want;
        }
    }
    panic!("{}: {:?}: never in order", case.note, one.args);
}

#[test]
fn recorded_from_opa() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/commands");
    let oracle = std::env::var("SOLON_RECORD").ok();
    let bless = std::env::var_os("BLESS").is_some();
    let only = std::env::var("SOLON_COMMANDS").ok();
    let (mut failures, mut count) = (Vec::new(), 0);
    for entry in fs::read_dir(cases).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let mut all: Vec<Case> = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in &mut all {
            let folder = Folder::new(&name, case);
            for at in 0..case.runs.len() {
                count += 1;
                let one = &case.runs[at];
                if let (Some(oracle), false) = (&oracle, one.own) {
                    let want = record(oracle, &folder, case, one);
                    case.runs[at].want = want;
                    continue;
                }
                let got = run(env!("CARGO_BIN_EXE_solon"), &folder, case, one);
                if bless && one.own {
                    case.runs[at].want = got;
                } else if got != one.want {
                    let (want, args) = (&one.want, one.args.join(" "));
                    failures.push(format!(
                        "{name}: {}: {args}\n--- want {}\n{}\n{}{:?}{:#?}\n--- got {}\n{}\n{}{:?}{:#?}",
                        case.note,
                        want.code,
                        want.stdout,
                        want.stderr,
                        want.files,
                        want.archives,
                        got.code,
                        got.stdout,
                        got.stderr,
                        got.files,
                        got.archives,
                    ));
                }
            }
        }
        if oracle.is_some() || bless {
            fs::write(&path, serde_json::to_string_pretty(&all).unwrap() + "\n").unwrap();
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count} runs:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(only.is_some() || count >= 40, "only {count} runs");
}
