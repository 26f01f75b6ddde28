//! The service over HTTP.

use serde_json::json;

use crate::checks::Authorization;
use crate::client::{Answer, Client, Message};

const POLICY: &str = r#"package envoy.authz

http := input.attributes.request.http

allow := {"allowed": true, "headers": {"x-user": http.headers.authorization}, "request_headers_to_remove": ["cookie", "x-debug"]} if {
	http.method == "POST"
	input.parsed_path == ["pets", "1"]
	input.parsed_query.q == ["x"]
	input.parsed_body.name == "rex"
}

allow := {"allowed": false, "http_status": to_number(input.parsed_path[1]), "body": "no", "headers": {"location": "/login"}} if {
	input.parsed_path[0] == "status"
}

allow := {"allowed": true, "headers": {"bad name": "x"}} if input.parsed_path == ["header"]

allow := {"allowed": true, "headers": {"Content-Length": "x"}} if input.parsed_path == ["framing"]

allow := "text" if input.parsed_path == ["form"]

allow := input.attributes.request.http.host == "example.com" if input.parsed_path == ["host"]
"#;

fn start(settings: &serde_json::Value) -> Authorization {
    let mut settings = settings.clone();
    settings["http-addr"] = json!("127.0.0.1:0");
    Authorization::start(&settings, &[], POLICY)
}

fn send(server: &Authorization, message: &Message) -> Answer {
    Client::connect(&server.http_address).send(message)
}

#[test]
fn allowed_requests_are_200_with_headers() {
    let server = start(&json!({}));
    let message = Message::new("POST", "/pets/1?q=x")
        .header("Authorization", "Bearer abc")
        .header("Content-Type", "application/json")
        .body(r#"{"name": "rex"}"#);
    let answer = send(&server, &message);
    assert_eq!((answer.status, answer.text().as_str()), (200, ""));
    assert_eq!(answer.header("x-user"), Some("Bearer abc"));
    assert_eq!(
        answer.header("x-envoy-auth-headers-to-remove"),
        Some("cookie, x-debug")
    );
}

#[test]
fn denied_requests_have_a_status_that_proxies_deny() {
    let server = start(&json!({}));
    for (path, status) in [
        ("/status/401", 401),
        ("/status/302", 302),
        ("/status/429", 429),
        // proxies would take these for allowed, or for an error that they may ignore
        ("/status/200", 403),
        ("/status/204", 403),
        ("/status/500", 403),
        ("/status/503", 403),
        ("/undefined", 403),
        ("/form", 403),
        ("/header", 403),
        ("/framing", 403),
        ("/%zz", 400),
        ("/a?b;c", 400),
    ] {
        let answer = send(&server, &Message::new("GET", path));
        assert_eq!(answer.status, status, "{path}");
    }
    let answer = send(&server, &Message::new("GET", "/status/302"));
    assert_eq!(answer.header("location"), Some("/login"));
    assert_eq!(answer.text(), "no");
}

#[test]
fn paths_are_decided_as_they_were_sent() {
    let server = start(&json!({}));
    // neither redirected nor shortened
    for path in [
        "/status//401",
        "//status/401",
        "/status/401/",
        "/status/../status/401",
    ] {
        let answer = send(&server, &Message::new("GET", path));
        assert!(
            ![200, 301, 307].contains(&answer.status),
            "{path}: {}",
            answer.status
        );
    }
}

#[test]
fn errors_are_403_whatever_status_is_configured() {
    let server = start(&json!({"error-status": 503, "grpc-max-recv-msg-size": 10}));
    assert_eq!(
        send(&server, &Message::new("GET", "/undefined")).status,
        403
    );
    let large = Message::new("POST", "/pets/1").body("x".repeat(11));
    assert_eq!(send(&server, &large).status, 413);
}

#[test]
fn a_dry_run_allows_what_a_decision_denies() {
    let server = start(&json!({"dry-run": true}));
    assert_eq!(
        send(&server, &Message::new("GET", "/status/401")).status,
        200
    );
    assert_eq!(
        send(&server, &Message::new("GET", "/undefined")).status,
        403
    );
}

#[test]
fn checks_of_documents_are_rejected() {
    let server = start(&json!({}));
    let send = |target: &str, headers: &[(&str, &str)]| {
        let message = Message::new("POST", target).body("{}");
        let message = headers.iter().fold(message, |message, (name, value)| {
            message.header(name, value)
        });
        Client::connect(server.server.address())
            .send(&message)
            .status
    };
    let own = [
        ("x-envoy-internal", "true"),
        ("x-envoy-expected-rq-timeout-ms", "200"),
    ];
    let with_body = [
        ("x-envoy-auth-partial-body", "false"),
        ("x-request-id", "1"),
    ];
    let forwarded = [("x-envoy-internal", "true"), ("x-request-id", "1")];
    for target in [
        "/v1/data/envoy/authz/allow",
        "/v1/data",
        "/v0/data/envoy",
        "/",
    ] {
        assert_eq!(send(target, &own), 400, "{target}");
        assert_eq!(send(target, &with_body), 400, "{target}");
        assert_ne!(send(target, &forwarded), 400, "{target}");
        assert_ne!(send(target, &[]), 400, "{target}");
    }
}
