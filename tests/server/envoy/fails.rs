//! Checks without a decision: they are denied, and are never an error of gRPC.

use std::io::Write as _;
use std::net::TcpListener;

use envoy_types::pb::envoy::service::auth::v3::CheckResponse;
use envoy_types::pb::envoy::service::auth::v3::check_response::HttpResponse;
use serde_json::{Value, json};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::checks::{Authorization, check_of_path, response_json};
use crate::client::get;
use crate::process::Server;

fn status(response: &CheckResponse) -> (i32, i32) {
    let code = response.status.as_ref().unwrap().code;
    let Some(HttpResponse::DeniedResponse(denied)) = &response.http_response else {
        panic!("not denied: {response:?}");
    };
    (code, denied.status.as_ref().unwrap().code)
}

#[test]
fn undefined_decisions_are_denied_and_logged() {
    let mut server = Authorization::start(&json!({"path": "no/such"}), &[], "package a");
    let response = server.check(check_of_path("/a")).unwrap();
    assert_eq!(status(&response), (7, 403));
    let denied = response_json(&response)["denied"].clone();
    assert_eq!(denied, json!({"status": 403}), "clients see no reason");
    let is_event = |line: &Value| line["msg"] == "Decision Log";
    let lines = server.server.logged("an event", 1, is_event);
    let event = lines.iter().find(|line| is_event(line)).unwrap();
    assert_eq!(event["path"], "no/such");
    assert!(
        event["error"].to_string().contains("undefined decision"),
        "{event}"
    );
}

#[test]
fn the_status_of_errors_is_configured() {
    let settings = json!({"error-status": 503});
    let server = Authorization::start(&settings, &[], "package a");
    let response = server.check(check_of_path("/a")).unwrap();
    assert_eq!(status(&response), (7, 503));
}

#[test]
fn errors_are_those_of_the_plugin_in_its_mode() {
    let mut server = Authorization::start(&json!({}), &["--compat", "opa"], "package a");
    let error = server.check(check_of_path("/a")).unwrap_err();
    assert_eq!(error.code(), tonic::Code::Unknown);
    assert_eq!(error.message(), "undefined decision");
    let is_warning = |line: &Value| {
        let text = line["msg"].as_str().unwrap_or_default();
        text.contains("`failure_mode_allow`")
    };
    server.server.logged("a warning", 1, is_warning);
}

#[test]
fn dry_runs_override_decisions_and_no_errors() {
    let policy = "package envoy.authz\nallow := false if input.parsed_path[0] == \"denied\"";
    let settings = json!({"dry-run": true});
    let mut server = Authorization::start(&settings, &[], policy);
    let response = server.check(check_of_path("/denied")).unwrap();
    assert_eq!(
        response_json(&response),
        json!({"code": 0, "ok": {}, "metadata": {}})
    );
    let response = server.check(check_of_path("/undefined")).unwrap();
    assert_eq!(status(&response), (7, 403));
    let response = server.check(check_of_path("/%zz")).unwrap();
    assert_eq!(status(&response), (7, 400));
    let is_override = |line: &Value| {
        line["level"] == "warn"
            && line["msg"]
                .as_str()
                .unwrap_or_default()
                .contains("`dry-run`")
    };
    server.server.logged("a warning", 1, is_override);
}

#[test]
fn evaluations_end_with_their_callers() {
    let policy = "package envoy.authz\nallow if count([x | some x in numbers.range(1, 100000); x in numbers.range(1, 100000)]) > 0";
    let server = Authorization::start(&json!({}), &["--timeout", "2s"], policy);
    let response = server.check(check_of_path("/a"));
    assert_eq!(status(&response.unwrap()), (7, 403));
    // the caller's own timeout ends the call for the caller
    let response = server.check_within(check_of_path("/a"), Some("100m"));
    match response {
        Ok(response) => assert_eq!(status(&response), (7, 403)),
        Err(error) => assert_ne!(error.code(), tonic::Code::Ok),
    }
}

#[test]
fn large_messages_are_rejected() {
    let settings = json!({"grpc-max-recv-msg-size": 1000});
    let server = Authorization::start(&settings, &[], "package envoy.authz\nallow := true");
    assert!(server.check(check_of_path("/a")).is_ok());
    let error = server.check(check_of_path(&"a".repeat(1000))).unwrap_err();
    assert_eq!(error.code(), tonic::Code::OutOfRange);
}

