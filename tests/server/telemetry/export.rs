//! Export of spans and metrics: protocols, resources, batches, and receivers that fail.

use std::collections::BTreeSet;
use std::net::TcpListener;

use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::process::Server;
use crate::receiver::{GrpcReceiver, Received, attributes, received};
use crate::sink::Sink;
use crate::waiting::{wait_for, wait_until};

const POLICY: &str = "package p\n\nallow := input.x\n";

fn start(config: &Value, flags: &[&str]) -> Server {
    let flags: Vec<&str> = ["-c", "c.yaml", "--log-level", "info"]
        .iter()
        .chain(flags)
        .copied()
        .collect();
    let config = config.to_string();
    Server::start_with(&flags, &[("p.rego", POLICY), ("c.yaml", &config)])
}

fn address(sink: &Sink) -> String {
    sink.url().trim_start_matches("http://").to_owned()
}

fn decide(client: &mut Client) -> Value {
    let answer =
        client.send(&Message::new("POST", "/v1/data/p/allow").body(r#"{"input":{"x":1}}"#));
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_str(&answer.text()).unwrap()
}

fn resource() -> Value {
    json!({
        "service_version": "7",
        "service_instance_id": "i",
        "service_namespace": "n",
        "deployment_environment": "prod",
    })
}

#[test]
fn both_protocols_carry_spans_with_their_resource() {
    let grpc = GrpcReceiver::start();
    let http = Sink::start();
    let check = |kind: &str, address: &str, received: &dyn Fn() -> Received| {
        let config = json!({"distributed_tracing": {
            "type": kind, "address": address, "service_name": "authz", "resource": resource(),
            "batch_span_processor_options": {"batch_timeout_ms": 20},
        }});
        let server = start(&config, &[]);
        decide(&mut Client::connect(server.address()));
        wait_until("a span arrives", || !received().spans().is_empty());
        let received = received();
        let traces = received.traces.lock().unwrap();
        let found = attributes(
            &traces[0].resource_spans[0]
                .resource
                .as_ref()
                .unwrap()
                .attributes,
        );
        let want = json!({
            "service.name": "authz", "service.version": "7", "service.instance.id": "i",
            "service.namespace": "n", "deployment.environment": "prod",
        });
        assert_eq!(found, want, "{kind}");
    };
    check("grpc", &grpc.address, &|| grpc.received.clone());
    check("http", &address(&http), &|| received(&http));
}

#[test]
fn the_decision_log_names_trace_and_span() {
    let (collector, sink) = (Sink::start(), Sink::start());
    let config = json!({
        "services": {"sink": {"url": sink.url()}},
        "decision_logs": {"service": "sink", "reporting": {"min_delay_seconds": 0, "max_delay_seconds": 0}},
        "status": {"service": "sink"},
        "distributed_tracing": {
            "type": "http", "address": address(&collector),
            "batch_span_processor_options": {"batch_timeout_ms": 20},
        },
    });
    let server = start(&config, &[]);
    let id = decide(&mut Client::connect(server.address()))["decision_id"].clone();
    let logs = || {
        let uploads = sink.uploads().into_iter();
        let logs = uploads.filter(|upload| upload.line.starts_with("POST /logs"));
        logs.collect::<Vec<_>>()
    };
    wait_until("the event arrives", || !logs().is_empty());
    let event = logs()[0].events()[0].clone();
    let spans = || received(&collector).spans();
    let of_request = || {
        let spans = spans().into_iter();
        spans
            .clone()
            .find(|span| span["attributes"]["opa.decision_id"] == id)
    };
    let span = wait_for("the span arrives", of_request);
    assert_eq!(event["trace_id"], span["trace"]);
    assert_eq!(event["span_id"], span["id"]);
    // each upload is a trace of its own, whose ids the service receives
    for (path, line) in [("/logs", "POST /logs"), ("/status", "POST /status")] {
        let url = format!("{}{path}", sink.url());
        let of_upload = || {
            let spans = spans().into_iter();
            spans
                .clone()
                .find(|span| span["attributes"]["url.full"] == *url)
        };
        let span = wait_for("the span of the upload arrives", of_upload);
        assert_eq!(span["parent"], "");
        let text = |name: &str| span[name].as_str().unwrap().to_owned();
        let want = format!("00-{}-{}-01", text("trace"), text("id"));
        let uploads = sink.uploads();
        let mut uploads = uploads
            .iter()
            .filter(|upload| upload.line.starts_with(line));
        assert!(
            uploads.any(|upload| upload.header("traceparent") == Some(&want)),
            "{path}"
        );
    }
}

#[test]
fn checks_of_proxies_are_traced() {
    let collector = Sink::start();
    let config = json!({
        "plugins": {"envoy_ext_authz_grpc": {
            "addr": "127.0.0.1:0", "http-addr": "127.0.0.1:0", "path": "p/checked",
        }},
        "decision_logs": {"console": true},
        "distributed_tracing": {
            "type": "http", "address": address(&collector),
            "batch_span_processor_options": {"batch_timeout_ms": 20},
        },
    });
    let policy = "package p\n\nchecked := true\n";
    let flags = ["-c", "c.yaml", "--log-level", "info"];
    let files = [("p.rego", policy), ("c.yaml", &*config.to_string())];
    let mut server = Server::start_with(&flags, &files);
    let line = server.logged_message("Starting gRPC server.");
    let check = Message::new("GET", "/x").header(
        "traceparent",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    );
    let answer = Client::connect(line["http_addr"].as_str().unwrap()).send(&check);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let spans = || received(&collector).spans();
    wait_until("the span arrives", || !spans().is_empty());
    let span = spans().remove(0);
    assert_eq!(span["name"], "envoy.service.auth.v3.Authorization/Check");
    assert_eq!(span["kind"], "SPAN_KIND_SERVER");
    assert_eq!(span["trace"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(span["parent"], "b7ad6b7169203331");
    let event = server.logged_message("Decision Log");
    assert_eq!(event["span_id"], span["id"]);
    assert_eq!(event["trace_id"], span["trace"]);
    assert_eq!(event["decision_id"], span["attributes"]["opa.decision_id"]);
}

#[test]
fn waiting_spans_are_sent_when_the_server_stops() {
    let collector = Sink::start();
    let config = json!({"distributed_tracing": {
        "type": "http", "address": address(&collector),
        "batch_span_processor_options": {"batch_timeout_ms": 1_000_000},
    }});
    let mut server = start(&config, &[]);
    let mut client = Client::connect(server.address());
    for _ in 0..100 {
        decide(&mut client);
    }
    assert!(received(&collector).spans().is_empty());
    server.terminate();
    assert_eq!(received(&collector).spans().len(), 100);
}

#[test]
fn a_failing_receiver_gets_the_spans_again() {
    let collector = Sink::start();
    collector.respond(&[503, 429]);
    let config = json!({"distributed_tracing": {
        "type": "http", "address": address(&collector),
        "batch_span_processor_options": {"batch_timeout_ms": 20},
    }});
    let server = start(&config, &[]);
    decide(&mut Client::connect(server.address()));
    wait_until("the span arrives", || {
        received(&collector).spans().len() == 1
    });
    let statuses: Vec<u16> = collector
        .uploads()
        .iter()
        .map(|upload| upload.status)
        .collect();
    assert_eq!(statuses, [503, 429, 200]);
}

#[test]
fn a_dead_receiver_does_not_delay_decisions_and_its_memory_is_limited() {
    // it accepts connections and never responds
    let dead = TcpListener::bind("127.0.0.1:0").unwrap();
    for kind in ["http", "grpc"] {
        let config = json!({
            "distributed_tracing": {
                "type": kind, "address": dead.local_addr().unwrap().to_string(),
                "batch_span_processor_options": {
                    "batch_timeout_ms": 1, "max_queue_size": 64, "max_export_batch_size": 8,
                },
            },
            "metrics_export": {"type": format!("otlp/{kind}"), "address": dead.local_addr().unwrap().to_string(), "export_interval_ms": 10},
        });
        let mut server = start(&config, &["--shutdown-grace-period", "1"]);
        let mut client = Client::connect(server.address());
        for _ in 0..500 {
            decide(&mut client);
        }
        let before = server.memory("VmRSS");
        for _ in 0..5000 {
            decide(&mut client);
        }
        let grown = server.memory("VmRSS").saturating_sub(before);
        assert!(grown < 20_000, "{kind}: {grown} KiB");
        // the last export does not hang
        assert_eq!(server.terminate(), Some(0), "{kind}");
    }
}

#[test]
fn metrics_are_exported_over_both_protocols() {
    let grpc = GrpcReceiver::start();
    let http = Sink::start();
    let check = |kind: &str, address: &str, received: &dyn Fn() -> Received| {
        let config = json!({"metrics_export": {
            "type": kind, "address": address, "export_interval_ms": 50, "resource": resource(),
        }});
        let server = start(&config, &["--compat", "opa"]);
        decide(&mut Client::connect(server.address()));
        let metric = |name: &str| {
            let received = received();
            let requests = received.metrics.lock().unwrap();
            let request = requests.last()?;
            let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
            metrics.iter().find(|metric| metric.name == name).cloned()
        };
        let durations = wait_for("the duration of the decision arrives", || {
            metric("http_request_duration_seconds")
        });
        let Some(Data::Histogram(histogram)) = durations.data else {
            panic!("{durations:?}");
        };
        let point = &histogram.data_points[0];
        assert_eq!(
            attributes(&point.attributes),
            json!({"code": "200", "handler": "v1/data", "method": "post"})
        );
        assert_eq!(point.count, 1);
        assert_eq!(point.bucket_counts.iter().sum::<u64>(), 1);
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        assert_eq!(
            point.explicit_bounds,
            [1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 0.01, 0.1, 1.0]
        );
        // OPA's default: metrics have no exemplars
        assert!(point.exemplars.is_empty());
        assert!(point.start_time_unix_nano <= point.time_unix_nano);
        let requests = metric("solon_requests_total").unwrap();
        let Some(Data::Sum(sum)) = requests.data else {
            panic!("{requests:?}");
        };
        assert!(sum.is_monotonic);
        let gauge = metric("solon_generation").unwrap();
        assert!(matches!(gauge.data, Some(Data::Gauge(_))));
        let received = received();
        let requests = received.metrics.lock().unwrap();
        let resource = requests[0].resource_metrics[0].resource.as_ref().unwrap();
        assert_eq!(
            attributes(&resource.attributes),
            json!({
                "service.name": "opa", "service.version": "7", "service.instance.id": "i",
                "service.namespace": "n", "deployment.environment": "prod",
            }),
            "{kind}"
        );
    };
    check("otlp/grpc", &grpc.address, &|| grpc.received.clone());
    check("otlp/http", &address(&http), &|| received(&http));
}

#[test]
fn without_tracing_no_request_continues_a_trace() {
    let sink = Sink::start();
    let config = json!({
        "services": {"sink": {"url": sink.url()}},
        "decision_logs": {"service": "sink", "reporting": {"min_delay_seconds": 0, "max_delay_seconds": 0}},
        "distributed_tracing": {"address": "127.0.0.1:1"},
    });
    let server = start(&config, &[]);
    decide(&mut Client::connect(server.address()));
    wait_until("the event arrives", || !sink.events().is_empty());
    let names: BTreeSet<String> = sink.uploads()[0]
        .headers
        .iter()
        .map(|(name, _)| name.clone())
        .collect();
    assert!(!names.contains("traceparent"), "{names:?}");
    assert!(sink.events()[0]["trace_id"].is_null());
}

#[test]
fn files_and_values_that_are_not_valid_are_rejected_at_the_start() {
    let config = |section: &str, more: &str| format!("{{{section}: {{{more}}}}}");
    for (section, more, want) in [
        (
            "distributed_tracing",
            "type: http, encryption: tls, tls_ca_cert_file: /nope",
            "read CA cert file: open /nope: no such file or directory",
        ),
        (
            "distributed_tracing",
            "type: grpc, encryption: tls, tls_ca_cert_file: c.yaml",
            "failed to parse CA cert \"c.yaml\"",
        ),
        (
            "distributed_tracing",
            "type: http, encryption: mtls, tls_cert_file: /nope, tls_private_key_file: /nope",
            "open /nope: no such file or directory",
        ),
        (
            "distributed_tracing",
            "type: http, exclude_paths: ['[a']",
            "invalid distributed_tracing.exclude_paths pattern '[a': ",
        ),
        (
            "distributed_tracing",
            "type: http, address: 'http://a:1/x'",
            "expected a host and a port",
        ),
        (
            "metrics_export",
            "type: otlp/http, encryption: tls, tls_ca_cert_file: /nope",
            "read CA cert file: open /nope: no such file or directory",
        ),
    ] {
        let folder = crate::process::Folder::with(&[("c.yaml", &config(section, more))]);
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_solon"))
            .args(["run", "--server", "--addr", "127.0.0.1:0", "-c", "c.yaml"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{more}: {text}");
        assert!(text.contains(want), "{more}: {text}");
    }
}
