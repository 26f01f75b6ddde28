//! `http.send` through the proxies of the environment, and its metrics.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value as Json;

/// Starts a server that reports the first bytes of each connection and responds to them. It also reports the bytes after
/// the response to `CONNECT`.
fn server(answer: &'static str) -> (SocketAddr, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
                head.push(byte[0]);
            }
            tell.send(head).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            let mut first = [0; 3];
            if stream.read_exact(&mut first).is_ok() {
                tell.send(first.to_vec()).unwrap();
            }
        }
    });
    (address, told)
}

/// Evaluates a request by `solon eval`, with its own environment variables.
fn evaluate(url: &str, variables: &[(&str, &str)]) -> Json {
    evaluate_with(&[], url, variables)
}

/// Evaluates a request by `solon eval` with flags.
fn evaluate_with(flags: &[&str], url: &str, variables: &[(&str, &str)]) -> Json {
    let query = format!(r#"http.send({{"method": "get", "url": "{url}", "raise_error": false}})"#);
    let output = Command::new(env!("CARGO_BIN_EXE_solon"))
        .args(["eval", "--format", "json", "--metrics"])
        .args(flags)
        .arg(&query)
        .env_clear()
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn answer(shown: &Json) -> &Json {
    &shown["result"][0]["expressions"][0]["value"]
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

#[test]
fn plain_requests_name_the_server_to_the_proxy() {
    let (proxy, told) = server(OK);
    let proxy = format!("http://u:p@{proxy}");
    let shown = evaluate("http://a.test/x?y=z", &[("HTTP_PROXY", &proxy)]);
    assert_eq!(answer(&shown)["raw_body"], "ok", "{shown}");
    let head = String::from_utf8(told.recv().unwrap()).unwrap();
    assert!(
        head.starts_with("GET http://a.test/x?y=z HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(head.contains("\r\nHost: a.test\r\n"), "{head}");
    let lower = head.to_lowercase();
    assert!(
        lower.contains("\r\nproxy-authorization: basic dtpw\r\n"),
        "{head}"
    );
    let metrics = &shown["metrics"];
    assert_eq!(
        metrics["counter_rego_builtin_http_send_network_requests"],
        1
    );
    assert!(metrics["timer_rego_builtin_http_send_ns"].as_i64() > Some(0));
}

#[test]
fn secure_requests_use_a_tunnel() {
    let (proxy, told) = server("HTTP/1.1 200 Connection established\r\n\r\n");
    let proxy = format!("http://{proxy}");
    let shown = evaluate("https://a.test/", &[("https_proxy", &proxy)]);
    assert!(answer(&shown)["error"].is_object(), "{shown}");
    let head = String::from_utf8(told.recv().unwrap()).unwrap();
    assert_eq!(
        head,
        "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"
    );
    // the beginning of a TLS handshake, version 3
    assert_eq!(&told.recv().unwrap()[..2], [0x16, 3]);
}

#[test]
fn proxies_may_reject_requests() {
    let (proxy, _told) = server("HTTP/1.1 403 Not for you\r\n\r\n");
    let proxy = format!("http://{proxy}");
    let shown = evaluate("https://a.test/", &[("HTTPS_PROXY", &proxy)]);
    assert_eq!(
        answer(&shown)["error"]["message"],
        "Get \"https://a.test/\": Not for you",
        "{shown}"
    );
    let shown = evaluate("http://a.test/", &[("HTTP_PROXY", "http://127.0.0.1:1")]);
    assert_eq!(
        answer(&shown)["error"]["message"],
        "Get \"http://a.test/\": proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused",
        "{shown}"
    );
}

#[test]
fn servers_on_this_machine_and_exceptions_are_called_directly() {
    let (address, told) = server(OK);
    let url = format!("http://{address}/");
    let shown = evaluate(&url, &[("HTTP_PROXY", "http://127.0.0.1:1")]);
    assert_eq!(answer(&shown)["raw_body"], "ok", "{shown}");
    let head = String::from_utf8(told.recv().unwrap()).unwrap();
    assert!(head.starts_with("GET / HTTP/1.1\r\n"), "{head}");
    let (proxy, asked) = server(OK);
    let proxy = format!("http://{proxy}");
    let shown = evaluate(
        "http://no-such-name.invalid/",
        &[("HTTP_PROXY", &proxy), ("NO_PROXY", ".invalid")],
    );
    assert!(answer(&shown)["error"].is_object(), "{shown}");
    assert!(asked.try_recv().is_err(), "the proxy was asked");
}

/// A restricted request neither connects to a proxy in a private network, nor to a private address through any proxy.
#[test]
fn proxies_are_no_way_around_denied_networks() {
    let deny = ["--deny-private-networks"];
    let (proxy, asked) = server(OK);
    let (local, address) = (format!("http://{proxy}"), proxy.to_string());
    let far = "http://proxy.invalid:1";
    let of_proxy =
        format!("proxyconnect tcp: dial tcp {address}: private networks are denied (loopback)");
    for (url, variable, proxy, want) in [
        ("http://a.test/", "HTTP_PROXY", &*local, &*of_proxy),
        ("https://a.test/", "HTTPS_PROXY", &local, &of_proxy),
        (
            "http://169.254.169.254/",
            "HTTP_PROXY",
            far,
            "dial tcp 169.254.169.254: private networks are denied (metadata service)",
        ),
        (
            "https://10.0.0.1/",
            "https_proxy",
            far,
            "dial tcp 10.0.0.1: private networks are denied (private)",
        ),
        (
            "http://2130706433/",
            "HTTP_PROXY",
            far,
            "dial tcp 2130706433: private networks are denied (ambiguous address)",
        ),
        (
            "http://localhost./",
            "HTTP_PROXY",
            far,
            "dial tcp localhost.: private networks are denied (loopback)",
        ),
        // these are not sent to the proxy
        (
            "http://127.0.0.1:1/",
            "HTTP_PROXY",
            far,
            "dial tcp 127.0.0.1:1: private networks are denied (loopback)",
        ),
        (
            "http://a.test/",
            "HTTP_PROXY",
            far,
            "dial tcp: lookup proxy.invalid: ",
        ),
    ] {
        let shown = evaluate_with(&deny, url, &[(variable, proxy)]);
        let message = answer(&shown)["error"]["message"].as_str().unwrap();
        assert!(message.contains(want), "{url} {variable}: {message}");
    }
    assert!(asked.try_recv().is_err(), "the proxy was asked");
    let off = ["--deny-private-networks=false"];
    let shown = evaluate_with(&off, "http://a.test/", &[("HTTP_PROXY", &local)]);
    assert_eq!(answer(&shown)["raw_body"], "ok", "{shown}");
}
