//! Uploads to a service that responds, fails, or does not respond, and the other sinks.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::client::{Client, Message, get};
use crate::process::Server;
use crate::sink::Sink;
use crate::waiting::wait_until;

pub const POLICY: &str = "package p\n\nallow := input.x\n";

/// Returns the configuration of a log that uploads immediately.
pub fn config(sink: &Sink, section: &Value) -> String {
    let mut logs = json!({
        "service": "sink",
        "reporting": {"min_delay_seconds": 0, "max_delay_seconds": 0},
    });
    for (name, value) in section.as_object().unwrap() {
        logs[name] = value.clone();
    }
    json!({"services": {"sink": {"url": sink.url()}}, "decision_logs": logs}).to_string()
}

pub fn start(config: &str) -> Server {
    let flags = ["-c", "c.yaml", "--log-level", "info"];
    Server::start_with(&flags, &[("p.rego", POLICY), ("c.yaml", config)])
}

/// Makes a decision. Returns its id.
pub fn decide(client: &mut Client, number: usize) -> String {
    let body = json!({"input": {"x": number}}).to_string();
    let answer = client.send(&Message::new("POST", "/v1/data/p/allow").body(body));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer: Value = serde_json::from_str(&answer.text()).unwrap();
    answer["decision_id"].as_str().unwrap().to_owned()
}

pub fn ids(events: &[Value]) -> BTreeSet<String> {
    let ids = events.iter().map(|event| event["decision_id"].as_str());
    ids.map(|id| id.unwrap().to_owned()).collect()
}

/// Returns a value of `/metrics`.
fn metric(address: &str, name: &str) -> u64 {
    let text = get(address, "/metrics").text();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name}: {text}"))
        .parse()
        .unwrap()
}

#[test]
fn a_failed_upload_and_the_next_success_are_sent_as_status() {
    let sink = Sink::start();
    let statuses = Sink::start();
    sink.respond(&[500]);
    let config = json!({
        "services": {"sink": {"url": sink.url()}, "statuses": {"url": statuses.url()}},
        "status": {"service": "statuses", "prometheus": true},
        "decision_logs": {"service": "sink", "reporting": {"min_delay_seconds": 0, "max_delay_seconds": 0}},
    });
    let server = start(&config.to_string());
    decide(&mut Client::connect(server.address()), 1);
    let sent = || -> Vec<Value> {
        let uploads = statuses.uploads().into_iter();
        uploads
            .filter_map(|upload| serde_json::from_slice(&upload.body).ok())
            .collect()
    };
    wait_until("a failure and a success arrive", || {
        let logs: Vec<Value> = sent()
            .iter()
            .map(|status| status["decision_logs"].clone())
            .collect();
        let failed = logs.iter().position(|logs| {
            *logs
                == json!({
                    "code": "decision_log_error",
                    "http_code": 500,
                    "message": "log upload failed, server replied with HTTP 500 Internal Server Error",
                })
        });
        failed.is_some_and(|failed| logs.iter().skip(failed).any(|logs| *logs == json!({})))
    });
    let gauge = |status: &Value| {
        status["metrics"]["prometheus"]["decision_logs_status_gauge"]["metric"][0]["label"].clone()
    };
    let failed = json!([
        {"name": "code", "value": "decision_log_error"},
        {"name": "http_code", "value": "500"},
    ]);
    assert!(sent().iter().any(|status| gauge(status) == failed));
}

