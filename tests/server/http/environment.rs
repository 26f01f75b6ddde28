//! Environment variables of the server: what policies and clients can read of them.

use std::process::Command;

use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};

use crate::client::{Client, Message, get};
use crate::process::Server;

/// Starts a server with its own environment variables.
fn start(variables: &[(&str, &str)], flags: &[&str], files: &[(&str, &str)]) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_solon"));
    command.env_clear().envs(variables.iter().copied());
    Server::start_by(command, flags, files)
}

/// Returns the value of an expression, which any client may query.
fn query(server: &Server, expression: &str) -> Value {
    let body = json!({"query": format!("x = {expression}")}).to_string();
    let answer = Client::connect(server.address())
        .send(&Message::new("POST", "/v1/query").body(body))
        .text();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    answer["result"][0]["x"].clone()
}

const VARIABLES: [(&str, &str); 4] = [
    ("TOKEN", "secret"),
    ("REGION", "eu"),
    ("ZONE", "a=b"),
    ("EMPTY", ""),
];

#[test]
fn policies_read_the_variables_that_flags_expose() {
    for (flags, want) in [
        (&[] as &[&str], json!({})),
        (&["--expose-env", "REGION"], json!({"REGION": "eu"})),
        (
            &["--expose-env", "REGION,ZONE"],
            json!({"REGION": "eu", "ZONE": "a=b"}),
        ),
        (
            &["--expose-env", "REGION", "--expose-env=ZONE,EMPTY"],
            json!({"REGION": "eu", "ZONE": "a=b", "EMPTY": ""}),
        ),
        (
            &["--expose-env", " REGION , NOT_SET"],
            json!({"REGION": "eu"}),
        ),
        (&["--expose-env", "*"], json!({})),
        (&["--expose-env", ""], json!({})),
        (&["--expose-env", "region,TOK"], json!({})),
    ] {
        let server = start(
            &VARIABLES,
            flags,
            &[("p.rego", "package p\n\nenv := opa.runtime().env\n")],
        );
        assert_eq!(query(&server, "opa.runtime().env"), want, "{flags:?}");
        let document: Value =
            serde_json::from_str(&get(server.address(), "/v1/data/p/env").text()).unwrap();
        assert_eq!(document["result"], want, "{flags:?}");
        let whole = query(&server, "opa.runtime()").to_string();
        assert!(!whole.contains("secret"), "{whole}");
    }
}

#[test]
fn the_flag_is_read_from_the_environment_as_well() {
    let variables = [
        VARIABLES.as_slice(),
        &[("SOLON_RUN_EXPOSE_ENV", "REGION,ZONE")],
    ]
    .concat();
    let server = start(&variables, &[], &[]);
    let want = json!({"REGION": "eu", "ZONE": "a=b"});
    assert_eq!(query(&server, "opa.runtime().env"), want);
}

#[test]
fn names_of_variables_are_checked() {
    let (code, text) = Server::fail(&["--expose-env", "A=B"]);
    assert_eq!(code, Some(2));
    assert!(
        text.contains("expected the name of an environment variable"),
        "{text}"
    );
}

/// A request that names a variable reveals no more than one that names a variable that is not set.
#[test]
fn requests_name_exposed_variables_only() {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = certificate.self_signed(&key).unwrap().pem();
    let variables = [
        ("CERT", certificate.as_str()),
        ("KEY", &key.serialize_pem()),
    ];
    let policy = r#"package p

message := http.send(object.union(input, {"method": "get", "url": "http://127.0.0.1:1/", "raise_error": false})).error.message
"#;
    let message = |server: &Server, fields: &Value| {
        let body = json!({"input": fields}).to_string();
        let answer = Client::connect(server.address())
            .send(&Message::new("POST", "/v1/data/p/message").body(body))
            .text();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["result"].as_str().unwrap_or_default().to_owned()
    };
    let ca = |name: &str| json!({"tls_ca_cert_env_variable": name});
    let pair = |certificate: &str, key: &str| json!({"tls_client_cert_env_variable": certificate, "tls_client_key_env_variable": key});
    let files = [("p.rego", policy)];
    let closed = start(&variables, &[], &files);
    let half = start(&variables, &["--expose-env", "CERT"], &files);
    let open = start(&variables, &["--expose-env", "CERT,KEY"], &files);
    // the request is sent after its certificates were read
    let sent = "connection refused";
    for (server, fields, want) in [
        (
            &closed,
            ca("CERT"),
            "could not add CA certificates from envvar \"CERT\"",
        ),
        (
            &closed,
            ca("NOT_SET"),
            "could not add CA certificates from envvar \"NOT_SET\"",
        ),
        (
            &closed,
            pair("CERT", "KEY"),
            "cannot extract public/private key pair from envvars",
        ),
        (&half, ca("CERT"), sent),
        (
            &half,
            pair("CERT", "KEY"),
            "cannot extract public/private key pair from envvars",
        ),
        (&open, ca("CERT"), sent),
        (&open, pair("CERT", "KEY"), sent),
    ] {
        let message = message(server, &fields);
        assert!(message.contains(want), "{fields}: {message}");
    }
}

/// The engine reads this variable itself. Policies do not see it.
#[test]
fn the_default_timeout_of_requests_is_read_without_being_exposed() {
    let backend = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", backend.local_addr().unwrap());
    let policy = format!(
        "package p\n\nmessage := http.send({{\"method\": \"get\", \"url\": \"{url}\", \"raise_error\": false}}).error.message\n"
    );
    let server = start(
        &[("HTTP_SEND_TIMEOUT", "20ms")],
        &["--timeout", "1h"],
        &[("p.rego", &policy)],
    );
    let answer = get(server.address(), "/v1/data/p/message").text();
    assert!(answer.contains("Client.Timeout exceeded"), "{answer}");
    assert_eq!(query(&server, "opa.runtime().env"), json!({}));
}

#[test]
fn requests_to_private_networks_are_denied_by_a_flag() {
    let backend = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    backend.set_nonblocking(true).unwrap();
    let address = backend.local_addr().unwrap();
    let policy = format!(
        "package p\n\nmessage := http.send({{\"method\": \"get\", \"url\": \"http://{address}/\", \"raise_error\": false}}).error.message\n"
    );
    let server = start(&[], &["--deny-private-networks"], &[("p.rego", &policy)]);
    let answer: Value =
        serde_json::from_str(&get(server.address(), "/v1/data/p/message").text()).unwrap();
    let want = format!("dial tcp {address}: private networks are denied (loopback)");
    assert!(
        answer["result"].as_str().unwrap().ends_with(&want),
        "{answer}"
    );
    assert!(backend.accept().is_err());
}

/// A program that embeds a server exposes selected variables by its own engine.
#[test]
fn the_engine_of_an_embedded_server_exposes_no_variable() {
    let server = solon_server::Server::builder().build();
    let query = server
        .engine()
        .prepare_query("opa.runtime().env = {}")
        .unwrap();
    let found = query.solutions(&solon::Request::new()).unwrap();
    assert_eq!(found.len(), 1);
}