#[test]
fn listeners_that_cannot_be_opened_end_the_start() {
    for (settings, want) in [
        (
            json!({"addr": "127.0.0.1"}),
            "plugins.envoy_ext_authz_grpc: listen 127.0.0.1",
        ),
        (
            json!({"proto-descriptor": "/no/such"}),
            "plugins.envoy_ext_authz_grpc: open /no/such",
        ),
        (
            json!({"tls-cert-file": "/no/such"}),
            "tls-cert-file: must be set together",
        ),
        (
            json!({"query": "data.a"}),
            "plugins.envoy_ext_authz_grpc.query: not supported yet",
        ),
        (
            json!({"enable-reflection": true}),
            "enable-reflection: not supported yet",
        ),
        (
            json!({"dry-run": "yes"}),
            "plugins.envoy_ext_authz_grpc.dry-run: expected a boolean",
        ),
        (
            json!({"grpc-max-recv-msg-size": -1}),
            "grpc-max-recv-msg-size: must be a positive number",
        ),
        (
            json!({"error-status": 200}),
            "error-status: must be from 400 to 599",
        ),
        (
            json!({"dry_run": true}),
            "unknown configuration option \"plugins.envoy_ext_authz_grpc.dry_run\"",
        ),
        (
            json!({"grpc-request-duration-seconds-buckets": [1, 0.5]}),
            "grpc-request-duration-seconds-buckets: must be in ascending order",
        ),
    ] {
        let set = format!("plugins.envoy_ext_authz_grpc={settings}");
        let folder = crate::process::Folder::with(&[(
            "c.json",
            &json!({"plugins": {"envoy_ext_authz_grpc": settings}}).to_string(),
        )]);
        let file = folder.path().join("c.json");
        let flags = [
            "--addr",
            "127.0.0.1:0",
            "--config-file",
            file.to_str().unwrap(),
        ];
        let (code, text) = Server::fail(&flags);
        assert!(code != Some(0) && text.contains(want), "{set}: {text}");
    }
    let (code, text) = Server::fail(&["--set", "plugins.other.a=1"]);
    assert!(code != Some(0) && text.contains("plugins.other"), "{text}");
}

#[test]
fn health_and_metrics_show_the_service() {
    let settings = json!({"enable-performance-metrics": true});
    let server = Authorization::start(&settings, &[], "package envoy.authz\nallow := true");
    server.check(check_of_path("/a")).unwrap();
    server.check(check_of_path("/%zz")).unwrap();
    let text = get(server.server.address(), "/metrics");
    let text = text.text();
    for want in [
        "grpc_request_duration_seconds_count{handler=\"check\"} 1\n",
        "error_counter_total{reason=\"request_parse_error\"} 1\n",
    ] {
        assert!(text.contains(want), "{want}");
    }
    let ready = get(server.server.address(), "/health?plugins");
    assert_eq!(ready.status, 200);
    let address = format!("http://{}", server.address);
    server.block_on(async {
        let channel = tonic::transport::Channel::from_shared(address).unwrap();
        let mut health = HealthClient::new(channel.connect().await.unwrap());
        for service in ["", "envoy.service.auth.v3.Authorization"] {
            let request = HealthCheckRequest {
                service: service.to_owned(),
            };
            let response = health.check(request).await.unwrap().into_inner();
            assert_eq!(response.status, 1, "{service}");
        }
    });
}

#[test]
fn open_calls_end_before_the_server_stops() {
    let backend = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = backend.local_addr().unwrap();
    let policy = format!(
        "package envoy.authz\nallow if http.send({{\"method\": \"get\", \"url\": \"http://{address}\"}}).status_code == 200"
    );
    let mut server = Authorization::start(&json!({}), &[], &policy);
    let call = server.begin(check_of_path("/a"));
    let (mut waiting, _) = backend.accept().unwrap();
    // the decision waits for the backend, and the backend for the signal
    server.server.signal("TERM");
    server.server.logged_message("Stopping gRPC server.");
    let reply = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    waiting.write_all(reply).unwrap();
    let response = server.block_on(call).unwrap().unwrap().into_inner();
    assert_eq!(response.status.unwrap().code, 0);
    assert_eq!(server.server.wait(), Some(0));
    assert!(server.check(check_of_path("/a")).is_err());
}
