//! Host check: a server without authentication accepts only requests that name one of its hosts. This prevents access from
//! web pages by DNS rebinding.

use std::process::Command;

use crate::client::{Client, Message, raw};
use crate::process::{Folder, Server};

/// Returns the status and the body of a response to a `GET` with these header lines.
fn get_with(address: &str, target: &str, version: &str, lines: &str) -> (String, String) {
    let text = format!("GET {target} HTTP/{version}\r\n{lines}Connection: close\r\n\r\n");
    let response = raw(address, text.as_bytes());
    let status = response.get(9..12).unwrap_or_default().to_owned();
    (status, response)
}

fn status(address: &str, target: &str, lines: &str) -> String {
    get_with(address, target, "1.1", lines).0
}

fn port(server: &Server) -> &str {
    server.address().rsplit(':').next().unwrap()
}

#[test]
fn requests_name_a_host_of_the_server() {
    let server = Server::start_with(&["--allowed-host", "solon.example,other.example:77"], &[]);
    let port = port(&server);
    for host in [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "localhost:",
        &format!("localhost:{port}"),
        // through a forwarded port.
        "localhost:1",
        "127.0.0.1",
        &format!("127.0.0.1:{port}"),
        "127.8.9.10",
        "[::1]",
        &format!("[::1]:{port}"),
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]:1",
        "solon.example",
        "Solon.Example.:8181",
        "other.example:77",
    ] {
        let lines = format!("Host: {host}\r\n");
        assert_eq!(status(server.address(), "/health", &lines), "200", "{host}");
    }
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        "localhost.evil.example",
        "evil.localhost",
        "xlocalhost",
        "localhost..",
        "192.0.2.1",
        "127.0.0.1.evil.example",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "0.0.0.0",
        "[::]",
        "[::2]",
        "::1",
        "[::1",
        "%6cocalhost",
        "localhost:x",
        "localhost:99999",
        "localhost,evil.example",
        "",
        "sub.solon.example",
        "other.example",
        "other.example:78",
    ] {
        let lines = format!("Host: {host}\r\n");
        let (status, response) = get_with(server.address(), "/health", "1.1", &lines);
        assert_eq!(status, "403", "{host:?}: {response}");
        assert!(
            response.contains("\"host_not_allowed\""),
            "{host}: {response}"
        );
        assert!(
            host.is_empty() || response.contains(&format!("`{host}`")),
            "{response}"
        );
        assert!(
            host.is_empty() || response.contains("--allowed-host"),
            "{response}"
        );
    }
    let two = "Host: localhost\r\nHost: evil.example\r\n";
    assert_eq!(status(server.address(), "/health", two), "400");
    // No host at all.
    let (status, response) = get_with(server.address(), "/health", "1.0", "");
    assert_eq!(status, "403", "{response}");
    let named = get_with(server.address(), "/health", "1.0", "Host: localhost\r\n");
    assert_eq!(named.0, "200");
}

#[test]
fn targets_with_a_host_name_one_of_the_server() {
    let server = Server::start(&[]);
    let local = "Host: localhost\r\n";
    let foreign = "Host: evil.example\r\n";
    for (target, lines, want) in [
        ("http://localhost/health", local, "200"),
        ("HTTP://LOCALHOST:1/health", local, "200"),
        ("http://[::1]/health", local, "200"),
        ("http://user@localhost/health", local, "200"),
        ("http://evil.example/health", local, "403"),
        ("http://localhost@evil.example/health", local, "403"),
        ("http://localhost/health", foreign, "403"),
        ("http://evil.example/health", foreign, "403"),
    ] {
        assert_eq!(
            status(server.address(), target, lines),
            want,
            "{target} {lines}"
        );
    }
    let connect =
        "CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let response = raw(server.address(), connect.as_bytes());
    assert!(response.starts_with("HTTP/1.1 403"), "{response}");
}

#[test]
fn pages_of_other_origins_are_rejected() {
    let server = Server::start_with(&["--allowed-host", "solon.example"], &[]);
    for (origin, want) in [
        ("http://localhost", "200"),
        ("http://localhost:3000", "200"),
        ("https://127.0.0.1:1", "200"),
        ("http://[::1]:8181", "200"),
        ("https://SOLON.example", "200"),
        ("null", "403"),
        ("", "403"),
        ("http://evil.example", "403"),
        ("https://localhost.evil.example:8181", "403"),
        ("http://localhost@evil.example", "403"),
        ("http://localhost/x", "403"),
        ("localhost", "403"),
        ("chrome-extension://abcdef", "403"),
        ("http://localhost http://evil.example", "403"),
        ("http://localhost\r\nOrigin: http://evil.example", "403"),
    ] {
        let lines = format!("Host: localhost\r\nOrigin: {origin}\r\n");
        let (status, response) = get_with(server.address(), "/v1/data", "1.1", &lines);
        assert_eq!(status, want, "{origin:?}: {response}");
    }
}

