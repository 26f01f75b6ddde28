//! Spellings of flags, compared with OPA.
//!
//! `tests/cases/cli/forms.json` has a row for each command line with these columns:
//!
//! - the words, `''` for an empty one and `{folder}` for the folder that the command runs in.
//! - the outcome in OPA.
//! - the output of OPA.
//! - the outcome in Solon, where it differs on purpose.
//! - the output of Solon, where it differs on purpose.
//!
//! `SOLON_RECORD=PATH`, the program of OPA, records both again.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::{Folder, cases};

#[derive(Deserialize)]
struct Row(
    String,
    String,
    String,
    #[serde(default)] Option<String>,
    #[serde(default)] Option<String>,
);

/// Returns the outcome of a command and its output. The output is empty if the command failed because error texts differ.
fn outcome(program: &str, folder: &Folder, line: &str) -> (String, String) {
    let place = folder.0.to_str().unwrap();
    let words = line.split(' ').map(|word| match word {
        "''" => String::new(),
        word => word.replace("{folder}", place),
    });
    let output = Command::new(program)
        .args(words)
        .current_dir(&folder.0)
        .stdin(Stdio::from(
            std::fs::File::open(folder.0.join("users.json")).unwrap(),
        ))
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout)
        .unwrap()
        .replace(place, "{folder}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    // clap shows no usage if a value is invalid
    let is_usage = ["\nUsage:", "For more information, try '--help'"];
    match output.status.code() {
        Some(0) => ("answer".to_owned(), stdout),
        _ if is_usage.iter().any(|words| stderr.contains(words)) => {
            ("usage".to_owned(), String::new())
        }
        Some(1) if line.starts_with("eval ") => ("exit 1".to_owned(), stdout),
        _ => ("error".to_owned(), String::new()),
    }
}

/// Returns the outcome of a command of Solon and its output.
fn own_outcome(folder: &Folder, line: &str) -> (String, String) {
    outcome(env!("CARGO_BIN_EXE_solon"), folder, line)
}

#[test]
fn flags_take_the_forms_that_opa_takes() {
    let path = cases().join("forms.json");
    let rows: Vec<Row> = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let folder = Folder::new();
    if let Ok(opa) = std::env::var("SOLON_RECORD") {
        let mut text = "[".to_owned();
        for (at, Row(line, _, _, own, _)) in rows.iter().enumerate() {
            let (outcome, stdout) = outcome(&opa, &folder, line);
            let own = own.clone().filter(|own| *own != outcome);
            let own_stdout = own.as_ref().map(|_| own_outcome(&folder, line).1);
            let columns = [line.clone(), outcome, stdout].into_iter();
            let columns = columns.chain(own).chain(own_stdout);
            let columns = serde_json::to_string(&columns.collect::<Vec<_>>()).unwrap();
            write!(text, "{}\n  {columns}", if at == 0 { "" } else { "," }).unwrap();
        }
        std::fs::write(&path, text + "\n]\n").unwrap();
        return;
    }
    let mut failures = Vec::new();
    for Row(line, outcome_of_opa, printed, own, own_printed) in &rows {
        let got = own_outcome(&folder, line);
        let want = match own {
            Some(own) => (own.clone(), own_printed.clone().unwrap_or_default()),
            None => (outcome_of_opa.clone(), printed.clone()),
        };
        if got != want {
            failures.push(format!("{line}\n  want {want:?}\n  got  {got:?}"));
        }
    }
    let count = rows.len();
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(count >= 300, "only {count} rows");
}
