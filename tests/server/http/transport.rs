//! Transport: sockets, chunked bodies, idle connections, compression.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use crate::client::{Client, Message, get};
use crate::process::{Folder, Server};
use crate::waiting::{HANG, wait_until};

fn status(answer: &str) -> &str {
    answer.get(9..12).unwrap_or(answer)
}

#[test]
fn names_of_requests_come_back() {
    let mut server = Server::start(&[]);
    let named = Message::new("GET", "/health").header("X-Request-Id", "abc-1");
    let answer = Client::connect(server.address()).send(&named);
    assert_eq!(answer.header("x-request-id"), Some("abc-1"));
    assert_eq!(
        get(server.address(), "/health").header("x-request-id"),
        None
    );
    let sent = server.logged_message("Sent response.");
    assert_eq!(sent["request_id"], "abc-1");
}

#[test]
fn connections_may_rest_between_requests_but_not_within() {
    let start = |head: &str, body: &str, idle: &str| {
        let flags = ["--head-timeout", head, "--body-timeout", body];
        Server::start_with(&[&flags[..], &["--idle-timeout", idle]].concat(), &[])
    };
    // returns everything until the connection ends, which is long before the time-outs of one hour
    let ends = |server: &Server, text: &str| {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it ends");
        answer
    };
    let server = start("700ms", "1h", "1h");
    let mut resting = Client::connect(server.address());
    resting.send(&Message::new("GET", "/health"));
    // longer than the time-out of a head
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(resting.send(&Message::new("GET", "/health")).status, 200);
    ends(&server, "GET /health HTTP/1.1\r\nHos");
    let server = start("1h", "700ms", "1h");
    let answer = ends(
        &server,
        "PUT /v1/data/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n[1",
    );
    assert_eq!(status(&answer), "408", "{answer}");
    assert!(answer.contains("request_timeout"), "{answer}");
    let server = start("1h", "1h", "2s");
    let begin = Instant::now();
    assert_eq!(ends(&server, ""), "");
    let took = begin.elapsed();
    assert!(took >= Duration::from_secs(2), "{took:?}");
}

#[test]
fn bodies_are_decompressed_and_responses_compressed_on_every_route() {
    use std::io::Write as _;
    let server = Server::start(&[]);
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let mut client = Client::connect(server.address());
    let mut send = |method: &str, target: &str, text: &str| {
        let message = Message::new(method, target).header("Content-Encoding", "gzip");
        client.send(&message.body(gzip(text))).status
    };
    assert_eq!(send("PUT", "/v1/data/a", "[1, 2]"), 204);
    assert_eq!(
        send(
            "PATCH",
            "/v1/data/a",
            "[{\"op\": \"add\", \"path\": \"/-\", \"value\": 3}]"
        ),
        204
    );
    let policy = format!("package p\n\n# {}\nx := data.a\n", "long ".repeat(400));
    assert_eq!(send("PUT", "/v1/policies/p", &policy), 200);
    assert_eq!(
        get(server.address(), "/v1/data/p/x").text(),
        "{\"result\":[1,2,3]}\n"
    );
    for target in ["/v1/policies", "/v1/policies/p", "/metrics"] {
        let plain = get(server.address(), target);
        assert_eq!(plain.header("content-encoding"), None, "{target}");
        let packed = Message::new("GET", target).header("Accept-Encoding", "gzip");
        let packed = Client::connect(server.address()).send(&packed);
        assert_eq!(packed.header("content-encoding"), Some("gzip"), "{target}");
        assert_eq!(packed.header("vary"), Some("Accept-Encoding"), "{target}");
        assert!(packed.body.len() < plain.body.len(), "{target}");
    }
}

