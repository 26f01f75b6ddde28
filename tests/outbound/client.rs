//! Requests: URLs, headers, credentials, redirects, errors, bounds.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use serde_json::{Value, json};
use solon_outbound::{ClientOptions, ErrorKind, HeadTimeout, NetworkRules, Services};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::server::{Server, client, client_with, fetch, get, redirect, response};

/// A new file in the folder for temporary files.
pub fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("solon-outbound-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

#[tokio::test]
async fn requests_have_the_url_and_headers_of_the_service() {
    let server = Server::start(|_, _| response(200, "body")).await;
    let service = json!({
        "url": format!("{}/base/", server.url()),
        "headers": {"X-Team": "core", "X-Other": "service"},
    });
    let client = client(&service);
    assert_eq!(
        fetch(&client, "/bundles/a.tar.gz?x=y").await,
        Ok((200, "body".to_owned()))
    );
    let received = server.last();
    assert_eq!(received.target, "/base/bundles/a.tar.gz?x=y");
    assert_eq!(received.header("x-team"), Some("core"));
    assert_eq!(
        received.header("host"),
        Some(server.address.to_string().as_str())
    );
    assert!(received.header("user-agent").unwrap().starts_with("Solon/"));
    assert_eq!(received.header("authorization"), None);
    // a header of the request replaces one of the service
    let request = Request::post("/logs")
        .header("X-Other", "request")
        .header("User-Agent", "me");
    let request = request.body(Bytes::from_static(b"{}")).unwrap();
    client.send_ok(request).await.unwrap();
    let received = server.last();
    assert_eq!(received.method, "POST");
    assert_eq!(received.header("x-other"), Some("request"));
    assert_eq!(received.header("user-agent"), Some("me"));
    assert_eq!(received.header("content-length"), Some("2"));
    assert_eq!(received.body, "{}");
    client
        .send(Request::post("/logs").body(Bytes::new()).unwrap())
        .await
        .unwrap();
    assert_eq!(server.last().header("content-length"), Some("0"));
    // not relative to the service
    let error = client.send(get("http://other.invalid/")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Request);
    assert_eq!(server.count(), 3);
}

#[tokio::test]
async fn bearer_tokens_are_sent() {
    let server = Server::start(|_, _| response(200, "")).await;
    let sent = async |credentials: Value| {
        let client = client(&json!({"url": server.url(), "credentials": credentials}));
        let error = fetch(&client, "/").await.err();
        (
            server.last().header("authorization").map(str::to_owned),
            error,
        )
    };
    let (header, _) = sent(json!({"bearer": {"token": "t1"}})).await;
    assert_eq!(header.as_deref(), Some("Bearer t1"));
    let (header, _) = sent(json!({"bearer": {"token": "t2", "scheme": "Token"}})).await;
    assert_eq!(header.as_deref(), Some("Token t2"));
    // the file is read for each request
    let path = file("token", " from-file\n");
    let service = json!({"url": server.url(), "credentials": {"bearer": {"token_path": path}}});
    let client = client(&service);
    fetch(&client, "/").await.unwrap();
    assert_eq!(
        server.last().header("authorization"),
        Some("Bearer from-file")
    );
    std::fs::write(&path, "second").unwrap();
    fetch(&client, "/").await.unwrap();
    assert_eq!(server.last().header("authorization"), Some("Bearer second"));
    let before = server.count();
    for text in ["", "  \n", "a\u{1}b", "a\nb"] {
        std::fs::write(&path, text).unwrap();
        let error = fetch(&client, "/").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Credentials, "{text:?}: {error}");
    }
    std::fs::remove_file(&path).unwrap();
    let error = fetch(&client, "/").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Credentials);
    assert!(
        error
            .to_string()
            .ends_with("token: no such file or directory"),
        "{error}"
    );
    // nothing is sent without the token
    assert_eq!(server.count(), before);
}

