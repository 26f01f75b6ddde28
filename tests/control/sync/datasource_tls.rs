//! Data sources over TLS: private authorities and certificates of clients (`tls_cert`).

use std::collections::BTreeMap;

use serde_json::{Value, json};
use solon_control::model::{Failure, Status};
use solon_control::sync::Fetcher;
use solon_control::tree::Fetched;

use super::http_server::{HttpServer, response};
use super::{Folder, fetch_with, secret, source, texts};
use crate::tls::{Authority, Identity, TlsFront};

async fn fetch_url(fetcher: &Fetcher, url: &str, value: &Value) -> Result<Fetched, Failure> {
    let source = source(&json!({"name": "s", "datasources": [{
        "name": "d", "path": "users", "type": "http", "config": {"url": url}, "credentials": "k",
    }]}));
    let secrets = BTreeMap::from([("k".to_owned(), secret(&json!({ "value": value })))]);
    fetch_with(fetcher, &source, None, &secrets).await
}

fn with_root(root_ca: &str) -> Value {
    json!({"type": "tls_cert", "root_ca": root_ca})
}

fn with_identity(root_ca: &str, own: &Identity) -> Value {
    json!({"type": "tls_cert", "root_ca": root_ca, "tls_cert": own.certificate, "tls_key": own.key})
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_of_both_sides_are_verified() {
    let folder = Folder::new("datasource-tls");
    let (own, other) = (Authority::new(), Authority::new());
    let server = HttpServer::start(|_| response("200 OK", &[], "{}"));
    let right = own.issue("127.0.0.1");
    let start = |identity: &Identity, clients: Option<&Authority>| {
        let front = TlsFront::start(&server.address, identity, b"http/1.1", clients);
        format!("https://{}", front.address)
    };
    let plain = start(&right, None);
    let misnamed = start(&own.issue("other.example"), None);
    let mutual = start(&right, Some(&own));
    let client = own.issue("client.example");
    let stranger = other.issue("client.example");
    let both = format!("{}{}", other.pem, own.pem);
    let ok = "";
    // The server rejects the client after the handshake, so the message depends on the time.
    let rejected = "datasource \"d\": ";
    for (what, url, value, wanted) in [
        ("private authority", &plain, with_root(&own.pem), ok),
        ("one of two authorities", &plain, with_root(&both), ok),
        (
            "another authority",
            &plain,
            with_root(&other.pem),
            "unknown authority",
        ),
        (
            "authorities of the system",
            &plain,
            json!({"type": "token_auth", "token": "canary"}),
            "unknown authority",
        ),
        (
            "authorities of the system with a client certificate",
            &mutual,
            json!({"type": "tls_cert", "tls_cert": client.certificate, "tls_key": client.key}),
            "unknown authority",
        ),
        (
            "another name",
            &misnamed,
            with_root(&own.pem),
            "certificate is valid for other.example, not 127.0.0.1",
        ),
        (
            "client certificate",
            &mutual,
            with_identity(&own.pem, &client),
            ok,
        ),
        (
            "no client certificate",
            &mutual,
            with_root(&own.pem),
            rejected,
        ),
        (
            "a client certificate of another authority",
            &mutual,
            with_identity(&own.pem, &stranger),
            rejected,
        ),
        (
            "a key of another certificate",
            &mutual,
            json!({"type": "tls_cert", "root_ca": own.pem, "tls_cert": client.certificate, "tls_key": stranger.key}),
            "private key does not match public key",
        ),
        (
            "a text that is not a key",
            &mutual,
            json!({"type": "tls_cert", "tls_cert": client.certificate, "tls_key": "canary"}),
            "failed to parse private key",
        ),
        (
            "a text that is not a certificate",
            &mutual,
            json!({"type": "tls_cert", "tls_cert": "canary", "tls_key": client.key}),
            "no certificate found",
        ),
    ] {
        let before = server.count();
        let fetcher = Fetcher::new(folder.options()).unwrap();
        match fetch_url(&fetcher, url, &value).await {
            Ok(fetched) => {
                assert_eq!(wanted, ok, "{what}");
                assert_eq!(texts(&fetched.trees[0])[0].1, "{}");
                assert_eq!(server.count(), before + 1, "{what}");
            }
            Err(failure) => {
                let message = &failure.message;
                assert!(
                    wanted != ok && message.contains(wanted),
                    "{what}: {message}"
                );
                assert!(!message.contains("canary"), "{what}: {message}");
                assert_eq!(failure.status, Status::SyncFailed, "{what}: {message}");
                assert_eq!(server.count(), before, "{what}");
            }
        }
    }
}

/// Neither the certificate of the client nor its private authority is for another host.
#[tokio::test(flavor = "multi_thread")]
async fn redirects_leave_certificates_behind() {
    let folder = Folder::new("datasource-tls-redirect");
    let own = Authority::new();
    let identity = own.issue("127.0.0.1");
    let elsewhere = HttpServer::start(|_| response("200 OK", &[], "{}"));
    let target = TlsFront::start(&elsewhere.address, &identity, b"http/1.1", Some(&own));
    let location = format!("Location: https://{}/x", target.address);
    let server = HttpServer::start(move |request| match request.target.as_str() {
        "/away" => response("302 Found", &[&location], ""),
        "/near" => response("302 Found", &["Location: /x"], ""),
        _ => response("200 OK", &[], "{}"),
    });
    let front = TlsFront::start(&server.address, &identity, b"http/1.1", Some(&own));
    let value = with_identity(&own.pem, &own.issue("client.example"));
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let url = |path: &str| format!("https://{}{path}", front.address);
    fetch_url(&fetcher, &url("/near"), &value).await.unwrap();
    let failure = fetch_url(&fetcher, &url("/away"), &value).await;
    let message = failure.unwrap_err().message;
    assert!(message.contains("unknown authority"), "{message}");
    assert_eq!(elsewhere.count(), 0);
}
