//! Recorded cases: files of `tests/cases/decision_logs`, each a list of servers and the requests of their clients.
//!
//! A case has a `note`, the `files` and the `config` of the server, `flags`, and `requests`. A request is `ask` (`METHOD
//! /target`), `with` (headers) and a `body` (text, or JSON that is sent as text). Recorded are:
//!
//! - `event`: the event that OPA uploads for the request
//! - `error`: the text that OPA's console shows for the member `error`
//! - `status`
//!
//! Times, ids, metrics and addresses are recorded as `true`. `solon` is the event of Solon where that differs from OPA's on
//! purpose, and `why` the reason. `SOLON_RECORD=PROGRAM` records what that program, OPA, uploads.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::process::Folder;
use crate::sink::Sink;
use crate::waiting::{HANG, Waiting, wait_for};

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    config: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    requests: Vec<Exchange>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    #[serde(rename = "ask")]
    request_line: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    with: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
    #[serde(default)]
    status: u16,
    #[serde(default)]
    event: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    solon: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// The results of the requests of a case.
struct Outcome {
    statuses: Vec<u16>,
    /// Events by the number of their request.
    uploaded: BTreeMap<u64, Value>,
    console: BTreeMap<u64, Value>,
}

/// Runs all cases of all files.
pub fn run() {
    let opa = std::env::var("SOLON_RECORD").ok();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/decision_logs");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|name| name == "json"))
        .collect();
    files.sort();
    let (mut failures, mut count) = (Vec::new(), 0);
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut cases: Vec<Case> = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in &mut cases {
            count += case.requests.len();
            match &opa {
                Some(program) => case.record(program),
                None => case.check(&mut failures),
            }
        }
        if opa.is_some() {
            std::fs::write(&path, serde_json::to_string_pretty(&cases).unwrap() + "\n").unwrap();
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count} requests:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(count >= 80, "only {count} requests");
}

impl Case {
    fn record(&mut self, program: &str) {
        let got = self.run(program, &[]);
        for (at, exchange) in self.requests.iter_mut().enumerate() {
            let number = at as u64 + 1;
            exchange.status = got.statuses[at];
            exchange.event = got.uploaded.get(&number).cloned();
            let error = got.console.get(&number).and_then(|line| line.get("error"));
            exchange.error = error.cloned();
        }
    }

    fn check(&self, failures: &mut Vec<String>) {
        let got = self.run(env!("CARGO_BIN_EXE_solon"), &["--compat", "opa"]);
        for (at, exchange) in self.requests.iter().enumerate() {
            let number = at as u64 + 1;
            let want = exchange.solon.as_ref().or(exchange.event.as_ref());
            let want = want.filter(|event| !event.is_null());
            let mut console = want.cloned();
            if let (Some(console), Some(error)) = (&mut console, &exchange.error) {
                console["error"] = error.clone();
            }
            for (what, want, got) in [
                ("uploaded", want, got.uploaded.get(&number)),
                ("on the console", console.as_ref(), got.console.get(&number)),
            ] {
                if want != got {
                    let show = |event: Option<&Value>| {
                        event.map_or_else(|| "none".to_owned(), Value::to_string)
                    };
                    failures.push(format!(
                        "{}: {} {}: {what}\n  want {}\n  got  {}",
                        self.note,
                        exchange.request_line,
                        exchange.body.clone().unwrap_or_default(),
                        show(want),
                        show(got)
                    ));
                }
            }
            if got.statuses[at] != exchange.status {
                failures.push(format!(
                    "{}: {}: status {}, expected {}",
                    self.note, exchange.request_line, got.statuses[at], exchange.status
                ));
            }
        }
    }

    /// The configuration with a service and the console.
    fn config(&self, sink: &Sink) -> String {
        let mut config = self.config.clone();
        if config.is_null() {
            config = json!({});
        }
        config["services"] = json!({"sink": {"url": sink.url()}});
        let section = &mut config["decision_logs"];
        if section.is_null() {
            *section = json!({});
        }
        section["console"] = true.into();
        section["service"] = "sink".into();
        config.to_string()
    }

    fn run(&self, program: &str, flags: &[&str]) -> Outcome {
        let sink = Sink::start();
        let config = self.config(&sink);
        let mut files: Vec<(&str, &str)> = self
            .files
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let names: Vec<&str> = files
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| !name.contains('/') && !name.starts_with('.'))
            .collect();
        files.push(("c.json", &config));
        let mut server = Running::start(program, flags, &self.flags, &names, &files);
        let statuses = self
            .requests
            .iter()
            .map(|exchange| exchange.send(&server.address))
            .collect();
        let console = server.stop();
        let events = |events: Vec<Value>| {
            let mut numbered = BTreeMap::new();
            for (at, event) in events.into_iter().enumerate() {
                let number = event["req_id"].as_u64().unwrap_or(at as u64 + 1);
                numbered.insert(number, normal(event));
            }
            numbered
        };
        Outcome {
            statuses,
            uploaded: events(sink.events()),
            console: events(console),
        }
    }
}

impl Exchange {
    fn send(&self, address: &str) -> u16 {
        let (method, target) = self.request_line.split_once(' ').unwrap();
        let mut message = Message::new(method, target);
        for (name, value) in &self.with {
            // several values of one header
            for value in value.split(" | ") {
                message = message.header(name, value);
            }
        }
        let body = match &self.body {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(json) => json.to_string(),
        };
        Client::connect(address).send(&message.body(body)).status
    }
}

/// Returns an event without the values that differ between runs.
fn normal(mut event: Value) -> Value {
    let fields = event.as_object_mut().unwrap();
    for name in ["level", "msg", "time", "type", "req_id"] {
        fields.remove(name);
    }
    for name in ["decision_id", "timestamp", "metrics", "requested_by"] {
        if let Some(value) = fields.get_mut(name) {
            *value = true.into();
        }
    }
    for name in ["id", "version"] {
        event["labels"][name] = true.into();
    }
    event
}

/// A server of either program.
struct Running {
    child: Child,
    address: String,
    lines: Receiver<String>,
    _folder: Folder,
}

impl Running {
    fn start(
        program: &str,
        flags: &[&str],
        more: &[String],
        names: &[&str],
        files: &[(&str, &str)],
    ) -> Self {
        let folder = Folder::with(files);
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let mut child = Command::new(program)
            .args(["run", "--server", "--addr", &address, "-c", "c.json"])
            .args(flags)
            .args(more)
            .args(names)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let log = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let waiting = Waiting::until("the server starts");
        while TcpStream::connect(&address).is_err() {
            if child.try_wait().unwrap().is_some() {
                let lines: Vec<String> = lines.iter().collect();
                panic!("{program} ended: {}", lines.join("\n"));
            }
            waiting.pause();
        }
        Self {
            child,
            address,
            lines,
            _folder: folder,
        }
    }

    /// Stops the server and returns the events in its console output.
    fn stop(&mut self) -> Vec<Value> {
        let mut kill = Command::new("kill");
        kill.args(["-TERM", &self.child.id().to_string()]);
        assert!(kill.status().unwrap().success());
        wait_for("the server ends", || self.child.try_wait().unwrap());
        let mut events = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(HANG) {
            if let Ok(line) = serde_json::from_str::<Value>(&line)
                && line["msg"] == "Decision Log"
            {
                events.push(line);
            }
        }
        events
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
