//! Admission by the head of a request where that is sufficient: the body of a rejected request is neither read nor
//! decompressed.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::bounds::bomb;
use crate::client::{Client, Message, raw};
use crate::control::{Running, output};
use crate::process::{Folder, Server};
use crate::waiting::HANG;

/// Admits one token, regardless of the rest of the request.
const BY_TOKEN: &str = "package system.authz

default allow := false

allow if input.headers.Authorization == [\"Bearer good\"]
";

/// Admits requests by a member of their body.
const BY_BODY: &str = "package system.authz

default allow := false

allow if input.body.input.pass == \"good\"
";

const FLAGS: [&str; 2] = ["--authorization=basic", "--authentication=token"];

fn start(policy: &str, flags: &[&str]) -> Server {
    let files = [
        ("authz.rego", policy),
        ("p.rego", "package p\n\nx := input.n\n"),
    ];
    Server::start_with(&[&FLAGS[..], flags].concat(), &files)
}

/// Sends only a head, and returns everything until the server closes the connection.
fn closed(address: &str, head: &str) -> String {
    raw(address, head.as_bytes())
}

fn status(response: &str) -> &str {
    response.get(9..12).unwrap_or(response)
}

/// Returns the methods and paths of a description, with `x` for each parameter.
fn operations(description: &Value) -> Vec<(String, String)> {
    let paths = description["paths"].as_object().unwrap();
    let mut all = Vec::new();
    for (path, operations) in paths {
        let mut steps = path.split('/');
        let first = steps.next().unwrap().to_owned();
        let path = steps.fold(first, |path, step| {
            let step = if step.starts_with('{') { "x" } else { step };
            path + "/" + step
        });
        for method in operations.as_object().unwrap().keys() {
            if ["get", "put", "post", "patch", "delete", "head"].contains(&method.as_str()) {
                all.push((method.to_uppercase(), path.clone()));
            }
        }
    }
    all
}

/// Every way to declare a large body.
const PROMISES: [&str; 4] = [
    "Content-Length: 99999999999\r\n",
    "Content-Length: 5000000\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Content-Length: 99999999999\r\nExpect: 100-continue\r\nContent-Encoding: gzip\r\n",
];

#[test]
fn the_policy_server_rejects_requests_without_credentials_before_a_byte_of_their_body() {
    let server = start(
        BY_TOKEN,
        &["--ui", "--body-timeout", "1h", "--timeout", "1h"],
    );
    let ask = Message::new("GET", "/openapi.json").header("Authorization", "Bearer good");
    let described = Client::connect(server.address()).send(&ask);
    let mut operations = operations(&serde_json::from_str(&described.text()).unwrap());
    assert!(operations.len() >= 28, "{operations:?}");
    // redirected paths, and paths without a route
    for (method, path) in [
        ("PUT", "//v1/data/a"),
        ("POST", "/v1/data/"),
        ("PUT", "/none"),
    ] {
        operations.push((method.to_owned(), path.to_owned()));
    }
    for (method, path) in operations {
        for promise in PROMISES {
            for credentials in ["", "Authorization: Bearer bad\r\n"] {
                let response = closed(
                    server.address(),
                    &format!("{method} {path} HTTP/1.1\r\nHost: a\r\n{credentials}{promise}\r\n"),
                );
                let way = format!("{method} {path} {promise:?} {credentials:?}: {response}");
                assert_eq!(status(&response), "401", "{way}");
                assert!(response.contains("connection: close\r\n"), "{way}");
                assert!(!response.contains("100 Continue"), "{way}");
            }
        }
    }
}

#[test]
fn the_control_plane_rejects_requests_without_a_valid_key_before_a_byte_of_their_body() {
    let folder = Folder::with(&[]);
    let create = ["token", "create", "--role", "administrator", "root"];
    let (_, key, _) = output(folder.path(), &create);
    let running = Running::start(folder.path(), &[]);
    let bearer = format!("Bearer {}", key.trim());
    let ask = Message::new("GET", "/openapi.json").header("Authorization", &bearer);
    let described = Client::connect(running.address()).send(&ask);
    let mut operations = operations(&serde_json::from_str(&described.text()).unwrap());
    assert!(operations.len() >= 40, "{operations:?}");
    operations.push(("PUT".to_owned(), "/none".to_owned()));
    operations.push(("PATCH".to_owned(), "/v1/bundles/x".to_owned()));
    for (method, path) in operations {
        let want = if path == "/health" { "200" } else { "401" };
        for promise in PROMISES {
            for credentials in [
                "",
                "Authorization: Bearer bad\r\n",
                "Authorization: Basic eDp5\r\n",
                "Authorization: Bearer\r\n",
            ] {
                let response = closed(
                    running.address(),
                    &format!("{method} {path} HTTP/1.1\r\nHost: a\r\n{credentials}{promise}\r\n"),
                );
                let way = format!("{method} {path} {promise:?} {credentials:?}: {response}");
                assert_eq!(status(&response), want, "{way}");
                assert!(response.contains("connection: close\r\n"), "{way}");
                assert!(!response.contains("100 Continue"), "{way}");
            }
        }
    }
}

#[test]
fn the_control_plane_bounds_bodies_by_route_while_they_are_read() {
    let folder = Folder::with(&[]);
    let create = ["token", "create", "--role", "administrator", "root"];
    let (_, key, _) = output(folder.path(), &create);
    let running = Running::start(folder.path(), &[]);
    let key = format!("Authorization: Bearer {}\r\n", key.trim());
    let mebibytes = |count: usize| (count << 20) + 1;
    for (target, limit) in [
        ("PUT /v1/bundles/x", 16),
        ("PUT /v1/sources/x", 16),
        ("PUT /v1/stacks/x", 16),
        ("PUT /v1/secrets/x", 16),
        ("POST /v1/tokens", 16),
        ("PUT /v1/bundles/x/grants/y", 16),
        ("PUT /v1/sources/x/data/y", 64),
        ("POST /v1/sources/x/data/y", 64),
        ("PATCH /v1/sources/x/data/y", 64),
    ] {
        let head = format!("{target} HTTP/1.1\r\nHost: a\r\n{key}");
        let length = mebibytes(limit);
        let promised = format!("{head}Content-Length: {length}\r\n\r\n");
        let response = closed(running.address(), &promised);
        assert_eq!(status(&response), "413", "{target}: {response}");
        assert!(response.contains("\"code\":\"too_large\""), "{response}");
        // without a declared length, the server rejects the body once it exceeds the limit.
        let mut sent = format!("{head}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
        sent.extend(format!("{length:x}\r\n").bytes());
        sent.resize(sent.len() + length, b' ');
        let response = raw(running.address(), &sent);
        // a client that continues to send may lose the response with the connection.
        let is_lost = response.is_empty();
        assert!(
            is_lost || status(&response) == "413",
            "{target}: {response}"
        );
        // the limit also applies to the decompressed size.
        let mut sent = format!("{head}Content-Encoding: gzip\r\n").into_bytes();
        let compressed = bomb(length + (1 << 20));
        sent.extend(format!("Content-Length: {}\r\n", compressed.len()).bytes());
        sent.extend(b"Connection: close\r\n\r\n");
        sent.extend(compressed);
        let response = raw(running.address(), &sent);
        assert_eq!(status(&response), "413", "{target}: {response}");
    }
    // a body of exactly the limit is read
    let sent = format!(
        "PUT /v1/sources/x/data/y HTTP/1.1\r\nHost: a\r\n{key}Connection: close\r\nContent-Length: {}\r\n\r\n",
        17 << 20
    );
    let mut sent = sent.into_bytes();
    sent.resize(sent.len() + (17 << 20) - 2, b' ');
    sent.extend(b"{}");
    let response = raw(running.address(), &sent);
    assert_eq!(status(&response), "404", "no such source: {response}");
}

#[test]
fn a_policy_that_reads_the_body_gets_a_bounded_part_of_it() {
    let server = start(BY_BODY, &["--max-authorization-body", "1KiB"]);
    let mut client = Client::connect(server.address());
    let mut ask = |body: String| client.send(&Message::new("POST", "/v1/data/p/x").body(body));
    let body = |pass: &str, length: usize| {
        let text = format!("{{\"input\": {{\"pass\": \"{pass}\", \"n\": 1}}}}");
        text.clone() + &" ".repeat(length.saturating_sub(text.len()))
    };
    assert_eq!(ask(body("good", 0)).text(), "{\"result\":1}\n");
    assert_eq!(ask(body("good", 1024)).text(), "{\"result\":1}\n");
    assert_eq!(ask(body("bad", 1024)).status, 401);
    let promised = |promise: &str| {
        let head = format!("POST /v1/data/p/x HTTP/1.1\r\nHost: a\r\n{promise}\r\n");
        closed(server.address(), &head)
    };
    for promise in [
        "Content-Length: 1025\r\n",
        "Content-Length: 99999999999\r\n",
    ] {
        let response = promised(promise);
        assert_eq!(status(&response), "413", "{response}");
        for words in [
            "\"request_too_large\"",
            "limit of 1024 bytes",
            "--max-authorization-body",
            "connection: close\r\n",
        ] {
            assert!(response.contains(words), "{words}: {response}");
        }
    }
    for (method, target) in [
        ("POST", "/v1/data/p/x"),
        ("POST", "/"),
        ("POST", "/v0/data/p/x"),
        ("POST", "/v1/query"),
        ("POST", "/v1/compile"),
        ("POST", "/v1/compile/p/x"),
        ("POST", "/v1/batch/data/p/x"),
    ] {
        let large = Message::new(method, target).body(body("good", 1025));
        let large = Client::connect(server.address()).send(&large.chunked());
        assert_eq!(large.status, 413, "{target}: {}", large.text());
        // a body that decompresses to more is rejected.
        let bomb = Message::new(method, target).header("Content-Encoding", "gzip");
        let bomb = bomb.body(bomb_of(64 << 10));
        let bomb = Client::connect(server.address()).send(&bomb);
        assert_eq!(bomb.status, 413, "{target}: {}", bomb.text());
    }
    // the policy does not see the bodies of other methods.
    for (method, target) in [("PUT", "/v1/data/p"), ("PATCH", "/v1/data/p")] {
        let head = format!("{method} {target} HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n");
        let response = closed(server.address(), &head);
        assert_eq!(status(&response), "401", "{response}");
    }
    // the limit of all bodies applies as well, and is the one in the message.
    let smaller = start(BY_BODY, &["--max-body", "500"]);
    let head = "POST /v1/data/p/x HTTP/1.1\r\nHost: a\r\nContent-Length: 501\r\n\r\n";
    let response = closed(smaller.address(), head);
    assert_eq!(status(&response), "413", "{response}");
    assert!(response.contains("limit of 500 bytes"), "{response}");
    let usual = start(BY_BODY, &[]);
    let length = 1 << 20;
    let fits = Message::new("POST", "/v1/data/p/x").body(body("good", length));
    assert_eq!(Client::connect(usual.address()).send(&fits).status, 200);
    let large = Message::new("POST", "/v1/data/p/x").body(body("good", length + 1));
    assert_eq!(Client::connect(usual.address()).send(&large).status, 413);
}

/// Zeros that compress to less than the limit of [`a_policy_that_reads_the_body_gets_a_bounded_part_of_it`].
fn bomb_of(length: usize) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&vec![b' '; length]).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_policy_that_does_not_read_the_body_bounds_none() {
    let server = start(BY_TOKEN, &["--max-authorization-body", "1KiB"]);
    let text = format!("{{\"input\": {{\"n\": \"{}\"}}}}", "a".repeat(2 << 20));
    let large = Message::new("POST", "/v1/data/p/x").header("Authorization", "Bearer good");
    let answer = Client::connect(server.address()).send(&large.body(text));
    assert_eq!((answer.status, answer.body.len()), (200, (2 << 20) + 14));
    // a body that the policy does not read may be invalid
    let odd = Message::new("POST", "/v1/data/p/x").header("Authorization", "Bearer good");
    let answer = Client::connect(server.address()).send(&odd.body("{"));
    assert_eq!(answer.status, 400, "{}", answer.text());
    // bodies over the global limit are rejected after authorization
    let head = "PUT /v1/data/a HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Length: 99999999999\r\n\r\n";
    let response = closed(server.address(), head);
    assert_eq!(status(&response), "400", "{response}");
    assert!(response.contains("request body too large"), "{response}");
}

#[test]
fn the_policy_decides_anew_once_it_changes() {
    let server = start(BY_TOKEN, &[]);
    let promise = "POST /v1/data/p/x HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n";
    let want = |want: &str| {
        for _ in 0..3 {
            let response = closed(server.address(), promise);
            assert_eq!(status(&response), want, "{response}");
        }
    };
    want("401");
    let put = Message::new("PUT", "/v1/policies/authz.rego").header("Authorization", "Bearer good");
    let both = BY_TOKEN.to_owned() + "\nallow if input.body.x\n";
    assert_eq!(
        Client::connect(server.address())
            .send(&put.body(both))
            .status,
        200
    );
    want("413");
    let put = Message::new("PUT", "/v1/policies/authz.rego").header("Authorization", "Bearer good");
    assert_eq!(
        Client::connect(server.address())
            .send(&put.body(BY_TOKEN))
            .status,
        200
    );
    want("401");
}

#[test]
fn clients_that_wait_for_100_get_none_before_authorization() {
    let server = start(BY_TOKEN, &[]);
    let head = |credentials: &str| {
        format!(
            "PUT /v1/data/a HTTP/1.1\r\nHost: a\r\n{credentials}Expect: 100-continue\r\nContent-Length: 1\r\n\r\n"
        )
    };
    let response = closed(server.address(), &head(""));
    assert_eq!(status(&response), "401", "{response}");
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    let admitted = head("Authorization: Bearer good\r\n");
    stream.write_all(admitted.as_bytes()).unwrap();
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"7").unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 204");
}