#[tokio::test]
async fn users_of_urls_are_sent() {
    let server = Server::start(|_, _| response(200, "")).await;
    let client = client(&json!({"url": format!("http://u:p%40@{}", server.address)}));
    fetch(&client, "/").await.unwrap();
    assert_eq!(
        server.last().header("authorization"),
        Some("Basic dTpwQA==")
    );
    assert_eq!(
        server.last().header("host"),
        Some(server.address.to_string().as_str())
    );
}

#[test]
fn configurations_are_checked() {
    for (service, want) in [
        (json!({}), "url: missing"),
        (
            json!({"url": "x"}),
            "url: expected a URL such as `https://example.com/path`",
        ),
        (
            json!({"url": "ftp://x"}),
            "url: expected `http` or `https`, got `ftp`",
        ),
        (
            json!({"url": "http://x?y"}),
            "url: expected a URL without query and fragment",
        ),
        (
            json!({"url": "http://x", "type": "git"}),
            "type: expected `oci` or no type",
        ),
        (
            json!({"url": "http://x", "headers": {"a b": "c"}}),
            "headers: `a b` is not a valid name",
        ),
        (
            json!({"url": "http://x", "headers": {"a": "b\nc"}}),
            "headers.a: not valid in a header",
        ),
        (
            json!({"url": "http://x", "response_header_timeout_seconds": -1}),
            "response_header_timeout_seconds: must not be negative",
        ),
        (
            json!({"url": "http://x", "tls": {"ca_cert": "/no/such"}}),
            "tls.ca_cert: /no/such: no such file or directory",
        ),
        (
            json!({"url": "http://x", "proxy": "socks5://p"}),
            "proxy: unsupported proxy scheme \"socks5\"",
        ),
        (
            json!({"url": "http://x", "credentials": {"bearer": {}}}),
            "credentials.bearer: expected `token` or `token_path`",
        ),
        (
            json!({"url": "http://x", "credentials": {"bearer": {"token": "a", "token_path": "b"}}}),
            "credentials.bearer: expected only one of `token` and `token_path`",
        ),
        (
            json!({"url": "http://x", "credentials": {"bearer": {"token": "a\nb"}}}),
            "credentials.bearer.token: the token is not valid in a header",
        ),
        (
            json!({"url": "http://x", "credentials": {"client_tls": {"cert": "a"}}}),
            "credentials.client_tls.private_key: missing",
        ),
        (
            json!({"url": "http://x", "credentials": {"client_tls": {"private_key": "a"}}}),
            "credentials.client_tls.cert: missing",
        ),
        (
            json!({"url": "http://x", "credentials": {"client_tls": {"cert": "/no/such", "private_key": "a"}}}),
            "credentials.client_tls.cert: /no/such: no such file or directory",
        ),
        (
            json!({"url": "http://x", "credentials": {"bearer": {"token": "a"}, "client_tls": {}}}),
            "credentials: a maximum one credential method must be specified",
        ),
        (
            json!({"url": "http://x", "credentials": {"plugin": "mine"}}),
            "credentials.plugin: not supported",
        ),
    ] {
        let error = client_with(&service, &json!({}), &ClientOptions::default()).unwrap_err();
        assert_eq!(error, want, "{service}");
    }
    let config = serde_json::from_value(json!({"a": {"url": "http://x"}, "b": {}})).unwrap();
    let error = Services::new(&config, &BTreeMap::default(), &ClientOptions::default());
    assert_eq!(error.unwrap_err(), "services.b.url: missing");
}

#[tokio::test]
async fn unchanged_services_keep_their_clients() {
    let server = Server::start(|_, _| response(200, "")).await;
    let read = |value: Value| serde_json::from_value(value).unwrap();
    let (keys, options) = (BTreeMap::default(), ClientOptions::default());
    let url = server.url();
    let first = read(json!({"a": {"url": url}, "b": {"url": url}}));
    let first = Services::new(&first, &keys, &options).unwrap();
    assert_eq!(first.names().collect::<Vec<_>>(), ["a", "b"]);
    assert!(first.only().is_none());
    let second = read(json!({"a": {"url": url}}));
    let second = first.changed(&second, &keys, &options).unwrap();
    assert_eq!(second.only().unwrap().name(), "a");
    fetch(second.get("a").unwrap(), "/").await.unwrap();
    assert!(second.get("b").is_none());
}

