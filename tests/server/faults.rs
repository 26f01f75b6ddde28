//! Internal errors of the engine, injected into a running server: the client receives an internal error and never a result,
//! and the next request succeeds. Part of the server's own crate because an engine cannot be passed to a process.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use solon::{Engine, HostFunction};

use crate::app::Server;

const POLICY: &str = "package t
panics := boom(input.x)
sound := input.x";

/// Creates an engine with one document whose evaluation panics and one that succeeds.
fn engine() -> Engine {
    let boom = HostFunction::new("boom", "x: any => y: any", |_, _| panic!("injected"));
    let engine = Engine::builder().function(boom.unwrap()).unwrap().build();
    engine.set_module("t.rego", POLICY).unwrap();
    engine
}

/// Sends a request on its own connection. Returns status and body.
fn send(address: &str, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap();
    (status.parse().unwrap(), body.to_owned())
}

fn post(address: &str, path: &str, body: &str) -> (u16, String) {
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    send(address, &request)
}

fn check(address: &str) {
    let input = r#"{"input": {"x": 2}}"#;
    let query =
        |document: &str| format!(r#"{{"query": "x = data.t.{document}", "input": {{"x": 2}}}}"#);
    // the first request for a document runs in the pool, later ones may run in a reactor
    for _ in 0..5 {
        let (document, message) = ("panics", "internal error: injected");
        for (status, body) in [
            post(address, &format!("/v1/data/t/{document}"), input),
            post(address, &format!("/v0/data/t/{document}"), r#"{"x": 2}"#),
            post(address, "/v1/query", &query(document)),
        ] {
            assert_eq!(status, 500, "{document}: {body}");
            assert!(body.contains("\"internal_error\""), "{document}: {body}");
            assert!(body.contains(message), "{document}: {body}");
            assert!(!body.contains("result"), "{document}: {body}");
        }
        // the tracing evaluator uses no plans, but it calls functions
        let (status, body) = post(address, "/v1/data/t/panics?explain=full", input);
        assert_eq!(status, 500, "{body}");
        let (status, body) = post(address, "/v1/data/t/sound", input);
        assert_eq!((status, body.as_str()), (200, "{\"result\":2}\n"));
    }
}

#[test]
fn faults_are_answered_as_internal_errors() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().build().unwrap().block_on(async {
        let server = Server::builder().engine(engine()).address("127.0.0.1:0");
        let open = server.build().open().await.unwrap();
        let address = open.addresses()[0].clone();
        let asked = tokio::task::spawn_blocking(move || check(&address));
        let (told, stopped) = tokio::sync::oneshot::channel();
        let serves = tokio::spawn(open.serve(async { drop(stopped.await) }));
        let result = asked.await;
        told.send(()).unwrap();
        serves.await.unwrap();
        result.unwrap();
    });
}