#[test]
fn compressed_bodies_of_rejected_requests_stay_compressed() {
    let server = start(BY_TOKEN, &[]);
    let bomb = bomb(400 << 20);
    let start = server.processor_time();
    for body in [bomb, b"no gzip".to_vec()] {
        for (method, target) in [
            ("POST", "/v1/data/p/x"),
            ("PUT", "/v1/data/x"),
            ("PUT", "/v1/policies/x"),
        ] {
            let head = format!(
                "{method} {target} HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let mut sent = head.into_bytes();
            sent.extend(&body);
            let response = raw(server.address(), &sent);
            // the connection may be reset while the body is being sent.
            let is_lost = response.is_empty();
            assert!(
                is_lost || status(&response) == "401",
                "{method}: {response}"
            );
        }
    }
    let worked = server.processor_time().saturating_sub(start);
    assert!(worked < Duration::from_millis(500), "{worked:?}");
    let admitted = Message::new("POST", "/v1/data/p/x")
        .header("Authorization", "Bearer good")
        .header("Content-Encoding", "gzip")
        .body("no gzip");
    let answer = Client::connect(server.address()).send(&admitted);
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("decompress"), "{}", answer.text());
}

#[test]
fn rejected_requests_end_their_connection_alone() {
    let server = start(BY_TOKEN, &[]);
    // bytes after the head of a rejected request are not parsed as another request.
    let smuggled = "PUT /v1/data/a HTTP/1.1\r\nHost: a\r\nContent-Length: 80\r\n\r\n\
                    GET /health HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n";
    let response = closed(server.address(), smuggled);
    assert_eq!(status(&response), "401", "{response}");
    assert_eq!(response.matches("HTTP/1.1 ").count(), 1, "{response}");
    // without a body the connection stays open
    let mut client = Client::connect(server.address());
    for _ in 0..3 {
        let refused = client.send(&Message::new("PUT", "/v1/data/a"));
        assert_eq!((refused.status, refused.header("connection")), (401, None));
    }
    let health = Message::new("GET", "/health").header("Authorization", "Bearer good");
    assert_eq!(client.send(&health).status, 200);
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [
        length[1], length[2], length[3], kind, flags, 0, 0, 0, stream,
    ];
    [&head, payload].concat()
}

