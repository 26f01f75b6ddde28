//! The real server, accessed over TCP.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a panic here is a failing test"
)]

#[path = "http/admission.rs"]
mod admission;
#[path = "http/authority.rs"]
mod authority;
#[path = "http/authorization.rs"]
mod authorization;
#[path = "http/batch.rs"]
mod batch;
#[path = "http/bounds.rs"]
mod bounds;
#[path = "http/bundles.rs"]
mod bundles;
#[path = "http/cases.rs"]
mod cases;
#[path = "http/client.rs"]
mod client;
#[path = "http/control.rs"]
mod control;
#[path = "http/control_builds.rs"]
mod control_builds;
#[path = "http/control_downloads.rs"]
mod control_downloads;
#[path = "http/counted.rs"]
mod counted;
#[path = "http/description.rs"]
mod description;
#[path = "http/discovery.rs"]
mod discovery;
#[path = "http/distribution.rs"]
mod distribution;
#[path = "http/downloads.rs"]
mod downloads;
#[allow(
    dead_code,
    clippy::print_stderr,
    reason = "the tests of the control plane use the rest, and skipped tests say so"
)]
#[path = "../control/storage/emulators.rs"]
mod emulators;
#[path = "http/environment.rs"]
mod environment;
#[path = "http/gatekeeper.rs"]
mod gatekeeper;
#[path = "http/heads.rs"]
mod heads;
#[path = "http/hosts.rs"]
mod hosts;
#[path = "http/identity.rs"]
mod identity;
#[path = "http/inside.rs"]
mod inside;
#[path = "http/kube_mgmt.rs"]
mod kube_mgmt;
#[path = "http/load.rs"]
mod load;
#[path = "http/metadata.rs"]
mod metadata;
#[path = "http/page.rs"]
mod page;
#[path = "http/pages.rs"]
mod pages;
#[path = "http/persistence.rs"]
mod persistence;
#[path = "http/plugins.rs"]
mod plugins;
#[path = "http/process.rs"]
mod process;
#[path = "http/reconfigured.rs"]
mod reconfigured;
#[path = "http/registries.rs"]
mod registries;
#[path = "http/rejections.rs"]
mod rejections;
#[path = "http/reload.rs"]
mod reload;
#[path = "http/service.rs"]
mod service;
#[allow(dead_code, reason = "the tests of decision logs use the rest")]
#[path = "decision_logs/sink.rs"]
mod sink;
#[path = "http/stores.rs"]
mod stores;
#[path = "http/tls.rs"]
mod tls;
#[path = "http/transport.rs"]
mod transport;
#[path = "http/unread.rs"]
mod unread;
#[path = "../time/waiting.rs"]
mod waiting;
#[path = "http/waiting_io.rs"]
mod waiting_io;

#[allow(dead_code, reason = "the tests of the control plane use the rest")]
#[path = "../control/sync/http_server.rs"]
mod http_server;
mod sync {
    pub(crate) use crate::http_server;
}

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use client::{Client, Message, get};
use process::Server;
use unread::Unread;
use waiting::wait_for;

#[test]
fn recorded_requests_are_answered_as_recorded() {
    cases::run();
}

#[test]
fn a_connection_serves_many_requests() {
    let server = Server::start(&[]);
    let mut client = Client::connect(server.address());
    for number in 0..50 {
        let put = Message::new("PUT", "/v1/data/n").body(number.to_string());
        assert_eq!(client.send(&put).status, 204);
        assert_eq!(
            client.send(&Message::new("GET", "/v1/data/n")).text(),
            format!("{{\"result\":{number}}}\n")
        );
    }
}

#[test]
fn many_clients_are_answered_at_once() {
    let server = Server::start(&[("p.rego", "package p\n\ndouble := input * 2\n")]);
    let address = server.address();
    std::thread::scope(|scope| {
        for thread in 0..16 {
            scope.spawn(move || {
                let mut client = Client::connect(address);
                for turn in 0..100 {
                    let number = thread * 1000 + turn;
                    let ask = Message::new("POST", "/v1/data/p/double")
                        .body(format!("{{\"input\":{number}}}"));
                    assert_eq!(
                        client.send(&ask).text(),
                        format!("{{\"result\":{}}}\n", number * 2)
                    );
                }
            });
        }
        // policies and documents change during the requests
        scope.spawn(move || {
            let mut client = Client::connect(address);
            for turn in 0..30 {
                let text = format!("package other\n\nn := {turn}\n");
                assert_eq!(
                    client
                        .send(&Message::new("PUT", "/v1/policies/other").body(text))
                        .status,
                    200
                );
                let answer = client.send(&Message::new("GET", "/v1/data/other/n"));
                assert_eq!(answer.text(), format!("{{\"result\":{turn}}}\n"));
            }
        });
    });
}