#[test]
fn failed_uploads_are_repeated_and_reported() {
    let sink = Sink::start();
    sink.respond(&[500, 429, 404]);
    let config = config(&sink, &json!({}));
    let config = config.replacen('{', r#"{"status":{"prometheus":true},"#, 1);
    let mut server = start(&config);
    let mut client = Client::connect(server.address());
    let sent: BTreeSet<String> = (0..20).map(|number| decide(&mut client, number)).collect();
    wait_until("all events arrive", || ids(&sink.events()) == sent);
    let uploads = sink.uploads();
    assert_eq!(uploads[0].line, "POST /logs HTTP/1.1");
    assert_eq!(uploads[0].header("content-type"), Some("application/json"));
    assert_eq!(uploads[0].header("content-encoding"), Some("gzip"));
    // the same bytes again
    assert_eq!(uploads[0].body, uploads[1].body);
    assert_eq!(
        metric(server.address(), "decision_logs_chunks_upload_failed_total"),
        3
    );
    // with the names and values of OPA
    wait_until("the status counts uploads", || {
        let status: Value =
            serde_json::from_str(&get(server.address(), "/v1/status").text()).unwrap();
        let metrics = &status["result"]["metrics"]["prometheus"];
        metrics["counter_decision_logs_chunks_upload_failed"] == 3
            && metrics["counter_decision_logs_chunks_uploaded"].as_u64() > Some(0)
            && metrics["counter_decision_logs_encoding_failure"].is_null()
            && metrics["decision_logs_status_gauge"]["metric"][0]["label"][1]
                == json!({"name": "http_code", "value": ""})
    });
    assert_eq!(
        metric(server.address(), "decision_logs_buffer_size_bytes"),
        0
    );
    wait_until("the status has no error", || {
        let status: Value =
            serde_json::from_str(&get(server.address(), "/v1/status").text()).unwrap();
        assert_eq!(status["result"]["plugins"]["decision_logs"]["state"], "OK");
        status["result"]["decision_logs"] == json!({})
    });
    let messages: Vec<String> = server
        .log()
        .iter()
        .filter(|line| line["msg"] == "Log upload failed.")
        .map(|line| line["err"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        messages,
        [
            "log upload failed, server replied with HTTP 500 Internal Server Error",
            "log upload failed, server replied with HTTP 429 Too Many Requests",
            "log upload failed, server replied with HTTP 404 Not Found",
        ]
    );
}

#[test]
fn what_waits_is_uploaded_when_the_server_stops() {
    let sink = Sink::start();
    let reporting = json!({"reporting": {"min_delay_seconds": 1000, "max_delay_seconds": 1000}});
    let mut server = start(&config(&sink, &reporting));
    let mut client = Client::connect(server.address());
    let sent: BTreeSet<String> = (0..500).map(|number| decide(&mut client, number)).collect();
    assert!(sink.uploads().is_empty());
    assert_eq!(server.terminate(), Some(0));
    assert_eq!(ids(&sink.events()), sent);
}

#[test]
fn full_chunks_are_uploaded_at_once_if_the_configuration_demands_it() {
    let sink = Sink::start();
    let reporting = json!({"reporting": {
        "min_delay_seconds": 1000, "max_delay_seconds": 1000, "trigger": "immediate", "upload_size_limit_bytes": 1000,
    }});
    let server = start(&config(&sink, &reporting));
    let mut client = Client::connect(server.address());
    for number in 0..300 {
        decide(&mut client, number);
    }
    wait_until("chunks arrive", || sink.events().len() > 50);
    assert!(
        sink.uploads()
            .iter()
            .all(|upload| upload.body.len() <= 1000)
    );
}

#[test]
fn events_beyond_the_limits_are_dropped_and_counted() {
    let sink = Sink::start();
    let mut rates = json!({"min_delay_seconds": 1000, "max_delay_seconds": 1000, "max_decisions_per_second": 0.001});
    for (name, counter, left) in [
        ("", "decision_logs_dropped_rate_limit_exceeded_total", 1),
        (
            "event",
            "decision_logs_dropped_buffer_size_limit_exceeded_total",
            5,
        ),
    ] {
        if name == "event" {
            rates = json!({"min_delay_seconds": 1000, "max_delay_seconds": 1000, "buffer_type": name, "buffer_size_limit_events": 5});
        }
        let server = start(&config(&sink, &json!({"reporting": rates})));
        let mut client = Client::connect(server.address());
        (0..20).for_each(|number| drop(decide(&mut client, number)));
        assert_eq!(metric(server.address(), counter), 20 - left);
        assert_eq!(
            metric(server.address(), "solon_decision_logs_waiting_events"),
            left
        );
    }
}

#[test]
fn a_mask_that_fails_is_counted_and_nothing_is_disclosed() {
    let sink = Sink::start();
    let policy = "package system.log\n\nmask contains \"/input/secret\" if not input.input.bad\n\nmask contains 7 if input.input.bad\n";
    let section = json!({"console": true, "stdout": false, "file": {"path": "d.jsonl"}, "spool": {"directory": "spool"}});
    let config = config(&sink, &section);
    let files = [
        ("p.rego", POLICY),
        ("log.rego", policy),
        ("c.yaml", &config),
    ];
    let mut server = Server::start_with(&["-c", "c.yaml"], &files);
    let mut client = Client::connect(server.address());
    for bad in [false, true] {
        let body = json!({"input": {"x": 1, "secret": "s3cr3t", "bad": bad}}).to_string();
        let answer = client.send(&Message::new("POST", "/v1/data/p/allow").body(body));
        assert_eq!(answer.status, 200);
    }
    assert_eq!(
        metric(server.address(), "solon_decision_logs_mask_failures_total"),
        1
    );
    wait_until("an event arrives", || !sink.events().is_empty());
    let lines: Vec<String> = server.log().iter().map(Value::to_string).collect();
    assert!(
        lines
            .iter()
            .any(|line| line.contains("Log event masking failed: invalid mask rule format"))
    );
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.contains("Decision Log"))
            .count(),
        1
    );
    let mut disclosed = lines.concat().into_bytes();
    let folder = server.folder();
    disclosed.extend(std::fs::read(folder.join("d.jsonl")).unwrap());
    for entry in std::fs::read_dir(folder.join("spool")).unwrap() {
        disclosed.extend(std::fs::read(entry.unwrap().path()).unwrap());
    }
    for event in sink.events() {
        assert_eq!(event["erased"], json!(["/input/secret"]));
        disclosed.extend(event.to_string().into_bytes());
    }
    assert!(!String::from_utf8_lossy(&disclosed).contains("s3cr3t"));
    assert_eq!(sink.events().len(), 1);
}

