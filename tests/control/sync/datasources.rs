//! Data sources over HTTP: credentials, checks for changes, limits, failures (C-053 to C-060).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use solon_control::model::{Failure, Phase, Secret, Status};
use solon_control::sync::{FetchOptions, Fetcher};
use solon_control::tree::Fetched;

use super::http_server::{HttpServer, response};
use super::{Folder, fetch_with, secret, source, texts};

const CANARY: &str = "canary-5d1e8b";

fn named(value: &Value) -> BTreeMap<String, Secret> {
    BTreeMap::from([("k".to_owned(), secret(&json!({ "value": value })))])
}

async fn fetch_one(
    fetcher: &Fetcher,
    datasource: Value,
    secrets: &BTreeMap<String, Secret>,
) -> Result<Fetched, Failure> {
    let mut datasource = datasource;
    for (name, value) in [("name", "d"), ("path", "users"), ("type", "http")] {
        if datasource.get(name).is_none() {
            datasource[name] = value.into();
        }
    }
    if !secrets.is_empty() {
        datasource["credentials"] = "k".into();
    }
    let source = source(&json!({"name": "s", "datasources": [datasource]}));
    fetch_with(fetcher, &source, None, secrets).await
}

#[tokio::test]
async fn unchanged_documents_cost_a_304() {
    let folder = Folder::new("datasource-304");
    let version = Arc::new(Mutex::new("1"));
    let current = version.clone();
    let server = HttpServer::start(move |request| {
        let version = *current.lock().unwrap();
        let etag = format!("\"{version}\"");
        if request.header("if-none-match") == etag {
            return response("304 Not Modified", &[], "");
        }
        let body = format!("{{\"version\":{version}}}");
        response("200 OK", &[&format!("ETag: {etag}")], &body)
    });
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let datasource = json!({"config": {"url": format!("{}/a?b=c", server.address)}});
    let none = BTreeMap::new();
    let fetch = || fetch_one(&fetcher, datasource.clone(), &none);
    let first = fetch().await.unwrap();
    let files = texts(&first.trees[0]);
    assert_eq!(
        files,
        [("users/data.json".into(), "{\"version\":1}".into())]
    );
    assert_eq!(server.last().target, "/a?b=c");
    assert_eq!(server.last().header("if-none-match"), "");
    // SHA-256 of the path in its folder, a zero byte and the content
    let hash = "c4c9e6bba79208eb5fd4c548d66168795a6ad513a30f5142084a5b8991d861ea";
    assert_eq!(first.facts.http["d"], hash);
    let second = fetch().await.unwrap();
    assert_eq!(server.last().header("if-none-match"), "\"1\"");
    assert_eq!(texts(&second.trees[0]), files);
    assert_eq!(second.facts, first.facts);
    *version.lock().unwrap() = "2";
    let third = fetch().await.unwrap();
    assert_eq!(texts(&third.trees[0])[0].1, "{\"version\":2}");
    assert_ne!(third.facts, first.facts);
    assert_eq!(server.count(), 3);
    // a new process knows no version
    let fetcher = Fetcher::new(folder.options()).unwrap();
    fetch_one(&fetcher, datasource, &none).await.unwrap();
    assert_eq!(server.last().header("if-none-match"), "");
}

#[tokio::test]
async fn requests_have_the_configured_method_and_headers() {
    let folder = Folder::new("datasource-post");
    let server = HttpServer::start(|_| {
        response(
            "200 OK",
            &["Last-Modified: Mon, 02 Nov 2026 10:00:00 GMT"],
            "[]",
        )
    });
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let config = json!({"url": format!("{}/q#part", server.address), "method": "POST",
        "body": "{\"all\":true}", "headers": {"Accept": "application/json", "X-Empty": ""}});
    let none = BTreeMap::new();
    for _ in 0..2 {
        let fetched = fetch_one(&fetcher, json!({"path": "", "config": config}), &none);
        let fetched = fetched.await.unwrap();
        assert_eq!(texts(&fetched.trees[0])[0].0, "data.json");
        let request = server.last();
        assert_eq!(request.method, "POST");
        assert_eq!(request.target, "/q");
        assert_eq!(request.body, b"{\"all\":true}");
        assert_eq!(request.header("accept"), "application/json");
        assert!(!request.headers.contains_key("x-empty"));
        // only GET can be conditional
        assert!(!request.headers.contains_key("if-modified-since"));
    }
    let config = json!({"url": server.address});
    for wanted in ["", "Mon, 02 Nov 2026 10:00:00 GMT"] {
        let fetched = fetch_one(&fetcher, json!({"config": config}), &none).await;
        fetched.unwrap();
        assert_eq!(server.last().header("if-modified-since"), wanted);
    }
}

