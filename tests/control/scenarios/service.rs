//! Scenarios of a running service: files of `tests/cases/control/services`, each a list of cases.
//!
//! A case has a `note`, `files` of a folder, folders that become Git repositories (`git`), variables of the environment (`env`), and
//! `steps` in order. `ocp.json` runs as users of OPA Control Plane run it; `weak_points.json` are inputs that harm OPA Control Plane.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use crate::process::Process;
use crate::waiting::{Waiting, wait_for};
use crate::{Folder, commit, endpoint, entries_of, write};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceCase {
    note: String,
    files: BTreeMap<String, String>,
    #[serde(default)]
    git: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    /// Runs `solon control` with these arguments until it ends.
    Command(Ending),
    /// Starts `solon control run` with these arguments.
    Start(Vec<String>),
    Send(Exchange),
    /// Waits until an archive contains these members of the manifest and this data.
    Archive {
        path: String,
        manifest: BTreeMap<String, Value>,
        data: Value,
    },
    /// Checks that a file exists.
    File(String),
    /// Waits until `GET /metrics` contains these lines.
    Metrics {
        authorization: String,
        lines: Vec<String>,
    },
}

/// An exchange that is repeated until the response is the expected one, or that is expected at once.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    request: String,
    #[serde(default)]
    authorization: Option<String>,
    #[serde(default)]
    body: Value,
    status: u16,
    #[serde(default)]
    response: Option<Value>,
    #[serde(default)]
    repeated: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ending {
    args: Vec<String>,
    #[serde(default)]
    code: i32,
    /// Parts of the output. If there are none, the output must be empty.
    #[serde(default)]
    stdout: Vec<String>,
    #[serde(default)]
    stderr: Vec<String>,
}

impl Exchange {
    fn send(&self, service: &Process, folder: &Path) -> (u16, String) {
        let authorization = match &self.authorization {
            Some(text) => format!("Authorization: {text}\r\n"),
            None => String::new(),
        };
        let body = if self.body.is_null() {
            String::new()
        } else {
            self.body.to_string()
        };
        service.send(folder, &self.request, &authorization, &body)
    }
}

fn command(folder: &Path, case: &ServiceCase) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_solon"));
    command
        .arg("control")
        .current_dir(folder)
        .env("HTTP_ENDPOINT", endpoint::address())
        .envs(&case.env);
    command
}

/// Checks that an output contains all parts, or that it is empty if none is expected.
fn check_output(name: &str, output: &[u8], parts: &[String]) -> Result<(), String> {
    let text = String::from_utf8_lossy(output);
    if parts.is_empty() && !text.is_empty() {
        return Err(format!("{name} is not empty: {text}"));
    }
    match parts.iter().find(|part| !text.contains(*part)) {
        Some(absent) => Err(format!("{name} does not contain {absent:?}: {text}")),
        None => Ok(()),
    }
}

fn end(folder: &Path, case: &ServiceCase, ending: &Ending) -> Result<(), String> {
    let output = command(folder, case).args(&ending.args).output().unwrap();
    if output.status.code() != Some(ending.code) {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("exit code {:?}: {text}", output.status.code()));
    }
    check_output("standard output", &output.stdout, &ending.stdout)?;
    check_output("standard error", &output.stderr, &ending.stderr)
}

fn exchange(service: &Process, folder: &Path, exchange: &Exchange) -> Result<(), String> {
    let waiting = Waiting::until(&exchange.request);
    loop {
        let (status, text) = exchange.send(service, folder);
        let found: Value = serde_json::from_str(&text).unwrap_or_default();
        let is_expected = exchange
            .response
            .as_ref()
            .is_none_or(|body| contains(&found, body));
        if status == exchange.status && is_expected {
            return Ok(());
        }
        if !exchange.repeated {
            return Err(format!("{}: {status} {text}", exchange.request));
        }
        waiting.pause();
    }
}

/// Returns `true` if a value has all members of an expected object. Other values must be equal.
fn contains(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => expected
            .iter()
            .all(|(name, value)| found.get(name).is_some_and(|found| contains(found, value))),
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len()
                && found
                    .iter()
                    .zip(expected)
                    .all(|(found, expected)| contains(found, expected))
        }
        _ => found == expected,
    }
}

fn wait_for_archive(path: &Path, manifest: &BTreeMap<String, Value>, data: &Value) {
    let what = format!("{} has {manifest:?} and {data}", path.display());
    wait_for(&what, || {
        // the file may not exist yet
        let entries = entries_of(path).ok()?;
        let entry = |wanted: &str| {
            let text = entries.iter().find(|(name, _)| name == wanted);
            text.map(|(_, text)| serde_json::from_str::<Value>(text).unwrap())
        };
        let found = entry("/.manifest")?;
        let is_expected = |(name, value): (&String, &Value)| found.get(name) == Some(value);
        (manifest.iter().all(is_expected) && entry("/data.json")? == *data).then_some(())
    });
}

fn check(case: &ServiceCase) -> Result<(), String> {
    let folder = Folder::new();
    write(&folder.0, &case.files);
    for repository in &case.git {
        commit(&folder.0.join(repository));
    }
    let mut running = None;
    for (at, step) in case.steps.iter().enumerate() {
        let service = || running.as_ref().ok_or("no service runs");
        let done = match step {
            Step::Command(ending) => end(&folder.0, case, ending),
            Step::Start(args) => {
                let mut command = command(&folder.0, case);
                command.arg("run").args(args);
                Process::start(command, "Control plane initialized.")
                    .map(|service| running = Some(service))
            }
            Step::Send(sent) => exchange(service()?, &folder.0, sent),
            Step::Archive {
                path,
                manifest,
                data,
            } => {
                wait_for_archive(&folder.0.join(path), manifest, data);
                Ok(())
            }
            Step::File(path) => {
                let exists = folder.0.join(path).is_file();
                exists
                    .then_some(())
                    .ok_or_else(|| format!("no file {path}"))
            }
            Step::Metrics {
                authorization,
                lines,
            } => metrics(service()?, &folder.0, authorization, lines),
        };
        done.map_err(|error| format!("{}: step {at}: {error}", case.note))?;
    }
    Ok(())
}

fn metrics(
    service: &Process,
    folder: &Path,
    authorization: &str,
    lines: &[String],
) -> Result<(), String> {
    let header = format!("Authorization: {authorization}\r\n");
    let waiting = Waiting::until("the metrics have their values");
    loop {
        let (status, text) = service.send(folder, "GET /metrics", &header, "");
        if status != 200 {
            return Err(format!("GET /metrics: {status}"));
        }
        if lines
            .iter()
            .all(|line| text.lines().any(|found| found == line))
        {
            return Ok(());
        }
        waiting.pause();
    }
}

#[test]
fn services() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/control/services");
    let (mut failed, mut count) = (Vec::new(), 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let cases: Vec<ServiceCase> = serde_json::from_str(&text).unwrap();
        count += cases.len();
        failed.extend(cases.iter().filter_map(|case| check(case).err()));
    }
    assert!(count >= 20, "{count} cases");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
