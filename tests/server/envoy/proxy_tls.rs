//! A real Envoy that sends its checks over TLS: certificates of both sides are verified, and a check that fails is denied.

use std::path::Path;

use serde_json::{Value, json};

use crate::authority::Authority;
use crate::checks::Authorization;
use crate::client::Message;
use crate::process::Folder;
use crate::proxy::{POLICY, Proxy, cluster, grpc_filter, http_filter, program};

/// Returns a folder with the certificates of a server and a client, and the authority of others.
fn certificates() -> Folder {
    let files = Authority::new().files();
    let stranger = Authority::new().files();
    let mut all: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    for (name, text) in &stranger {
        match *name {
            "ca.pem" => all.push(("other-ca.pem", text)),
            "client.pem" => all.push(("other-client.pem", text)),
            "client-key.pem" => all.push(("other-client-key.pem", text)),
            _ => {}
        }
    }
    Folder::with(&all)
}

/// Starts a server whose clients need a certificate.
fn start(certificates: &Path) -> Authorization {
    let settings = json!({
        "path": "envoy/authz/result",
        "http-addr": "127.0.0.1:0",
        "tls-cert-file": certificates.join("server.pem"),
        "tls-private-key-file": certificates.join("server-key.pem"),
        "tls-ca-cert-file": certificates.join("ca.pem"),
    });
    Authorization::start(&settings, &[], POLICY)
}

/// Adds TLS to a cluster. `client` is the name of the certificate that Envoy shows, if it shows one.
fn with_tls(
    mut cluster: Value,
    certificates: &Path,
    authority: &str,
    client: Option<&str>,
) -> Value {
    let file = |name: String| json!({"filename": certificates.join(name)});
    let shown: Vec<Value> = client
        .map(|name| {
            json!({
                "certificate_chain": file(format!("{name}.pem")),
                "private_key": file(format!("{name}-key.pem")),
            })
        })
        .into_iter()
        .collect();
    cluster["options"]["transport_socket"] = json!({
        "name": "envoy.transport_sockets.tls",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
            "sni": "localhost",
            "common_tls_context": {
                "tls_certificates": shown,
                "validation_context": {
                    "trusted_ca": file(format!("{authority}.pem")),
                    "match_typed_subject_alt_names": [{"san_type": "DNS", "matcher": {"exact": "localhost"}}],
                },
            },
        },
    });
    cluster
}

#[test]
fn envoy_sends_checks_over_tls() {
    let Some(program) = program() else { return };
    let folder = certificates();
    let server = start(folder.path());
    for is_grpc in [true, false] {
        let (address, filter) = if is_grpc {
            (&server.address, grpc_filter(false))
        } else {
            (&server.http_address, http_filter(false))
        };
        let known = with_tls(
            cluster(address, is_grpc),
            folder.path(),
            "ca",
            Some("client"),
        );
        let proxy = Proxy::start(&program, &known, &filter);
        for _ in 0..10 {
            let answer = proxy.send(&Message::new("GET", "/allowed"));
            assert_eq!((answer.status, answer.text().as_str()), (200, "upstream"));
            let forwarded = proxy.forwarded();
            assert!(forwarded.contains("x-user: alice"), "{forwarded}");
            let answer = proxy.send(&Message::new("GET", "/denied"));
            assert_eq!((answer.status, answer.text().as_str()), (401, "log in\n"));
        }
        assert!(proxy.forwarded_nothing());
    }
}

#[test]
fn checks_without_a_trusted_certificate_are_denied() {
    let Some(program) = program() else { return };
    let folder = certificates();
    let server = start(folder.path());
    for (note, authority, client) in [
        ("no certificate of the client", "ca", None),
        (
            "a certificate of another authority",
            "ca",
            Some("other-client"),
        ),
        (
            "the server's authority is not trusted",
            "other-ca",
            Some("client"),
        ),
    ] {
        for is_grpc in [true, false] {
            let (address, filter) = if is_grpc {
                (&server.address, grpc_filter(false))
            } else {
                (&server.http_address, http_filter(false))
            };
            let cluster = with_tls(cluster(address, is_grpc), folder.path(), authority, client);
            let proxy = Proxy::start(&program, &cluster, &filter);
            let answer = proxy.send(&Message::new("GET", "/allowed"));
            assert_eq!(answer.status, 403, "{note}");
            assert!(proxy.forwarded_nothing(), "{note}");
        }
    }
}