#[test]
fn sockets_in_the_file_system_come_and_go() {
    let folder = Folder::with(&[("plain.txt", "kept")]);
    let socket = folder.path().join("solon.sock");
    drop(UnixListener::bind(&socket).unwrap());
    let address = format!("unix://{}", socket.display());
    let mut server = Server::start_with(&["--addr", &address], &[]);
    assert_eq!(
        Client::connect_unix(&socket)
            .send(&Message::new("GET", "/health"))
            .status,
        200
    );
    // a second server does not take the socket of the first
    let (code, text) = Server::fail(&["--addr", &address]);
    assert_eq!(code, Some(1));
    let want = format!("listen {address}: another process listens on this socket");
    assert!(text.contains(&want), "{text}");
    assert_eq!(
        Client::connect_unix(&socket)
            .send(&Message::new("GET", "/health"))
            .status,
        200
    );
    assert_eq!(server.terminate(), Some(0));
    assert!(!socket.exists(), "the file goes with the server");
    let plain = folder.path().join("plain.txt");
    let (code, text) = Server::fail(&["--addr", &format!("unix://{}", plain.display())]);
    assert_eq!(code, Some(1));
    assert!(text.contains("the file is not a socket"), "{text}");
    assert_eq!(std::fs::read(&plain).unwrap(), b"kept");
}