#[test]
fn each_input_of_a_batch_has_an_event() {
    let sink = Sink::start();
    let server = start(&config(&sink, &json!({})));
    let body = json!({"inputs": {"a": {"x": 1}, "b": {}}, "common_input": {"y": 2}}).to_string();
    let message = Message::new("POST", "/v1/batch/data/p/allow").body(body);
    let answer = Client::connect(server.address()).send(&message);
    let answer: Value = serde_json::from_str(&answer.text()).unwrap();
    wait_until("both events arrive", || sink.events().len() == 2);
    for event in sink.events() {
        let name = if event["input"]["x"] == 1 { "a" } else { "b" };
        assert_eq!(event["batch_decision_id"], answer["batch_decision_id"]);
        assert_eq!(
            event["decision_id"],
            answer["responses"][name]["decision_id"]
        );
        assert_eq!(event["input"]["y"], 2);
        assert_eq!(event["custom"], json!({"type": "eopa.styra.com/batch"}));
    }
}

/// A change of the configuration at run time loses no event.
#[test]
fn a_change_of_the_configuration_keeps_what_waits() {
    let sink = Sink::start();
    let slow = json!({"reporting": {"min_delay_seconds": 1000, "max_delay_seconds": 1000}});
    let first = config(&sink, &slow);
    let flags = ["-c", "c.yaml", "--watch-config"];
    let mut server = Server::start_with(&flags, &[("p.rego", POLICY), ("c.yaml", &first)]);
    let mut client = Client::connect(server.address());
    let mut sent = BTreeSet::new();
    for (turn, section) in [
        json!({"resource": "/other"}),
        json!({"reporting": {"min_delay_seconds": 1000, "max_delay_seconds": 1000, "buffer_type": "event"}}),
        json!({"resource": "/last"}),
    ]
    .iter()
    .enumerate()
    {
        sent.extend((0..50).map(|number| decide(&mut client, number)));
        let changed = config(&sink, section);
        // in one step: a file that is being written may be read empty
        std::fs::write(server.folder().join("new.yaml"), changed).unwrap();
        let (new, old) = ("new.yaml", "c.yaml");
        std::fs::rename(server.folder().join(new), server.folder().join(old)).unwrap();
        server.logged("a reload", turn + 1, |line| line["msg"] == "Configuration reloaded.");
    }
    sent.extend((0..50).map(|number| decide(&mut client, number)));
    wait_until("all events arrive", || ids(&sink.events()) == sent);
}