#[test]
fn streams_of_http2_are_rejected_before_their_body() {
    let server = start(BY_TOKEN, &["--h2c"]);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    let headers = [
        (":method", "PUT"),
        (":path", "/v1/data/a"),
        (":scheme", "http"),
        (":authority", "localhost"),
        ("content-length", "8388608"),
    ];
    let mut block = Vec::new();
    for (name, value) in headers {
        for text in [name, value] {
            // a field is a zero and two texts with their lengths.
            if text == name {
                block.push(0);
            }
            block.push(u8::try_from(text.len()).unwrap());
            block.extend(text.bytes());
        }
    }
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .unwrap();
    // settings, and headers that end neither the stream nor the wait for its body.
    stream.write_all(&frame(4, 0, 0, &[])).unwrap();
    stream.write_all(&frame(1, 4, 1, &block)).unwrap();
    let mut seen = Vec::new();
    while seen.last() != Some(&3) {
        let mut head = [0; 9];
        stream.read_exact(&mut head).unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length.try_into().unwrap()];
        stream.read_exact(&mut payload).unwrap();
        if head[8] != 1 {
            continue;
        }
        match head[3] {
            // `:status: 401` in Huffman coding
            1 => assert_eq!(payload[..4], [0x48, 0x82, 0x68, 0x01], "{payload:?}"),
            0 => assert!(String::from_utf8_lossy(&payload).contains("unauthorized")),
            // the rest of the body is not needed, and the code is `NO_ERROR`
            3 => assert_eq!(payload, [0, 0, 0, 0]),
            kind => panic!("a frame of kind {kind}"),
        }
        seen.push(head[3]);
    }
    assert_eq!(seen, [1, 0, 3]);
}