#[tokio::test]
async fn credentials_stay_with_the_service() {
    let other = Server::start(|_, _| response(200, "other")).await;
    let target = format!("{}/x", other.url());
    let server = Server::start(move |received, _| match received.target.as_str() {
        "/away" => redirect(302, &target),
        "/temporary" => redirect(307, &target),
        "/here" => redirect(301, "final?a"),
        "/loop" => redirect(302, "/loop"),
        "/odd" => redirect(302, "gopher://x"),
        _ => response(200, "own"),
    })
    .await;
    let service = json!({
        "url": server.url(), "headers": {"X-Api-Key": "k"}, "credentials": {"bearer": {"token": "t"}}
    });
    let client = client(&service);
    assert_eq!(fetch(&client, "/here").await, Ok((200, "own".to_owned())));
    assert_eq!(server.last().target, "/final?a");
    assert_eq!(server.last().header("authorization"), Some("Bearer t"));
    assert_eq!(server.last().header("x-api-key"), Some("k"));
    let request = Request::get("/away")
        .header("cookie", "c")
        .header("if-none-match", "e");
    let request = request
        .header("authorization", "own")
        .body(Bytes::new())
        .unwrap();
    client.send_ok(request).await.unwrap();
    let received = other.last();
    assert_eq!(received.target, "/x");
    assert_eq!(received.header("authorization"), None);
    assert_eq!(received.header("x-api-key"), None);
    assert_eq!(received.header("cookie"), None);
    assert_eq!(received.header("if-none-match"), Some("e"));
    // bodies do not leave the service either
    let before = other.count();
    for path in ["/away", "/temporary"] {
        let request = Request::post(path)
            .body(Bytes::from_static(b"secret"))
            .unwrap();
        let error = client.send_ok(request).await.unwrap_err();
        assert!(
            error.status().is_some_and(|status| status.is_redirection()),
            "{error}"
        );
    }
    assert_eq!(other.count(), before);
    for path in ["/loop", "/odd"] {
        let error = client.send(get(path)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Redirect, "{path}: {error}");
    }
}

#[tokio::test]
async fn statuses_and_bodies_are_bounded() {
    let server = Server::start(|received, _| match received.target.as_str() {
        "/large" => response(200, &"x".repeat(100_000)),
        "/unchanged" => response(304, ""),
        "/broken" => response(500, &format!("a\nb{}", "y".repeat(100_000))),
        "/none" => response(404, ""),
        _ => response(200, "12345"),
    })
    .await;
    let client = client(&json!({"url": server.url()}));
    let body = async |path: &str, max: usize| {
        let response = client.send_ok(get(path)).await?;
        response.into_body().read_bounded(max).await
    };
    assert_eq!(body("/", 5).await.unwrap(), "12345");
    assert_eq!(body("/unchanged", 5).await.unwrap(), "");
    for (path, max) in [("/", 4), ("/", 0), ("/large", 99_999)] {
        let error = body(path, max).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BodyTooLarge);
        let want = format!("response body exceeds the limit of {max} bytes");
        assert_eq!(error.to_string(), want);
    }
    assert_eq!(body("/large", 100_000).await.unwrap().len(), 100_000);
    let error = body("/none", 5).await.unwrap_err();
    assert_eq!(error.to_string(), "server replied with 404 Not Found");
    assert!(!error.is_transient());
    let error = body("/broken", 5).await.unwrap_err();
    assert!(error.is_transient());
    let text = error.to_string();
    assert!(
        text.starts_with("server replied with 500 Internal Server Error: a byy"),
        "{text}"
    );
    assert!(text.len() < 5000);
}

