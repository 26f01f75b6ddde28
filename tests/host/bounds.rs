//! No answer takes longer or more memory than it may.

use std::sync::atomic::Ordering;
use std::time::Duration;

use solon::{Cancel, Limits, Request};

use crate::engine::{decide, engine, evaluate};
use crate::raw::Raw;
use crate::server::Server;
use crate::waiting::{Waiting, wait_until};

fn send(url: &str, fields: &str) -> String {
    format!("http.send({{\"method\": \"get\", \"url\": \"{url}\"{fields}}}).raw_body")
}

#[test]
fn evaluations_end_in_time() {
    let server = Server::start();
    let limits = Limits::default().time(Some(Duration::from_millis(50)));
    for path in ["/slow", "/stall"] {
        // the request alone would wait for longer than a test may take
        let fields = ", \"raise_error\": false, \"timeout\": 0";
        let engine = engine(&send(&server.url(path), fields));
        let waiting = Waiting::until("the evaluation ends");
        assert_eq!(
            decide(&engine, &Request::new().limits(&limits)).unwrap_err(),
            "eval_cancel_error: http.send: timed out (context deadline exceeded)"
        );
        waiting.check();
    }
}

#[test]
fn evaluations_are_stopped_while_they_wait() {
    let server = Server::start();
    for path in ["/slow", "/stall"] {
        let engine = engine(&send(&server.url(path), ", \"timeout\": 0"));
        let cancel = Cancel::default();
        let before = server.count();
        let waiting = Waiting::until("the evaluation ends");
        let error = std::thread::scope(|scope| {
            scope.spawn(|| {
                wait_until("the request is sent", || server.count() > before);
                cancel.cancel();
            });
            decide(&engine, &Request::new().cancel(&cancel)).unwrap_err()
        });
        assert_eq!(
            error,
            "eval_cancel_error: http.send: timed out (context canceled)"
        );
        waiting.check();
    }
}

#[test]
fn large_bodies_are_rejected() {
    let server = Server::start();
    let limits = Limits::default().memory(Some(2 << 20));
    for path in ["/bomb", "/large/4000000"] {
        let engine = engine(&send(&server.url(path), ""));
        let error = decide(&engine, &Request::new().limits(&limits)).unwrap_err();
        assert!(
            error.starts_with("eval_builtin_error: http.send: response body exceeds the limit of "),
            "{error}"
        );
    }
    let engine = engine(&send(&server.url("/large/100000"), ""));
    let body = decide(&engine, &Request::new().limits(&limits)).unwrap();
    assert_eq!(body.as_str().unwrap().len(), 100_000);
}

#[test]
fn invalid_responses_are_rejected() {
    for (answer, problem) in [
        (&b""[..], "EOF"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "EOF"),
        (
            b"GARBAGE\r\n\r\n",
            "net/http: HTTP/1.x transport connection broken: malformed HTTP response",
        ),
    ] {
        let raw = Raw::start(&[answer]);
        let url = format!("http://{}/", raw.address);
        assert_eq!(
            evaluate(&send(&url, "")),
            Err(format!(
                "eval_builtin_error: http.send: Get \"{url}\": {problem}"
            ))
        );
    }
    for answer in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"[..],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ] {
        let raw = Raw::start(&[answer]);
        assert_eq!(
            evaluate(&send(&format!("http://{}/", raw.address), "")),
            Err("eval_builtin_error: http.send: unexpected EOF".into())
        );
    }
    let raw =
        Raw::start(&[b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"]);
    assert_eq!(
        evaluate(&send(&format!("http://{}/", raw.address), "")),
        Err("eval_builtin_error: http.send: unexpected EOF".into())
    );
}

#[test]
fn requests_are_sent_again() {
    const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood";
    let raw = Raw::start(&[b"", b"", GOOD]);
    let url = format!("http://{}/", raw.address);
    let start = std::time::Instant::now();
    assert_eq!(
        evaluate(&send(&url, ", \"max_retry_attempts\": 2")),
        Ok("good".into())
    );
    assert_eq!(raw.connections.load(Ordering::SeqCst), 3);
    assert!(start.elapsed() >= Duration::from_millis(200));
    let raw = Raw::start(&[b"", b"", GOOD]);
    let url = format!("http://{}/", raw.address);
    let error = evaluate(&send(&url, ", \"max_retry_attempts\": 1")).unwrap_err();
    assert!(error.ends_with(": EOF"), "{error}");
    assert_eq!(raw.connections.load(Ordering::SeqCst), 2);
    // an answer is an answer, whatever its status
    let server = Server::start();
    let broken = format!(
        "http.send({{\"method\": \"get\", \"url\": \"{}\", \"max_retry_attempts\": 5}}).status_code",
        server.url("/status/500")
    );
    assert_eq!(evaluate(&broken), Ok(500.into()));
    assert_eq!(server.count(), 1);
}

#[test]
fn circles_of_redirections_end() {
    let server = Server::start();
    let url = server.url("/redirect/302?/redirect/302");
    let url = url.replace(
        "?/redirect/302",
        &format!("?{}", server.url("/redirect/302?/")),
    );
    let error = evaluate(&send(&url, ", \"enable_redirect\": true"));
    assert!(error.is_err(), "{error:?}");
    let endless = Raw::start(&[
        b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ]);
    let url = format!("http://{}/", endless.address);
    let error = evaluate(&send(&url, ", \"enable_redirect\": true")).unwrap_err();
    assert!(
        error.ends_with("/again\": stopped after 100 redirects"),
        "{error}"
    );
}

#[test]
#[cfg(unix)]
fn sockets_receive_requests_like_hosts() {
    use std::io::{Read as _, Write as _};
    let path = std::env::temp_dir().join(format!("solon-{}.sock", std::process::id()));
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = [0; 4096];
        let read = stream.read(&mut buffer).unwrap();
        let line = buffer[..read].split(|byte| *byte == b'\r').next().unwrap();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", line.len());
        stream.write_all(&[head.as_bytes(), line].concat()).unwrap();
    });
    let socket = path.to_str().unwrap().replace('/', "%2F");
    let url = format!("unix://localhost/x/y?b=2&socket={socket}&a=1");
    assert_eq!(
        evaluate(&send(&url, "")),
        Ok("GET /x/y?a=1&b=2 HTTP/1.1".into())
    );
    std::fs::remove_file(&path).unwrap();
}