#[tokio::test]
async fn credentials_are_sent_to_the_configured_host_only() {
    let folder = Folder::new("datasource-credentials");
    let other = HttpServer::start(|_| response("200 OK", &[], "{}"));
    let elsewhere = other.address.clone();
    let provider = HttpServer::start(|request| {
        let host = request.header("host");
        let body = match request.target.as_str() {
            "/.well-known/openid-configuration" => json!({"issuer": format!("http://{host}"),
                "token_endpoint": format!("http://{host}/token")}),
            _ => json!({"access_token": "t0ken", "token_type": "bearer", "expires_in": 3600}),
        };
        response("200 OK", &[], &body.to_string())
    });
    let server = HttpServer::start(move |request| {
        let location = format!("Location: {elsewhere}/x");
        if request.target.starts_with("/away") {
            response("302 Found", &[&location], "")
        } else {
            response("200 OK", &[], "{}")
        }
    });
    let basic = format!("Basic {}", STANDARD.encode(format!("u:{CANARY}")));
    let bearer = format!("Bearer {CANARY}");
    let oidc = |field: &str, path: &str| {
        json!({"type": "oidc_client_credentials", "client_id": "c/1", "client_secret": CANARY,
            "scopes": ["a", "b"], field: format!("{}{path}", provider.address)})
    };
    let query = format!("?key={CANARY}");
    for (value, header, wanted, query) in [
        (
            json!({"type": "token_auth", "token": CANARY}),
            "authorization",
            bearer.as_str(),
            "",
        ),
        (
            json!({"type": "basic_auth", "username": "u", "password": CANARY}),
            "authorization",
            &basic,
            "",
        ),
        (
            json!({"type": "api_key", "key": "X-Own", "value": CANARY}),
            "x-own",
            CANARY,
            "",
        ),
        (
            json!({"type": "api_key", "key": "key", "value": CANARY, "in": "query"}),
            "x-own",
            "",
            query.as_str(),
        ),
        (oidc("issuer", ""), "authorization", "Bearer t0ken", ""),
        (
            oidc("token_endpoint", "/token"),
            "authorization",
            "Bearer t0ken",
            "",
        ),
    ] {
        let secrets = named(&value);
        let fetcher = Fetcher::new(folder.options()).unwrap();
        for path in ["/data", "/away"] {
            let config = json!({"url": format!("{}{path}", server.address)});
            let fetched = fetch_one(&fetcher, json!({"config": config}), &secrets);
            fetched
                .await
                .unwrap_or_else(|failure| panic!("{value}: {failure:?}"));
            let request = server.last();
            assert_eq!(request.header(header), wanted, "{value}");
            assert_eq!(request.target, format!("{path}{query}"), "{value}");
        }
        let request = format!("{:?}", other.last());
        assert!(!request.contains(CANARY), "{request}");
        assert!(
            !request.contains("t0ken") && !request.contains("authorization"),
            "{request}"
        );
    }
    let token = provider.last();
    let client = format!("Basic {}", STANDARD.encode(format!("c%2F1:{CANARY}")));
    assert_eq!(token.header("authorization"), client);
    assert_eq!(token.body, b"grant_type=client_credentials&scope=a+b");
}

/// One token serves several fetches, and a token that the server rejects is replaced.
#[tokio::test]
async fn tokens_are_cached_until_they_are_rejected() {
    let folder = Folder::new("datasource-tokens");
    let count = Arc::new(Mutex::new(0));
    let issued = count.clone();
    let provider = HttpServer::start(move |_| {
        *issued.lock().unwrap() += 1;
        let token = format!("t{}", issued.lock().unwrap());
        let body = json!({"access_token": token, "token_type": "Bearer", "expires_in": "3600"});
        response("200 OK", &[], &body.to_string())
    });
    let valid = Arc::new(Mutex::new("Bearer t1"));
    let accepted = valid.clone();
    let server = HttpServer::start(move |request| {
        if request.header("authorization") == *accepted.lock().unwrap() {
            response("200 OK", &[], "{}")
        } else {
            response("401 Unauthorized", &[], "")
        }
    });
    let secrets = named(&json!({"type": "oidc_client_credentials", "client_id": "c",
        "client_secret": CANARY, "token_endpoint": provider.address}));
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let datasource = json!({"config": {"url": server.address}});
    for _ in 0..3 {
        let fetched = fetch_one(&fetcher, datasource.clone(), &secrets).await;
        fetched.unwrap();
    }
    assert_eq!(*count.lock().unwrap(), 1);
    *valid.lock().unwrap() = "Bearer t2";
    let fetched = fetch_one(&fetcher, datasource, &secrets).await;
    fetched.unwrap();
    assert_eq!(*count.lock().unwrap(), 2);
}