#[test]
fn no_route_is_excepted_and_nothing_is_changed() {
    let flags = ["--ui", "--diagnostic-addr", "127.0.0.1:0"];
    let server = Server::start_with(&flags, &[]);
    for target in [
        "/",
        "/health",
        "/health/live",
        "/metrics",
        "/metrics/alloc_bytes",
        "/openapi.json",
        "/ui",
        "/ui/ui.js",
        "/v1/data",
        "/v1/policies",
        "/v1/config",
        "/v1/status",
        "/v1/query?query=x=1",
        "/none",
        "//health",
    ] {
        for address in [server.address(), server.diagnostic_address()] {
            let lines = "Host: evil.example\r\n";
            assert_eq!(status(address, target, lines), "403", "{target}");
        }
    }
    for (method, target, body) in [
        ("PUT", "/v1/data/a", "1"),
        ("PUT", "/v1/policies/p", "package p"),
        (
            "PATCH",
            "/v1/data",
            "[{\"op\": \"add\", \"path\": \"/a\", \"value\": 1}]",
        ),
        ("OPTIONS", "/v1/data", ""),
    ] {
        let message = Message::new(method, target).header("Origin", "http://evil.example");
        let answer = Client::connect(server.address()).send(&message.body(body));
        assert_eq!(answer.status, 403, "{method} {target}");
    }
    let mut client = Client::connect(server.address());
    assert_eq!(
        client.send(&Message::new("GET", "/v1/data")).text(),
        "{\"result\":{}}\n"
    );
    let policies = client.send(&Message::new("GET", "/v1/policies"));
    assert_eq!(policies.text(), "{\"result\":[]}\n");
}

#[test]
fn authorities_of_http2_are_checked() {
    let server = Server::start_with(&["--h2c"], &[]);
    for (host, want) in [
        ("localhost", "200 2"),
        ("[::1]:80", "200 2"),
        ("evil.example", "403 2"),
        ("localhost.evil.example", "403 2"),
    ] {
        let curl = Command::new("curl")
            .args([
                "-s",
                "-o",
                "/dev/null",
                "-w",
                "%{http_code} %{http_version}",
            ])
            .args(["--http2-prior-knowledge", "--max-time", "60"])
            .args(["-H", &format!("Host: {host}")])
            .arg(format!("http://{}/health", server.address()))
            .output();
        // Only curl can send HTTP/2 in this test.
        let Ok(curl) = curl else { return };
        assert_eq!(String::from_utf8_lossy(&curl.stdout), want, "{host}");
    }
}

#[test]
fn servers_that_web_pages_cannot_use_do_not_look_at_hosts() {
    let foreign = "Host: evil.example\r\nOrigin: http://evil.example\r\n";
    let token = ["--authentication=token", "--authorization=basic"];
    let policy =
        "package system.authz\n\ndefault allow := false\n\nallow if input.identity == \"good\"\n";
    let server = Server::start_with(&token, &[("authz.rego", policy)]);
    let good = format!("{foreign}Authorization: Bearer good\r\n");
    assert_eq!(status(server.address(), "/health", &good), "200");
    assert_eq!(status(server.address(), "/health", foreign), "401");
    // A policy alone does not authenticate clients.
    let policy = "package system.authz\n\nallow := true\n";
    let server = Server::start_with(&token[1..], &[("authz.rego", policy)]);
    assert_eq!(status(server.address(), "/health", foreign), "403");
    let folder = Folder::with(&[]);
    let socket = folder.path().join("solon.sock");
    let address = format!("unix://{}", socket.display());
    let _server = Server::start_with(&["--addr", &address], &[]);
    let message = Message::new("GET", "/health").header("Origin", "http://evil.example");
    assert_eq!(Client::connect_unix(&socket).send(&message).status, 200);
}

#[test]
fn addresses_of_all_interfaces_take_any_host_unless_some_are_named() {
    let foreign = "Host: evil.example\r\n";
    let warned = |server: &mut Server| {
        let lines = server.log().iter();
        let lines = lines.filter(|line| line["level"] == "warn");
        lines
            .map(|line| line["msg"].to_string())
            .collect::<String>()
    };
    for address in ["0.0.0.0:0", "[::]:0", ":0"] {
        let mut server = Server::start_with(&["--addr", address], &[]);
        assert_eq!(
            status(server.address(), "/health", foreign),
            "200",
            "{address}"
        );
        let text = warned(&mut server);
        assert!(text.contains("--allowed-host"), "{address}: {text}");
        let flags = ["--addr", address, "--allowed-host", "solon.example"];
        let mut server = Server::start_with(&flags, &[]);
        for (host, want) in [
            ("evil.example", "403"),
            ("solon.example", "200"),
            ("localhost", "200"),
            ("127.0.0.1", "200"),
            ("0.0.0.0", "403"),
            ("[::]", "403"),
        ] {
            let lines = format!("Host: {host}\r\n");
            assert_eq!(
                status(server.address(), "/health", &lines),
                want,
                "{address}: {host}"
            );
        }
        assert!(!warned(&mut server).contains("--allowed-host"), "{address}");
    }
    // Other listeners of the same server are checked.
    let both = Server::start_with(&["--addr", "0.0.0.0:0", "--addr", "127.0.0.1:0"], &[]);
    let mut addresses = both.address().split(", ");
    assert_eq!(status(addresses.next().unwrap(), "/health", foreign), "200");
    assert_eq!(status(addresses.next().unwrap(), "/health", foreign), "403");
    for host in [
        "http://solon.example",
        "*",
        "a b",
        "solon.example/x",
        "[::1",
    ] {
        let (code, text) = Server::fail(&["--allowed-host", host]);
        assert_ne!(code, Some(0), "{host}");
        assert!(
            text.contains(&format!("invalid host `{host}`")),
            "{host}: {text}"
        );
    }
}
