//! Unusual and invalid heads of requests, and heads of responses.

use crate::client::raw;
use crate::process::Server;

fn status(answer: &str) -> &str {
    answer.get(9..12).unwrap_or(answer)
}

#[test]
fn odd_heads_are_rejected() {
    let server = Server::start_with(
        &["--max-headers", "120", "--max-head", "20KiB"],
        &[("p.rego", "package p\n\nx := input.user\n")],
    );
    let ask = |text: &str| raw(server.address(), text.as_bytes());
    let many = "X-A: b\r\n".repeat(110);
    let answer = ask(&format!(
        "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{many}\r\n"
    ));
    assert_eq!(status(&answer), "200", "{answer}");
    for (head, want, words) in [
        (
            "GET /health HTTP/1.1\r\n\r\n",
            "400",
            "missing required Host header",
        ),
        (
            "GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
            "400",
            "too many Host headers",
        ),
        (
            "GET /health HTTP/1.1\r\nHost: x/y\r\n\r\n",
            "400",
            "malformed Host header",
        ),
        (
            "GET /health HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\n\r\n",
            "417",
            "expectation_failed",
        ),
        (
            "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "405",
            "method_not_allowed",
        ),
    ] {
        let answer = ask(&head.replacen("\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1));
        assert_eq!(status(&answer), want, "{head}: {answer}");
        assert!(answer.contains(words), "{head}: {answer}");
        assert!(answer.contains("\"code\": "), "{head}: {answer}");
    }
    // A body without a known end is not read, and neither are the bytes after it.
    for (coding, want) in [
        ("gzip, chunked", "501"),
        ("chunked, chunked", "501"),
        ("chunked\r\nTransfer-Encoding: chunked", "501"),
        ("identity", "400"),
    ] {
        let answer = ask(&format!(
            "POST /v1/data/p HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: {coding}\r\n\r\n\
             0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        ));
        assert_eq!(status(&answer), want, "{coding}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{coding}: {answer}");
    }
    for large in [
        format!("X-A: {}\r\n", "b".repeat(40_000)),
        "X-A: b\r\n".repeat(130),
    ] {
        let answer = ask(&format!(
            "GET /health HTTP/1.1\r\nHost: localhost\r\n{large}\r\n"
        ));
        assert_eq!(status(&answer), "431", "{answer}");
        assert_eq!(body(&answer), "", "{answer}");
    }
    // The parser of heads rejects invalid requests, on the first request of a connection and on later ones.
    let health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for head in [
        "GARBAGE\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/data?input=\"<\" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/data?input={\"user\":1} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/data/`a` HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        "GET /health HTTP/3.7\r\nHost: localhost\r\n\r\n",
        "\u{1}\u{2}\r\n\r\n",
    ] {
        let answer = ask(head);
        assert_eq!(
            (status(&answer), body(&answer)),
            ("400", ""),
            "{head}: {answer}"
        );
        assert!(answer.contains("connection: close\r\n"), "{head}: {answer}");
        let later = ask(&format!("{health}{head}"));
        let (first, later) = later.split_once("{}\n").unwrap();
        assert_eq!(status(first), "200");
        assert_eq!((status(later), body(later)), ("400", ""), "{head}: {later}");
    }
    let long = format!(
        "GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "a".repeat(70_000)
    );
    let server = Server::start(&[]);
    let answer = raw(server.address(), long.as_bytes());
    assert_eq!((status(&answer), body(&answer)), ("414", ""), "{answer}");
}

/// Returns the part after the head of a response.
fn body(answer: &str) -> &str {
    answer
        .split_once("\r\n\r\n")
        .map_or(answer, |(_, body)| body)
}

/// No request can split a response into two.
#[test]
fn responses_are_sent_as_they_are() {
    let server = Server::start(&[("p.rego", "package p\n\nx := input\n")]);
    for name in [
        "content-length: 0",
        "content-length: 0, content-length: 0",
        "HTTP/1.1 400 Bad Request",
        "connection: close",
    ] {
        for (method, target, sent, want, words) in [
            ("PUT", "/v1/data/a", "{", "400", "unexpected EOF"),
            ("POST", "/v1/data/p/x", "{", "400", "unexpected EOF"),
            (
                "PUT",
                "/v1/policies/p",
                "package",
                "400",
                "lang_parse_error",
            ),
            ("POST", "/v1/query", "[]", "400", "expected an object"),
            (
                "GET",
                "/v1/data/p/x?input=[",
                "",
                "400",
                "invalid_parameter",
            ),
            (
                "POST",
                "/v1/data/p/x",
                "{\"input\": \"content-length: 0\"}",
                "200",
                "content-length: 0",
            ),
        ] {
            let head = format!(
                "{method} {target} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: {name}\r\nContent-Length: {}\r\n",
                sent.len()
            );
            let answer = raw(
                server.address(),
                format!("{head}Connection: close\r\n\r\n{sent}").as_bytes(),
            );
            assert_eq!(status(&answer), want, "{name}: {answer}");
            assert!(
                body(&answer).contains(words),
                "{name} {method} {target}: {answer}"
            );
            assert!(
                answer.contains(&format!("x-request-id: {name}\r\n")),
                "{answer}"
            );
            let length = format!("content-length: {}\r\n", body(&answer).len());
            assert!(answer.contains(&length), "{answer}");
            // The connection stays open after such a response.
            let next = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            let two = raw(
                server.address(),
                format!("{head}\r\n{sent}{next}").as_bytes(),
            );
            assert_eq!(
                two.matches("HTTP/1.1 ").count() - usize::from(name.contains("HTTP/1.1")),
                2,
                "{two}"
            );
            assert!(two.ends_with("{}\n"), "{two}");
        }
    }
}
