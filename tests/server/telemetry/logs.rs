//! Decision logs as log records over OTLP: contents, masks, protocols, and receivers that fail.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::client::{Client, Message, get};
use crate::process::Server;
use crate::receiver::{GrpcReceiver, Received, attributes, received};
use crate::sink::Sink;
use crate::waiting::wait_until;

const POLICY: &str = r"package p

allow := input.x

failing := 1 if input.y

failing := 2 if input.y
";

const LOG: &str = r#"package system.log

drop if input.path == "p/dropped"

mask contains "/input/password"

mask contains {"op": "upsert", "path": "/input/card", "value": "****"} if input.input.card
"#;

fn start(config: &Value) -> Server {
    let config = config.to_string();
    let files = [("p.rego", POLICY), ("log.rego", LOG), ("c.yaml", &*config)];
    Server::start_with(&["-c", "c.yaml"], &files)
}

fn decide(address: &str, path: &str, input: &Value) {
    let body = json!({ "input": input }).to_string();
    let message = Message::new("POST", &format!("/v1/data/{path}")).body(body);
    Client::connect(address).send(&message);
}

/// Returns a value of `/metrics`.
pub fn metric(address: &str, name: &str) -> u64 {
    let text = get(address, "/metrics").text();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name}: {text}"))
        .parse()
        .unwrap()
}

const FAILURES: &str = "solon_decision_logs_write_failures_total";

fn address(sink: &Sink) -> String {
    sink.url().trim_start_matches("http://").to_owned()
}

/// The event on the wire is the one of other sinks: dropped decisions are absent, masked fields nowhere in the bytes.
#[test]
fn both_protocols_carry_masked_events() {
    let grpc = GrpcReceiver::start();
    let http = Sink::start();
    let check = |kind: &str, address: &str, received: &dyn Fn() -> Received| {
        let config = json!({
            "labels": {"region": "eu"},
            "decision_logs": {"stdout": true, "otlp": {"type": kind, "address": address, "service_name": "authz",
                "resource": {"service_namespace": "n"}, "batch_timeout_ms": 20}},
            "distributed_tracing": {"type": "http", "address": "127.0.0.1:1"},
        });
        let server = start(&config);
        let at = server.address();
        decide(at, "p/dropped", &json!({"x": 1}));
        decide(
            at,
            "p/allow",
            &json!({"x": true, "password": "hunter2", "card": "4111"}),
        );
        wait_until("a record arrives", || !received().records().is_empty());
        let all = received();
        let record = all.records()[0].clone();
        let event = all.events()[0].clone();
        assert_eq!(event["path"], "p/allow", "{event}");
        assert_eq!(event["labels"]["region"], "eu", "{event}");
        assert_eq!(
            event["input"],
            json!({"x": true, "card": "****"}),
            "{event}"
        );
        assert_eq!(event["erased"], json!(["/input/password"]), "{event}");
        assert_eq!(event["masked"], json!(["/input/card"]), "{event}");
        assert_eq!(all.records().len(), 1);
        let bytes = format!("{:?}", all.logs.lock().unwrap());
        assert!(
            !bytes.contains("hunter2") && !bytes.contains("4111"),
            "{bytes}"
        );
        let want = json!({"decision_id": event["decision_id"], "path": "p/allow"});
        assert_eq!(attributes(&record.attributes), want);
        let hex =
            |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
        assert_eq!(event["trace_id"], hex(&record.trace_id));
        assert_eq!(event["span_id"], hex(&record.span_id));
        assert_eq!(
            (record.severity_text.as_str(), record.severity_number),
            ("INFO", 9)
        );
        let time: jiff::Timestamp = event["timestamp"].as_str().unwrap().parse().unwrap();
        assert_eq!(i128::from(record.time_unix_nano), time.as_nanosecond());
        let resource = all.logs.lock().unwrap()[0].resource_logs[0]
            .resource
            .clone();
        let resource = attributes(&resource.unwrap().attributes);
        assert_eq!(resource["service.name"], "authz");
        assert_eq!(resource["service.namespace"], "n");
        decide(at, "p/failing", &json!({"y": 2}));
        wait_until("another record arrives", || received().records().len() > 1);
        let record = received().records()[1].clone();
        assert_eq!(
            (record.severity_text.as_str(), record.severity_number),
            ("ERROR", 17)
        );
    };
    check("grpc", &grpc.address, &|| grpc.received.clone());
    check("http", &address(&http), &|| received(&http));
}