/// Accepts connections, reads one request from each and sends `bytes`.
async fn raw(bytes: &'static [u8], closes: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut open = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 4096];
            let _ = stream.read(&mut buffer).await;
            let _ = stream.write_all(bytes).await;
            if !closes {
                open.push(stream);
            }
        }
    });
    url
}

#[tokio::test]
async fn errors_name_what_failed() {
    let unused = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let truncated = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc";
    for (url, kind, text) in [
        (
            format!("http://{unused}"),
            ErrorKind::Connect,
            "connect: connection refused",
        ),
        (
            "http://no-such-name.invalid".to_owned(),
            ErrorKind::Connect,
            "dial tcp: lookup no-such-name.invalid: ",
        ),
        (raw(b"", true).await, ErrorKind::Exchange, "EOF"),
        (
            raw(b"nonsense\r\n\r\n", true).await,
            ErrorKind::Exchange,
            "malformed HTTP response",
        ),
        (
            raw(truncated, true).await,
            ErrorKind::Body,
            "unexpected EOF",
        ),
        (
            raw(
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
                true,
            )
            .await,
            ErrorKind::Body,
            "invalid chunk size",
        ),
    ] {
        let client = client(&json!({"url": url, "proxy": "direct"}));
        let error = fetch(&client, "/").await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text), "{error}");
        assert!(error.is_transient(), "{error}");
    }
}

#[tokio::test]
async fn the_head_of_a_response_has_a_timeout() {
    let url = raw(b"HTTP/1.1 200 OK\r\n", false).await;
    let client = client(&json!({"url": url, "response_header_timeout_seconds": 1}));
    let error = fetch(&client, "/").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(
        error.to_string(),
        "timeout: no response from service `s` within 1 seconds"
    );
    let mut request = get("/");
    request
        .extensions_mut()
        .insert(HeadTimeout(Duration::from_millis(50)));
    let error = client.send(request).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "timeout: no response from service `s` within 0.05 seconds"
    );
}

#[tokio::test]
async fn rules_for_networks_are_checked_at_the_connection() {
    let server = Server::start(|_, _| response(200, "")).await;
    let options = ClientOptions {
        networks: Arc::new(NetworkRules::unrestricted().deny_private()),
        ..ClientOptions::default()
    };
    for host in ["127.0.0.1", "localhost"] {
        let service = json!({"url": format!("http://{host}:{}", server.address.port())});
        let client = client_with(&service, &json!({}), &options).unwrap();
        let error = fetch(&client, "/").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert!(
            error
                .to_string()
                .contains("private networks are denied (loopback)"),
            "{error}"
        );
    }
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn proxies_of_the_configuration_are_used() {
    let proxy = Server::start(|_, _| response(200, "proxied")).await;
    let service = json!({
        "url": "http://bundles.invalid/a",
        "proxy": format!("http://u:p@{}", proxy.address),
        "credentials": {"bearer": {"token": "t"}},
    });
    assert_eq!(
        fetch(&client(&service), "/b").await,
        Ok((200, "proxied".to_owned()))
    );
    let received = proxy.last();
    assert_eq!(received.target, "http://bundles.invalid/a/b");
    assert_eq!(received.header("proxy-authorization"), Some("Basic dTpw"));
    assert_eq!(received.header("authorization"), Some("Bearer t"));
}

#[tokio::test]
async fn the_body_arrives_in_chunks() {
    let server = Server::start(|_, _| {
        let body = Bytes::from(vec![7; 300_000]);
        Response::new(body)
    })
    .await;
    let client = client(&json!({"url": server.url()}));
    let mut body = client.send(get("/")).await.unwrap().into_body();
    assert_eq!(body.declared_length(), Some(300_000));
    let (mut chunks, mut length) = (0, 0);
    while let Some(chunk) = body.chunk().await.unwrap() {
        chunks += 1;
        length += chunk.len();
    }
    assert!(chunks > 1);
    assert_eq!(length, 300_000);
}
