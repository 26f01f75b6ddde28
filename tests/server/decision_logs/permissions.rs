//! Files of decision logs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::client::Client;
use crate::process::{Folder, Server};
use crate::sink::Sink;
use crate::upload::{POLICY, decide};
use crate::waiting::wait_until;

/// Adds the files below a folder with their permissions.
fn files(folder: &Path, found: &mut Vec<(String, u32)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), found);
        } else {
            let name = entry.file_name().into_string().unwrap();
            found.push((name, entry.metadata().unwrap().permissions().mode() & 0o777));
        }
    }
}

#[test]
fn other_users_cannot_read_any_file_of_the_log() {
    let folder = Folder::with(&[]);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let sink = Sink::start();
    let config = json!({
        "services": {"sink": {"url": sink.url()}},
        "decision_logs": {
            "service": "sink",
            "file": {"path": path("log.jsonl"), "max_bytes": 1000},
            "sqlite": {"path": path("log.db")},
            "spool": {"directory": path("spool")},
        },
    });
    let mut command = Command::new("sh");
    // every user may read new files unless the server says otherwise
    command.args(["-c", r#"umask 0; exec "$0" "$@" -c c.yaml"#]);
    command.arg(env!("CARGO_BIN_EXE_solon"));
    let config = config.to_string();
    let server = Server::start_by(command, &[], &[("p.rego", POLICY), ("c.yaml", &config)]);
    let mut client = Client::connect(server.address());
    for number in 0..20 {
        decide(&mut client, number);
    }
    let found = || {
        let mut found = Vec::new();
        files(folder.path(), &mut found);
        found
    };
    wait_until("each kind of file exists", || {
        let found = found();
        let has = |part: &str| found.iter().any(|(name, _)| name.contains(part));
        ["log.jsonl", "log.jsonl.1", "log.db", "log.db-wal"]
            .iter()
            .all(|name| has(name))
            && found.iter().any(|(name, _)| !name.starts_with("log."))
    });
    for (name, mode) in found() {
        assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
    }
}
