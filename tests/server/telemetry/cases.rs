//! Recorded cases: files of `tests/cases/telemetry`, each a list of servers and the requests of their clients.
//!
//! A case has a `note`, options of `distributed_tracing` (`tracing`), `files` in which `UPSTREAM` is replaced by the address of a service,
//! and `requests` as in the cases of decision logs. The service responds with the statuses of `upstream`. Recorded are the spans
//! of the server, sorted. Ids, ports and sizes of responses are recorded as `true`. `SOLON_RECORD=PROGRAM` records the spans of that
//! program, OPA.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::process::Folder;
use crate::receiver::received;
use crate::sink::Sink;
use crate::waiting::{Waiting, wait_for};

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    tracing: Value,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    upstream: Vec<u16>,
    requests: Vec<Exchange>,
    #[serde(default)]
    spans: Vec<Value>,
    #[serde(default)]
    upstream_traces: Vec<bool>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    #[serde(rename = "ask")]
    request_line: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    with: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

/// Runs all cases.
pub fn run() {
    let opa = std::env::var("SOLON_RECORD").ok();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/telemetry/spans.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    let mut failures = Vec::new();
    for case in &mut cases {
        match &opa {
            Some(program) => (case.spans, case.upstream_traces) = case.run(program, &[]),
            None => {
                let flags = ["--compat", "opa"];
                let (spans, traces) = case.run(env!("CARGO_BIN_EXE_solon"), &flags);
                if spans != case.spans {
                    let show = |spans: &[Value]| {
                        let lines: Vec<_> = spans.iter().map(|span| format!("  {span}")).collect();
                        lines.join("\n")
                    };
                    failures.push(format!(
                        "{}\n want\n{}\n got\n{}",
                        case.note,
                        show(&case.spans),
                        show(&spans)
                    ));
                }
                assert_eq!(traces, case.upstream_traces, "{}", case.note);
            }
        }
    }
    if opa.is_some() {
        std::fs::write(&path, serde_json::to_string_pretty(&cases).unwrap() + "\n").unwrap();
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

impl Case {
    /// Returns the spans, and for each request to the service whether it continued a trace.
    fn run(&self, program: &str, flags: &[&str]) -> (Vec<Value>, Vec<bool>) {
        let (collector, upstream) = (Sink::start(), Sink::start());
        upstream.respond(&self.upstream);
        let address = |sink: &Sink| sink.url().trim_start_matches("http://").to_owned();
        let mut tracing = json!({"type": "http", "address": address(&collector)});
        for (name, value) in self.tracing.as_object().into_iter().flatten() {
            tracing[name] = value.clone();
        }
        let config = json!({"distributed_tracing": tracing, "decision_logs": {"console": true}});
        let config = config.to_string();
        let texts: Vec<(String, String)> = self
            .files
            .iter()
            .map(|(name, text)| (name.clone(), text.replace("UPSTREAM", &address(&upstream))))
            .collect();
        let mut files: Vec<(&str, &str)> = texts
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        files.push(("c.json", &config));
        let folder = Folder::with(&files);
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = free.local_addr().unwrap().to_string();
        drop(free);
        let mut child = Command::new(program)
            .args(["run", "--server", "--addr", &server, "-c", "c.json"])
            .args(flags)
            .args(names)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let waiting = Waiting::until("the server starts");
        while TcpStream::connect(&server).is_err() {
            assert!(child.try_wait().unwrap().is_none(), "{}", self.note);
            waiting.pause();
        }
        for exchange in &self.requests {
            exchange.send(&server);
        }
        if program.ends_with("opa") {
            // OPA does not send waiting spans when it stops
            std::thread::sleep(std::time::Duration::from_secs(6));
        }
        let mut kill = Command::new("kill");
        kill.args(["-TERM", &child.id().to_string()]);
        assert!(kill.status().unwrap().success());
        wait_for("the server ends", || child.try_wait().unwrap());
        let mut spans: Vec<Value> = received(&collector).spans();
        let ids: Vec<Value> = spans.iter().map(|span| span["id"].clone()).collect();
        for span in &mut spans {
            normalize(span, &ids);
        }
        spans.sort_by_key(Value::to_string);
        let traced = upstream.uploads().into_iter();
        let traced = traced.map(|upload| upload.header("traceparent").is_some());
        (spans, traced.collect())
    }
}

/// Replaces values that differ between runs.
fn normalize(span: &mut Value, ids: &[Value]) {
    let parent = span["parent"].as_str().unwrap();
    let parent = match parent {
        "" => "none",
        _ if ids.contains(&span["parent"]) => "a span of this server",
        given => given,
    };
    span["parent"] = parent.into();
    for name in ["id", "trace"] {
        if span["parent"] == "none" || span["parent"] == "a span of this server" || name == "id" {
            span[name] = true.into();
        }
    }
    let attributes = span["attributes"].as_object_mut().unwrap();
    // Solon does not know the version of a response to `http.send`
    if attributes.contains_key("url.full") {
        attributes.remove("network.protocol.version");
    }
    // OPA names a type of Go
    if let Some(Value::String(kind)) = attributes.get_mut("error.type")
        && kind.starts_with('*')
    {
        "_OTHER".clone_into(kind);
    }
    let status = attributes.get("http.response.status_code");
    let status = status.and_then(Value::as_u64).unwrap_or(0);
    // these responses have other bodies on purpose
    if [301, 405].contains(&status) {
        attributes.remove("http.response.body.size");
    }
    for name in [
        "network.peer.port",
        "opa.decision_id",
        "http.response.body.size",
        "server.port",
    ] {
        if let Some(value) = attributes.get_mut(name) {
            *value = true.into();
        }
    }
    if let Some(Value::String(url)) = attributes.get_mut("url.full") {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        *url = format!("http://UPSTREAM/{path}");
    }
}

impl Exchange {
    fn send(&self, address: &str) {
        let (method, target) = self.request_line.split_once(' ').unwrap();
        let mut message = Message::new(method, target);
        for (name, value) in &self.with {
            message = message.header(name, value);
        }
        let body = self.body.clone().unwrap_or_default();
        Client::connect(address).send(&message.body(body));
    }
}