#[tokio::test]
async fn failures_name_the_datasource_and_no_secret() {
    let folder = Folder::new("datasource-failures");
    let server = HttpServer::start(|request| match request.target.split('?').next().unwrap() {
        "/404" => response("404 Not Found", &[], CANARY),
        "/401" => response("401 Unauthorized", &[], CANARY),
        "/500" => response("500 Internal Server Error", &[], CANARY),
        "/304" => response("304 Not Modified", &[], ""),
        "/large" => response("200 OK", &[], &"1".repeat(2000)),
        "/short" => b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n[1".to_vec(),
        "/gzip" => response("200 OK", &["Content-Encoding: gzip"], "x"),
        "/loop" => response("302 Found", &["Location: /loop"], ""),
        "/slow" => {
            std::thread::sleep(Duration::from_secs(5));
            response("200 OK", &[], "{}")
        }
        "/token" => response(
            "400 Bad Request",
            &[],
            &json!({"error": "invalid_client", "error_description": format!("no {CANARY}")})
                .to_string(),
        ),
        "/metadata" => response("302 Found", &["Location: http://169.254.169.254/x"], ""),
        _ => response("200 OK", &[], "not JSON"),
    });
    let options = FetchOptions {
        max_datasource_bytes: 1000,
        datasource_timeout: Duration::from_secs(1),
        ..folder.options()
    };
    let fetcher = Fetcher::new(options).unwrap();
    let at = |path: &str| json!({"config": {"url": format!("{}{path}", server.address)}});
    let token = json!({"type": "token_auth", "token": CANARY});
    let oidc = json!({"type": "oidc_client_credentials", "client_id": "c", "client_secret": CANARY,
        "token_endpoint": format!("{}/token", server.address)});
    for (datasource, value, status, wanted) in [
        (
            at("/404"),
            &token,
            Status::UserError,
            "unsuccessful status code 404",
        ),
        (
            at("/401"),
            &token,
            Status::UserError,
            "unsuccessful status code 401",
        ),
        (
            at("/500"),
            &token,
            Status::SyncFailed,
            "unsuccessful status code 500",
        ),
        (
            at("/304"),
            &token,
            Status::SyncFailed,
            "unsuccessful status code 304",
        ),
        (
            at("/large"),
            &token,
            Status::SyncFailed,
            "exceeds the limit of 1000 bytes",
        ),
        (at("/short"), &token, Status::SyncFailed, "unexpected EOF"),
        (at("/gzip"), &token, Status::SyncFailed, "compressed"),
        (
            at("/loop"),
            &token,
            Status::SyncFailed,
            "stopped after 10 redirects",
        ),
        (
            at("/slow"),
            &token,
            Status::SyncFailed,
            "timeout: not received within 1 seconds",
        ),
        (
            at("/metadata"),
            &token,
            Status::SyncFailed,
            "metadata services are denied",
        ),
        (
            json!({"config": {"url": "http://169.254.169.254/latest/meta-data"}}),
            &token,
            Status::SyncFailed,
            "metadata services are denied",
        ),
        (
            json!({"config": {"url": "http://127.0.0.1:1/x"}}),
            &token,
            Status::SyncFailed,
            "connection refused",
        ),
        (
            at("/x"),
            &oidc,
            Status::SyncFailed,
            "400 Bad Request: invalid_client: no REDACTED",
        ),
        (
            at("/x"),
            &json!({"type": "aws_auth", "access_key_id": "i", "secret_access_key": CANARY}),
            Status::SyncFailed,
            "init client: unsupported secret type for http sync: aws_auth",
        ),
        (
            at("/x"),
            &json!({"type": "tls_cert", "root_ca": CANARY}),
            Status::SyncFailed,
            "failed to append root CA certificate",
        ),
        (
            at("/x"),
            &json!({"type": "token_auth", "token": format!("{CANARY}\n")}),
            Status::SyncFailed,
            "is not valid in a header",
        ),
        (
            json!({"path": "a[\"..\"]", "config": {"url": server.address}}),
            &token,
            Status::SyncFailed,
            "path",
        ),
    ] {
        let failure = fetch_one(&fetcher, datasource.clone(), &named(value)).await;
        let failure = failure.map(drop).unwrap_err();
        let message = &failure.message;
        let prefix = "source \"s\": datasource \"d\": ";
        assert!(message.starts_with(prefix), "{datasource}: {message}");
        assert!(message.contains(wanted), "{datasource}: {message}");
        assert_eq!(
            (failure.phase, failure.status),
            (Phase::Sync, status),
            "{message}"
        );
        assert!(!message.contains(CANARY), "{message}");
    }
    let source = source(&json!({"name": "s", "datasources": [
        {"name": "d", "path": "a", "type": "http", "config": {"url": server.address}, "credentials": "k"}]}));
    let failure = fetch_with(&fetcher, &source, None, &BTreeMap::new()).await;
    let wanted = "source \"s\": datasource \"d\": secret \"k\" is not configured";
    assert_eq!(failure.unwrap_err().message, wanted);
}

#[tokio::test]
async fn two_datasources_cannot_have_one_path() {
    let folder = Folder::new("datasource-twice");
    let server = HttpServer::start(|_| response("200 OK", &[], "{}"));
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let config = json!({"url": server.address});
    let datasource =
        |name, path| json!({"name": name, "path": path, "type": "http", "config": config});
    let both = |path| {
        source(
            &json!({"name": "s", "datasources": [datasource("d", "a/b"), datasource("e", path)]}),
        )
    };
    let fetched = fetch_with(&fetcher, &both("a/c"), None, &BTreeMap::new()).await;
    assert_eq!(fetched.unwrap().facts.http.len(), 2);
    let failure = fetch_with(&fetcher, &both("data.a.b"), None, &BTreeMap::new()).await;
    let message = failure.unwrap_err().message;
    assert!(
        message.contains("\"a/b/data.json\" is the file of another datasource"),
        "{message}"
    );
}