/// A length at which [`slow_policy`] never ends: its clients disconnect, or its time-out expires.
const ENDLESS: usize = 5000;

/// A policy that iterates over all triples of a list.
fn slow_policy(length: usize) -> String {
    let list: Vec<String> = (1..=length).map(|number| number.to_string()).collect();
    format!(
        "package slow\n\nlist := [{}]\n\n\
         count_all := count([1 | some a in list; some b in list; some c in list; a + b + c == 0])\n",
        list.join(", ")
    )
}

#[test]
fn slow_evaluations_leave_the_server_free() {
    let long = slow_policy(90).replace("package slow", "package long");
    let files = [("slow.rego", &*slow_policy(ENDLESS)), ("long.rego", &long)];
    let server = Server::start_with(&["--timeout", "1h"], &files);
    let address = server.address();
    let endless: Vec<_> = (0..4)
        .map(|_| Unread::get(address, "/v1/data/slow/count_all"))
        .collect();
    server.wait_for_work();
    for _ in 0..20 {
        assert_eq!(get(address, "/health").status, 200);
    }
    let long = get(address, "/v1/data/long/count_all");
    assert_eq!(long.text(), "{\"result\":0}\n");
    // they were still running, so nothing waited for them
    assert!(endless.iter().all(Unread::is_unanswered));
}

#[test]
fn open_requests_finish_before_the_server_stops() {
    let policy = "package p\n\nstatus := http.send({\"method\": \"get\", \"url\": input, \"timeout\": \"10m\"}).status_code\n";
    let mut server = Server::start(&[("p.rego", policy)]);
    let address = server.address().to_owned();
    let backend = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", backend.local_addr().unwrap());
    let ask = Message::new("POST", "/v1/data/p/status").body(format!("{{\"input\":\"{url}\"}}"));
    let open = std::thread::spawn(move || Client::connect(&address).send(&ask).text());
    // the decision waits for a response while the server starts to shut down
    backend.set_nonblocking(true).unwrap();
    let (mut asked, _) = wait_for("the policy sends its request", || backend.accept().ok());
    server.signal("TERM");
    server.logged_message("Shutting down.");
    asked.set_nonblocking(false).unwrap();
    assert_ne!(asked.read(&mut [0; 1024]).unwrap(), 0);
    asked.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    assert_eq!(server.wait(), Some(0));
    assert_eq!(open.join().unwrap(), "{\"result\":204}\n");
}

#[test]
fn bodies_are_bounded() {
    let server = Server::start_with(&["--max-body", "50"], &[]);
    let large = Message::new("POST", "/v1/data/x").body("x".repeat(73));
    let answer = Client::connect(server.address()).send(&large);
    assert_eq!(answer.status, 400);
    let want =
        "request body too large: 73 bytes exceeds limit of 50 bytes (server.decoding.max_length)";
    assert!(answer.text().contains(want), "{}", answer.text());
    let chunked = Message::new("POST", "/v1/data/x")
        .body("{\"input\": 1} ".repeat(20))
        .chunked();
    let answer = Client::connect(server.address()).send(&chunked);
    assert_eq!(answer.status, 400);
    assert!(
        answer
            .text()
            .contains("request body too large: exceeds limit of 50 bytes"),
        "{}",
        answer.text()
    );
}