#[test]
fn diagnosis_has_an_address_of_its_own() {
    let mut server = Server::start_with(&["--diagnostic-addr", "127.0.0.1:0"], &[]);
    let diagnostic = server.diagnostic_address().to_owned();
    for (target, main, own) in [
        ("/health", 200, 200),
        ("/metrics", 200, 200),
        ("/v1/data", 200, 404),
        ("/", 200, 404),
    ] {
        assert_eq!(get(server.address(), target).status, main, "{target}");
        assert_eq!(get(&diagnostic, target).status, own, "{target}");
    }
    let metrics = get(&diagnostic, "/metrics").text();
    let want =
        "http_request_duration_seconds_count{code=\"200\",handler=\"health\",method=\"get\"} 2\n";
    assert!(metrics.contains(want), "{metrics}");
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn configurations_are_reported_and_counted() {
    let config = "
default_decision: /p/other
labels: {region: '${SOLON_TEST_REGION}', id: me}
services: {s: {url: 'http://x', credentials: {bearer: {token: secret}}}}
server: {decoding: {max_length: 60}}
servr: {}
";
    let policy = "package p\n\nother := opa.runtime().config.labels\n";
    let flags = ["--config-file", "c.yaml", "--set", "labels.more=1a"];
    let mut server = Server::start_with(&flags, &[("p.rego", policy), ("c.yaml", config)]);
    let shown: serde_json::Value =
        serde_json::from_str(&get(server.address(), "/v1/config").text()).unwrap();
    assert_eq!(
        shown["result"]["services"],
        serde_json::json!({"s": {"url": "http://x"}})
    );
    assert_eq!(shown["result"]["labels"]["more"], "1a");
    assert_eq!(shown["result"]["labels"]["id"], "me");
    let decided = Client::connect(server.address()).send(&Message::new("POST", "/").body("{}"));
    assert_eq!(
        decided.text(),
        "{\"id\":\"me\",\"more\":\"1a\",\"region\":\"${SOLON_TEST_REGION}\"}\n"
    );
    let large =
        Client::connect(server.address()).send(&Message::new("POST", "/").body("7".repeat(61)));
    assert!(
        large.text().contains("61 bytes exceeds limit of 60 bytes"),
        "{}",
        large.text()
    );
    server.logged_message("unknown configuration option \"servr\", did you mean \"server\"?");
    let (code, text) = Server::fail(&["--set", "default_decision=5"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        text,
        "error: config error: default_decision: expected a string, got a number\n"
    );
}

#[test]
fn files_are_loaded_again_when_they_change() {
    let mut server = Server::start_with(
        &["--watch"],
        &[
            ("p.rego", "package p\n\nx := data.n\n"),
            ("d.json", "{\"n\": 1, \"m\": 1}"),
        ],
    );
    let address = server.address().to_owned();
    let shows = |target: &str, want: &str| {
        let what = format!("{target} is {want}");
        wait_until(&what, || get(&address, target).text() == want);
    };
    shows("/v1/data/p/x", "{\"result\":1}\n");
    std::fs::write(server.folder().join("d.json"), "{\"n\": 22}").unwrap();
    shows("/v1/data/p/x", "{\"result\":22}\n");
    shows("/v1/data/m", "{}\n");
    std::fs::write(server.folder().join("p.rego"), "package p\n\nbroken").unwrap();
    server.logged_message(
        "Files changed, and cannot be loaded; policies and documents stay as they were.",
    );
    assert_eq!(get(&address, "/v1/data/p/x").text(), "{\"result\":22}\n");
    std::fs::write(
        server.folder().join("p.rego"),
        "package p\n\nx := \"mended\"\n",
    )
    .unwrap();
    shows("/v1/data/p/x", "{\"result\":\"mended\"}\n");
}

/// The ids of files with absolute paths omit the first slash, so that clients can write them.
#[test]
fn policies_of_absolute_paths_are_addressed_by_their_ids() {
    let folder = Folder::with(&[("a/p.rego", "package p\n\nx := 1\n")]);
    let path = folder.path().join("a").display().to_string();
    let server = Server::start_with(&[&path], &[]);
    let listed = get(server.address(), "/v1/policies").text();
    let id = format!("{}/p.rego", path.trim_start_matches('/'));
    assert!(listed.contains(&format!("\"id\":\"{id}\"")), "{listed}");
    let target = format!("/v1/policies/{id}");
    let shown = get(server.address(), &target).text();
    assert!(shown.contains(&format!("\"id\":\"{id}\"")), "{shown}");
    // an id with the slash is another policy
    let mut client = Client::connect(server.address());
    let other = format!("/v1/policies/%2F{id}");
    assert_eq!(get(server.address(), &other).status, 404);
    let put = Message::new("PUT", &other).body("package other\n\nx := 1\n");
    assert_eq!(client.send(&put).status, 200);
    let listed = get(server.address(), "/v1/policies").text();
    for id in [id.clone(), format!("/{id}")] {
        assert!(listed.contains(&format!("\"id\":\"{id}\"")), "{listed}");
    }
    assert_eq!(client.send(&Message::new("DELETE", &other)).status, 200);
    assert_eq!(client.send(&Message::new("DELETE", &other)).status, 404);
    let text = "package p\n\nx := 2\n";
    let put = Message::new("PUT", &target).body(text);
    assert_eq!(client.send(&put).status, 200);
    assert_eq!(
        get(server.address(), "/v1/data/p/x").text(),
        "{\"result\":2}\n"
    );
    let delete = Message::new("DELETE", &target);
    assert_eq!(client.send(&delete).status, 200);
    assert_eq!(get(server.address(), "/v1/data/p/x").text(), "{}\n");
}

/// Bytes after a body are read without another wake-up, wherever the input is split.
#[test]
fn requests_with_bodies_follow_one_another() {
    let server = Server::start(&[("p.rego", "package p\n\nx := input\n")]);
    let small =
        "POST /v1/data/p/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n{\"input\":1}";
    let parts = "POST /v1/data/p/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"inp\r\n6\r\nut\":1}\r\n0\r\n\r\n";
    let large = format!("{{\"input\":\"{}\"}}", "a".repeat(100_000));
    let large = format!(
        "POST /v1/data/p/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{large}",
        large.len()
    );
    let unread = "GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello";
    let all = [
        small, small, parts, small, &large, unread, small, parts, parts, small,
    ]
    .concat();
    for cut in [all.len(), 1 << 15, 97, 60, 11] {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        let mut sending = stream.try_clone().unwrap();
        let bytes = all.clone().into_bytes();
        let sender = std::thread::spawn(move || {
            for part in bytes.chunks(cut) {
                sending.write_all(part).unwrap();
                if cut == 97 {
                    std::thread::sleep(Duration::from_micros(200));
                }
            }
        });
        let mut answers = String::new();
        let mut buffer = vec![0; 1 << 16];
        while answers.matches("HTTP/1.1 200 OK").count() < 10 || !answers.ends_with("}\n") {
            let read = stream.read(&mut buffer).expect("all are answered");
            assert_ne!(read, 0, "{answers}");
            answers.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
        assert_eq!(answers.matches("{\"result\":1}\n").count(), 8, "{cut}");
        sender.join().unwrap();
    }
}
