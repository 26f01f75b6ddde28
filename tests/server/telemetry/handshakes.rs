//! TLS of receivers: authorities, names, client certificates.

use std::fs;

use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::logs::metric;
use crate::process::{Folder, Server};
use crate::receiver::{GrpcReceiver, Received, received};
use crate::sink::Sink;
use crate::tls::{Authority, TlsFront};
use crate::waiting::wait_until;

fn start(section: &Value) -> Server {
    let config = json!({"decision_logs": {"otlp": section}}).to_string();
    let files = [
        ("p.rego", "package p\n\nallow := input.x\n"),
        ("c.yaml", &*config),
    ];
    Server::start_with(&["-c", "c.yaml"], &files)
}

fn decide(server: &Server) {
    let message = Message::new("POST", "/v1/data/p/allow").body(r#"{"input": {"x": 1}}"#);
    assert_eq!(Client::connect(server.address()).send(&message).status, 200);
}

/// Checks handshakes that succeed and fail with a receiver of one protocol.
fn check(kind: &str, protocol: &[u8], target: &str, arrived: &dyn Fn() -> usize) {
    let (own, other) = (Authority::new(), Authority::new());
    let right = own.issue("127.0.0.1");
    let client = own.issue("client.example");
    let stranger = other.issue("client.example");
    let folder = Folder::with(&[
        ("own.pem", &own.pem),
        ("other.pem", &other.pem),
        ("client.pem", &client.certificate),
        ("client.key", &client.key),
        ("stranger.pem", &stranger.certificate),
        ("stranger.key", &stranger.key),
    ]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let plain = TlsFront::start(target, &right, protocol, None);
    let misnamed = TlsFront::start(target, &own.issue("other.example"), protocol, None);
    let mutual = TlsFront::start(target, &right, protocol, Some(&own));
    let with_identity = |name: &str| {
        json!({"encryption": "mtls", "tls_ca_cert_file": path("own.pem"),
            "tls_cert_file": path(&format!("{name}.pem")), "tls_private_key_file": path(&format!("{name}.key"))})
    };
    let trusting = |name: &str| json!({"encryption": "tls", "tls_ca_cert_file": path(name)});
    for (what, front, section, is_accepted) in [
        ("private authority", &plain, trusting("own.pem"), true),
        ("another authority", &plain, trusting("other.pem"), false),
        (
            "authorities of the system",
            &plain,
            json!({"encryption": "tls"}),
            false,
        ),
        ("another name", &misnamed, trusting("own.pem"), false),
        (
            "any certificate",
            &misnamed,
            json!({"encryption": "tls", "allow_insecure_tls": true}),
            true,
        ),
        ("no encryption", &plain, json!({}), false),
        ("client certificate", &mutual, with_identity("client"), true),
        ("no client certificate", &mutual, trusting("own.pem"), false),
        (
            "a client certificate of another authority",
            &mutual,
            with_identity("stranger"),
            false,
        ),
    ] {
        let before = arrived();
        let mut section = section.clone();
        for (name, value) in [
            ("type", json!(kind)),
            ("address", json!(front.address)),
            ("batch_timeout_ms", json!(5)),
            (
                "export_timeout_ms",
                json!(if is_accepted { 30_000 } else { 700 }),
            ),
        ] {
            section[name] = value;
        }
        let server = start(&section);
        decide(&server);
        if is_accepted {
            wait_until(what, || arrived() == before + 1);
        } else {
            let name = "solon_decision_logs_write_failures_total";
            wait_until(what, || metric(server.address(), name) == 1);
            assert_eq!(arrived(), before, "{kind}: {what}");
        }
    }
    fs::metadata(folder.path()).unwrap();
}

#[test]
fn receivers_over_grpc_prove_who_they_are() {
    let grpc = GrpcReceiver::start();
    check("grpc", b"h2", &grpc.address, &|| {
        grpc.received.records().len()
    });
}

#[test]
fn receivers_over_http_prove_who_they_are() {
    let http = Sink::start();
    let address = http.url().trim_start_matches("http://").to_owned();
    let arrived = || {
        let received: Received = received(&http);
        received.records().len()
    };
    check("http", b"http/1.1", &address, &arrived);
}
