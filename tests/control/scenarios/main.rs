//! The program `solon control` as processes: kills (`killed`), scenarios of a running service (`service`), repositories to decisions
//! (`end_to_end`), their traces (`traces`), servers with certificates of a private authority (`private_authority`), the page in a
//! browser (`browser`), and scenarios of `solon control build`: files of `tests/cases/control/scenarios`, each a list of cases.
//!
//! A case has a `note`, `files` of a folder, the folders that become Git repositories (`git`), variables of the environment
//! (`env`), and further arguments (`args`). It runs twice, with and without `--non-interactive`, and expects the exit `code`,
//! parts of the report (`stderr`) and of the log lines (`log`), and the entries of each archive (`archives`). Entries are recorded
//! by `BLESS=1`. `compat` runs it with `--compat ocp`. `HTTP_ENDPOINT` is the address of the server of `endpoint`.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a panic here is a failing test"
)]

#[path = "../storage/emulators.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod emulators;
#[path = "../../server/telemetry/receiver.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod receiver;
#[path = "../../servers/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod servers;
#[path = "../../server/decision_logs/sink.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod sink;
#[path = "../sync"]
#[allow(dead_code, reason = "other tests use the rest")]
mod sync {
    pub mod git_server;
    pub mod http_server;
    pub mod ssh_server;
}
#[path = "../../servers/tls.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod tls;
#[path = "../../time/waiting.rs"]
mod waiting;

mod browser;
mod end_to_end;
mod endpoint;
mod killed;
mod private_authority;
mod process;
mod service;
mod traces;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

/// The entries of an archive in their order.
type Entries = Vec<(String, String)>;

#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    compat: bool,
    files: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folders: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    git: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    #[serde(default)]
    code: i32,
    stderr: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    log: Vec<String>,
    #[serde(default)]
    archives: BTreeMap<String, Entries>,
}

/// A folder of a test, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("solon-scenario-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Commits the files of a folder. Names and times are fixed, and so is the id of the commit.
fn commit(folder: &Path) {
    let time = "2026-01-01T00:00:00Z";
    for arguments in [
        &["init", "--quiet", "--initial-branch", "main"][..],
        &["add", "."],
        &["commit", "--quiet", "--message", "files"],
    ] {
        let mut git = Command::new("git");
        git.current_dir(folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_DATE", time)
            .env("GIT_COMMITTER_DATE", time)
            .args(["-c", "user.name=test", "-c", "user.email=test@example.com"]);
        let output = git.args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {text}");
    }
}

fn write(folder: &Path, files: &BTreeMap<String, String>) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn run(case: &Case, more: &[&str]) -> (Output, Folder) {
    let folder = Folder::new();
    write(&folder.0, &case.files);
    for name in &case.folders {
        std::fs::create_dir_all(folder.0.join(name)).unwrap();
    }
    for repository in &case.git {
        commit(&folder.0.join(repository));
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_solon"));
    command
        .args(["control", "build", "--config", "config.d"])
        .args(["--data-dir", "data"])
        .args(&case.args)
        .args(more)
        .current_dir(&folder.0)
        .env("HTTP_ENDPOINT", endpoint::address())
        .envs(&case.env);
    if case.compat {
        command.args(["--compat", "ocp"]);
    }
    (command.output().unwrap(), folder)
}

fn entries(path: &Path) -> Entries {
    entries_of(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn entries_of(path: &Path) -> std::io::Result<Entries> {
    let file = std::fs::File::open(path)?;
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let entry = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text)?;
        Ok((name, text))
    };
    archive.entries()?.map(entry).collect()
}

fn check(case: &Case, is_recording: bool) -> Result<BTreeMap<String, Entries>, String> {
    let mut archives = BTreeMap::new();
    for more in [&[][..], &["--non-interactive"]] {
        let (output, folder) = run(case, more);
        let stderr = String::from_utf8(output.stderr).unwrap();
        let wrong = |what: String| Err(format!("{}: {more:?}: {what}\n{stderr}", case.note));
        if output.status.code() != Some(case.code) {
            return wrong(format!("exit code {:?}", output.status.code()));
        }
        if !output.stdout.is_empty() {
            return wrong("standard output is not empty".to_owned());
        }
        let parts = if more.is_empty() {
            &case.stderr
        } else {
            &case.log
        };
        if let Some(absent) = parts.iter().find(|part| !stderr.contains(*part)) {
            return wrong(format!("no {absent:?}"));
        }
        if !more.is_empty() && case.log.is_empty() && !stderr.is_empty() {
            return wrong("not silent".to_owned());
        }
        for (path, wanted) in &case.archives {
            let found = entries(&folder.0.join(path));
            if !is_recording && found != *wanted {
                return wrong(format!("{path}: {found:#?}"));
            }
            archives.insert(path.clone(), found);
        }
    }
    Ok(archives)
}

#[test]
fn scenarios() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/control/scenarios");
    let is_recording = std::env::var_os("BLESS").is_some();
    let mut failed = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut cases: Vec<Case> = serde_json::from_str(&text).unwrap();
        for case in &mut cases {
            count += 1;
            match check(case, is_recording) {
                Ok(archives) => case.archives = archives,
                Err(words) => failed.push(words),
            }
        }
        if is_recording {
            let text = serde_json::to_string_pretty(&cases).unwrap();
            std::fs::write(path, text + "\n").unwrap();
        }
    }
    assert!(count >= 20, "{count} cases");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