#[test]
fn a_receiver_that_fails_for_a_while_gets_every_event() {
    let sink = Sink::start();
    sink.respond(&[503, 503, 429]);
    let config = json!({"decision_logs": {"otlp": {"type": "http", "address": address(&sink),
        "batch_timeout_ms": 5, "max_export_batch_size": 7}}});
    let mut server = start(&config);
    for number in 0..50 {
        decide(server.address(), "p/allow", &json!({"x": number}));
    }
    // what waits is sent when the server stops
    assert_eq!(server.terminate(), Some(0));
    let events = received(&sink).events();
    let numbers: BTreeSet<u64> = events
        .iter()
        .map(|event| event["input"]["x"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..50).collect());
    let batches = received(&sink)
        .logs
        .lock()
        .unwrap()
        .iter()
        .map(|request| request.resource_logs[0].scope_logs[0].log_records.len())
        .max();
    assert!(batches <= Some(7), "{batches:?}");
}

/// Events are counted that a receiver rejects, that do not fit into the queue, or that are not sent in time.
#[test]
fn lost_events_are_counted() {
    let grpc = GrpcReceiver::start();
    *grpc.received.rejected.lock().unwrap() = 1;
    let config = json!({"decision_logs": {"otlp": {"type": "grpc", "address": grpc.address, "batch_timeout_ms": 5}}});
    let server = start(&config);
    decide(server.address(), "p/allow", &json!({"x": 1}));
    wait_until("the rejection is counted", || {
        metric(server.address(), FAILURES) == 1
    });
    drop(server);

    let sink = Sink::start();
    sink.respond(&[400]);
    let config = json!({"decision_logs": {"otlp": {"type": "http", "address": address(&sink), "batch_timeout_ms": 5}}});
    let server = start(&config);
    decide(server.address(), "p/allow", &json!({"x": 1}));
    wait_until("the failure is counted", || {
        metric(server.address(), FAILURES) == 1
    });
    drop(server);

    // nothing listens: a batch is tried until its time is over
    let config = json!({"decision_logs": {"otlp": {"type": "grpc", "address": "127.0.0.1:1", "batch_timeout_ms": 5,
        "export_timeout_ms": 300, "max_queue_size": 4, "max_export_batch_size": 2}}});
    let server = start(&config);
    for number in 0..40 {
        decide(server.address(), "p/allow", &json!({"x": number}));
    }
    wait_until("every event is counted", || {
        metric(server.address(), FAILURES) == 40
    });
    assert_eq!(
        metric(server.address(), "solon_decision_logs_events_total"),
        40
    );
}

#[test]
fn settings_of_log_records_are_checked() {
    for (section, message) in [
        (
            json!({"type": "udp"}),
            "decision_logs.otlp.type: expected `grpc` or `http`, got `udp`",
        ),
        (
            json!({"type": "grpc", "encryption": "ssl"}),
            "decision_logs.otlp.encryption: expected `off`, `tls` or `mtls`, got `ssl`",
        ),
        (
            json!({"type": "grpc", "max_queue_size": 0}),
            "decision_logs.otlp.max_queue_size: expected a number from 1 to 1000000, got 0",
        ),
        (
            json!({"type": "grpc", "batch_timeout_ms": -1}),
            "decision_logs.otlp.batch_timeout_ms: expected a number from 1 to",
        ),
        (
            json!({"type": "grpc", "encryption": "mtls"}),
            "tls_cert_file required but not supplied",
        ),
        (
            json!({"type": "grpc", "encryption": "tls", "tls_ca_cert_file": "/none.pem"}),
            "/none.pem: no such file",
        ),
        (json!({"type": "grpc", "adress": "a"}), "adress"),
    ] {
        let config = json!({"decision_logs": {"otlp": section}}).to_string();
        let folder = crate::process::Folder::with(&[("c.yaml", &config)]);
        let path = folder.path().join("c.yaml");
        let (code, text) = Server::fail(&["-c", path.to_str().unwrap()]);
        assert!(
            code != Some(0) && text.contains(message),
            "{config}: {text}"
        );
    }
}
