//! Requests that would be expensive without limits.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::client::{Client, Message, get};
use crate::process::Server;
use crate::unread::Unread;
use crate::waiting::wait_until;
use crate::{ENDLESS, slow_policy};

/// Returns the peak memory of a process in bytes.
pub fn peak(server: &Server) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kilobytes.parse::<usize>().unwrap() << 10
}

/// Returns `length` times one letter, compressed by gzip.
pub fn bomb(length: usize) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let block = vec![b'a'; 1 << 20];
    for _ in 0..length >> 20 {
        encoder.write_all(&block).unwrap();
    }
    encoder.finish().unwrap()
}

#[test]
fn compressed_bodies_that_are_much_larger_are_rejected_at_once() {
    let server = Server::start(&[]);
    let bomb = bomb(600 << 20);
    let before = peak(&server);
    let start = server.processor_time();
    let ask = |method: &str, target: &str| {
        let packed = Message::new(method, target)
            .header("Content-Encoding", "gzip")
            .body(bomb.clone());
        let answer = Client::connect(server.address()).send(&packed);
        assert_eq!(answer.status, 400, "{method} {target}");
        answer.text()
    };
    for (method, target) in [
        ("POST", "/v1/data/x"),
        ("POST", "/v0/data/x"),
        ("POST", "/v1/query"),
        ("PUT", "/v1/data/x"),
        ("PATCH", "/v1/data/x"),
        ("PUT", "/v1/policies/x"),
    ] {
        let text = ask(method, target);
        assert!(
            text.contains(
                "request body too large: decompressed size exceeds limit of 536870912 bytes"
            ),
            "{text}"
        );
    }
    let worked = server.processor_time().saturating_sub(start);
    assert!(worked < Duration::from_secs(5), "{worked:?}");
    let taken = peak(&server) - before;
    assert!(taken < 64 << 20, "{taken}, for {}", bomb.len());
}

#[test]
fn bodies_in_many_small_chunks_take_no_more_than_their_bytes() {
    let flags = ["--timeout", "1h", "--body-timeout", "1h"];
    let server = Server::start_with(&flags, &[]);
    let before = peak(&server);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream
        .write_all(b"PUT /v1/data/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\"\r\n")
        .unwrap();
    let part = b"1\r\na\r\n".repeat(100_000);
    for _ in 0..20 {
        stream.write_all(&part).unwrap();
    }
    stream.write_all(b"1\r\n\"\r\n0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    assert!(peak(&server) - before < 48 << 20);
    assert_eq!(get(server.address(), "/v1/data/x").body.len(), 2_000_014);
}

#[test]
fn memory_of_large_bodies_and_answers_goes_back() {
    let server = Server::start(&[("p.rego", "package p\n\necho := input\n")]);
    let length = 24 << 20;
    let body = format!("{{\"input\":\"{}\"}}", "a".repeat(length));
    for _ in 0..8 {
        let large = Message::new("POST", "/v1/data/p/echo").body(body.clone());
        let answer = Client::connect(server.address()).send(&large);
        assert_eq!((answer.status, answer.body.len()), (200, length + 14));
    }
    // the requests were sequential
    let most = peak(&server);
    assert!(most < 10 * length, "{most}");
}

#[test]
fn headers_are_bounded() {
    let server = Server::start(&[]);
    let ask = |count: usize, length: usize| {
        let value = "v".repeat(length);
        let message = (0..count).fold(Message::new("GET", "/health"), |message, at| {
            message.header(&format!("x-{at}"), &value)
        });
        Client::connect(server.address()).send(&message).status
    };
    assert_eq!(ask(90, 10), 200);
    assert_eq!(ask(2, 100_000), 200);
    assert_eq!(ask(5_000, 10), 431);
    assert_eq!(get(server.address(), "/health").status, 200);
}

#[test]
fn slow_clients_hold_nobody_up() {
    // the time-outs are longer than the test
    let flags = ["--head-timeout", "1h", "--body-timeout", "1h"];
    let server = Server::start_with(&flags, &[]);
    let begun = |text: &str| Unread::send(server.address(), text);
    let open: Vec<_> = (0..50)
        .flat_map(|_| {
            [
                begun("GET /health HTT"),
                begun(
                    "PUT /v1/data/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000000\r\n\r\n[",
                ),
            ]
        })
        .collect();
    assert_eq!(get(server.address(), "/health").status, 200);
    assert!(open.iter().all(Unread::is_unanswered));
}

/// An evaluation ends soon after its client has disconnected.
#[test]
fn nothing_is_evaluated_for_clients_that_have_gone() {
    // it would end by itself only after the test fails
    let server = Server::start_with(
        &["--timeout", "1h"],
        &[("slow.rego", &slow_policy(ENDLESS))],
    );
    let open = Unread::get(server.address(), "/v1/data/slow/count_all");
    server.wait_for_work();
    drop(open);
    server.wait_for_rest();
}

/// Waits until a server uses no more than `most` KiB.
pub fn comes_to_hold(server: &Server, what: &str, most: usize) {
    let least = format!("{what} is at most {most} KiB");
    wait_until(&least, || server.memory(what) <= most);
}

#[test]
fn an_idle_server_uses_little_memory() {
    let server = Server::start(&[("p.rego", "package p\n\nallow if input.user == \"alice\"\n")]);
    comes_to_hold(&server, "RssAnon", 20_000);
    if cfg!(all(target_arch = "x86_64", not(debug_assertions))) {
        comes_to_hold(&server, "VmRSS", 40_000);
    }
}

#[test]
fn an_idle_server_stores_documents_but_not_their_text() {
    let text = "a".repeat(1_000);
    let parts = vec![format!("\"{text}\""); 40_000];
    let data = format!("{{\"texts\": [{}]}}", parts.join(","));
    let server = Server::start(&[("data.json", &data)]);
    assert_eq!(get(server.address(), "/v1/data/texts/39999").status, 200);
    // the allocator returns memory to the system when it frees a large block
    wait_until("the text of 40 MB is not held", || {
        let large = format!("{{\"input\": \"{}\"}}", "a".repeat(64 << 10));
        let large = Message::new("POST", "/v1/data/texts/1").body(large);
        assert_eq!(Client::connect(server.address()).send(&large).status, 200);
        server.memory("RssAnon") <= 36_000
    });
}
