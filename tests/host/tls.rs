//! Servers and clients that prove who they are.

use std::collections::HashMap;

use serde_json::{Value as Json, json};
use solon::Request;

use crate::certificates::{Authority, self_signed, server};
use crate::engine::{TestHost, decide, engine_with, evaluate};
use crate::server::Server;

/// Requests `/echo` from a server, with further fields.
fn get(server: &Server, host: &str, fields: &Json) -> Result<Json, String> {
    let mut request = json!({
        "method": "get",
        "url": format!("https://{host}:{}/echo", server.address.port()),
    });
    let all = request.as_object_mut().unwrap();
    all.extend(fields.as_object().unwrap().clone());
    evaluate(&format!("http.send({request}).status"))
}

const UNKNOWN: &str =
    "tls: failed to verify certificate: x509: certificate signed by unknown authority";

fn expect_error(server: &Server, host: &str, problem: &str) -> Result<Json, String> {
    let port = server.address.port();
    Err(format!(
        "eval_builtin_error: http.send: Get \"https://{host}:{port}/echo\": {problem}"
    ))
}

#[expect(clippy::unnecessary_wraps, reason = "answers are compared with it")]
fn ok() -> Result<Json, String> {
    Ok("200 OK".into())
}

#[test]
fn servers_must_prove_their_names() {
    let authority = Authority::new();
    let other = Authority::new();
    let server = Server::with_tls(server(&authority.sign("localhost"), None, &["http/1.1"]));
    let trusted = json!({"tls_ca_cert": authority.certificate});
    assert_eq!(get(&server, "localhost", &trusted), ok());
    assert_eq!(
        get(&server, "localhost", &json!({})),
        expect_error(&server, "localhost", UNKNOWN)
    );
    let stranger = json!({"tls_ca_cert": other.certificate});
    assert_eq!(
        get(&server, "localhost", &stranger),
        expect_error(&server, "localhost", UNKNOWN)
    );
    let anyone = json!({"tls_insecure_skip_verify": true});
    assert_eq!(get(&server, "localhost", &anyone), ok());
    assert_eq!(get(&server, "127.0.0.1", &anyone), ok());
    // by another name
    let wrong = get(&server, "127.0.0.1", &trusted).unwrap_err();
    assert!(
        wrong.ends_with("x509: certificate is valid for localhost, not 127.0.0.1"),
        "{wrong}"
    );
    let named = json!({"tls_ca_cert": authority.certificate, "tls_server_name": "localhost"});
    assert_eq!(get(&server, "127.0.0.1", &named), ok());
    let by_header = json!({"tls_ca_cert": authority.certificate, "headers": {"host": "localhost"}});
    assert_eq!(get(&server, "127.0.0.1", &by_header), ok());
    // both the system's authorities and an own one
    let both = json!({"tls_ca_cert": authority.certificate, "tls_use_system_certs": true});
    assert_eq!(get(&server, "localhost", &both), ok());
}

#[test]
fn a_certificate_can_be_trusted_itself() {
    for authority in [false, true] {
        let own = self_signed("localhost", authority);
        let server = Server::with_tls(server(&own, None, &["http/1.1"]));
        let trusted = json!({"tls_ca_cert": own.certificate});
        assert_eq!(get(&server, "localhost", &trusted), ok());
        let other = self_signed("localhost", authority);
        let stranger = json!({"tls_ca_cert": other.certificate});
        assert!(get(&server, "localhost", &stranger).is_err());
        let wrong = get(&server, "127.0.0.1", &trusted).unwrap_err();
        assert!(wrong.contains("x509"), "{wrong}");
    }
}

#[test]
fn clients_prove_who_they_are() {
    let authority = Authority::new();
    let server = Server::with_tls(server(
        &authority.sign("localhost"),
        Some(&authority),
        &["http/1.1"],
    ));
    let client = authority.sign("client");
    let trusted = json!({"tls_ca_cert": authority.certificate});
    let refused = get(&server, "localhost", &trusted).unwrap_err();
    assert!(
        refused.ends_with("remote error: tls: certificate required"),
        "{refused}"
    );
    let own = json!({
        "tls_ca_cert": authority.certificate,
        "tls_client_cert": client.certificate,
        "tls_client_key": client.key,
    });
    assert_eq!(get(&server, "localhost", &own), ok());
    let stranger = Authority::new().sign("client");
    let other = json!({
        "tls_ca_cert": authority.certificate,
        "tls_client_cert": stranger.certificate,
        "tls_client_key": stranger.key,
    });
    assert!(
        get(&server, "localhost", &other)
            .unwrap_err()
            .contains("remote error: tls: ")
    );
    let mixed = json!({
        "tls_ca_cert": authority.certificate,
        "tls_client_cert": client.certificate,
        "tls_client_key": stranger.key,
    });
    assert_eq!(
        get(&server, "localhost", &mixed),
        Err("eval_builtin_error: http.send: tls: private key does not match public key".into())
    );
}

#[test]
fn certificates_come_from_files_and_variables() {
    let authority = Authority::new();
    let server = Server::with_tls(server(
        &authority.sign("localhost"),
        Some(&authority),
        &["http/1.1"],
    ));
    let client = authority.sign("client");
    let folder = std::env::temp_dir().join(format!("solon-tls-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let files = json!({
        "tls_ca_cert_file": file("ca", &authority.certificate),
        "tls_client_cert_file": file("cert", &client.certificate),
        "tls_client_key_file": file("key", &client.key),
    });
    assert_eq!(get(&server, "localhost", &files), ok());
    std::fs::remove_dir_all(&folder).unwrap();
    let variables = [
        ("SOLON_CA", &authority.certificate),
        ("SOLON_CERT", &client.certificate),
        ("SOLON_KEY", &client.key),
    ];
    let host = TestHost {
        variables: HashMap::from(variables.map(|(name, text)| (name.into(), text.clone()))),
    };
    let request = json!({
        "method": "get",
        "url": format!("https://localhost:{}/echo", server.address.port()),
        "tls_ca_cert_env_variable": "SOLON_CA",
        "tls_client_cert_env_variable": "SOLON_CERT",
        "tls_client_key_env_variable": "SOLON_KEY",
    });
    let engine = engine_with(host, &format!("http.send({request}).status"));
    assert_eq!(decide(&engine, &Request::new()), ok());
}

#[test]
fn both_sides_may_agree_on_http2() {
    let authority = Authority::new();
    let server = Server::with_tls(server(&authority.sign("localhost"), None, &["h2"]));
    let request = json!({
        "method": "post",
        "url": format!("https://localhost:{}/echo", server.address.port()),
        "tls_ca_cert": authority.certificate,
        "body": [1],
    });
    let answer = evaluate(&format!("http.send({request})")).unwrap();
    assert_eq!(answer["status"], "200 OK");
    assert_eq!(answer["body"]["body"], "[1]");
}

#[test]
fn servers_without_tls_have_an_error_of_their_own() {
    let server = Server::start();
    assert_eq!(
        get(&server, "127.0.0.1", &json!({})),
        expect_error(
            &server,
            "127.0.0.1",
            "http: server gave HTTP response to HTTPS client"
        )
    );
}