#[test]
fn bundles_are_served() {
    // files with `.pem` in their names are not passed as paths
    let files = [
        ("b.pem/.manifest", r#"{"roots": ["a", "p"]}"#),
        ("b.pem/a/data.json", r#"{"x": 1}"#),
        ("b.pem/a/other.json", r#"{"unseen": true}"#),
        ("b.pem/p.rego", "package p\n\nx := data.a.x\n"),
        ("b.pem/.signatures.json", "{}"),
    ];
    let server = Server::start_with(&["-b", "--skip-verify=true", "b.pem"], &files);
    let read = |path: &str| get(server.address(), path).text();
    assert_eq!(read("/v1/data/a"), "{\"result\":{\"x\":1}}\n");
    assert_eq!(read("/v1/data/p"), "{\"result\":{\"x\":1}}\n");
    let policy = get(server.address(), "/v1/policies/b.pem/p.rego");
    assert_eq!(policy.status, 200);
}

#[test]
fn nesting_is_bounded() {
    let server = Server::start(&[("p.rego", "package p\n\necho := input\n")]);
    let mut client = Client::connect(server.address());
    let mut refused = |method: &str, target: &str, body: String, words: &str| {
        let answer = client.send(&Message::new(method, target).body(body));
        assert_eq!(answer.status, 400, "{method} {target:.40}");
        assert!(answer.text().contains(words), "{}", answer.text());
    };
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let deep = nested(100_000);
    refused(
        "POST",
        "/v1/data/p/echo",
        format!("{{\"input\":{deep}}}"),
        "exceeded max depth",
    );
    refused(
        "POST",
        "/v0/data/p/echo",
        deep.clone(),
        "exceeded max depth",
    );
    refused("PUT", "/v1/data/x", deep.clone(), "exceeded max depth");
    refused(
        "PATCH",
        "/v1/data/x",
        format!("[{{\"op\":\"add\",\"path\":\"/y\",\"value\":{deep}}}]"),
        "exceeded max depth",
    );
    refused(
        "PUT",
        "/v1/policies/p",
        format!("package p\n\nx := {deep}\n"),
        "recursion depth exceeded",
    );
    refused(
        "POST",
        "/v1/query",
        format!("{{\"query\":\"x = {deep}\"}}"),
        "recursion depth exceeded",
    );
    // nesting documents in one another does not exceed the depth limit either
    refused(
        "PUT",
        &format!("/v1/data{}", "/a".repeat(10_500)),
        "1".to_owned(),
        "deeper than",
    );
    refused(
        "PUT",
        &format!("/v1/data{}", "/a".repeat(200)),
        nested(9_900),
        "deeper than",
    );
    let mut client = Client::connect(server.address());
    assert_eq!(
        client
            .send(&Message::new("PUT", "/v1/data/b/c").body(nested(6_000)))
            .status,
        204
    );
    let copy = "[{\"op\":\"copy\",\"from\":\"/b\",\"path\":\"/b/c";
    let copy = format!("{copy}{}\"}}]", "/0".repeat(5_999) + "/-");
    let answer = client.send(&Message::new("PATCH", "/v1/data").body(copy));
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("deeper than"), "{}", answer.text());
}

#[test]
fn sockets_in_the_file_system_are_served() {
    let folder = process::Folder::with(&[]);
    let socket = folder.path().join("solon.sock");
    let address = format!("unix://{}", socket.display());
    let server = Server::start_with(&["--addr", &address, "--unix-socket-perm", "700"], &[]);
    let mut client = Client::connect_unix(&socket);
    assert_eq!(client.send(&Message::new("GET", "/health")).text(), "{}\n");
    drop(server);
}

#[test]
fn log_lines_have_the_configured_time_format() {
    let mut server = Server::start_with(&["--log-timestamp-format", "2006 at"], &[]);
    server.terminate();
    for line in server.log() {
        let time = line["time"].as_str().unwrap();
        let year = time.strip_suffix(" at").unwrap();
        assert!(year.len() == 4 && year.parse::<u32>().is_ok(), "{time}");
    }
}

#[test]
fn requests_are_logged() {
    let mut server = Server::start(&[("p.rego", "package p\n\nsaid if print(\"hello\", input)\n")]);
    get(server.address(), "/v1/data/p/said?input=1");
    server.terminate();
    let log = server.log();
    let line = |message: &str| {
        log.iter()
            .find(|line| line["msg"] == message)
            .unwrap_or_else(|| panic!("{message}"))
    };
    let sent = line("Sent response.");
    assert_eq!(sent["level"], "info");
    assert_eq!(sent["req_method"], "GET");
    assert_eq!(sent["req_path"], "/v1/data/p/said");
    assert_eq!(sent["resp_status"], 200);
    assert_eq!(line("Received request.")["req_id"], sent["req_id"]);
    line("hello 1");
    line("Shutting down.");
}
