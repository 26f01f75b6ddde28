//! Certificates of services and of their clients.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use solon_outbound::{ClientOptions, ErrorKind};

use crate::certificates::{Authority, Pair, server};
use crate::client::file;
use crate::server::{Server, client, fetch, redirect, response};

fn service(server: &Server, more: &Value) -> Value {
    let mut service = json!({"url": format!("https://localhost:{}", server.address.port())});
    let all = service.as_object_mut().unwrap();
    all.extend(more.as_object().unwrap().clone());
    service
}

#[tokio::test]
async fn services_prove_their_names() {
    let authority = Authority::new();
    let own = authority.sign("localhost");
    let server = Server::with_tls(server(&own, None, &["h2", "http/1.1"]), |_, _| {
        response(200, "ok")
    })
    .await;
    let trusted = file("ca.pem", &authority.certificate);
    let stranger = file("other-ca.pem", &Authority::new().certificate);
    let status = async |more: Value| {
        fetch(&client(&service(&server, &more)), "/")
            .await
            .map(|(status, _)| status)
    };
    assert_eq!(status(json!({"tls": {"ca_cert": trusted}})).await, Ok(200));
    assert_eq!(
        status(json!({"tls": {"ca_cert": trusted, "system_ca_required": true}})).await,
        Ok(200)
    );
    assert_eq!(status(json!({"allow_insecure_tls": true})).await, Ok(200));
    assert_eq!(status(json!({"allow_insure_tls": true})).await, Ok(200));
    for more in [json!({}), json!({"tls": {"ca_cert": stranger}})] {
        let error = status(more).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Tls);
        let want =
            "tls: failed to verify certificate: x509: certificate signed by unknown authority";
        assert_eq!(error.to_string(), want);
        assert!(!error.is_transient());
    }
    let by_address = json!({
        "url": format!("https://{}", server.address), "tls": {"ca_cert": trusted}
    });
    let error = fetch(&client(&by_address), "/").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Tls);
    for path in [trusted, stranger] {
        std::fs::remove_file(path).unwrap();
    }
}

struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    fn new(name: &str, pair: &Pair) -> Self {
        Self {
            certificate: file(&format!("{name}.pem"), &pair.certificate),
            key: file(&format!("{name}.key"), &pair.key),
        }
    }

    fn credentials(&self) -> Value {
        json!({"client_tls": {"cert": self.certificate, "private_key": self.key}})
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for path in [&self.certificate, &self.key] {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Sets a time of change that differs from all earlier ones.
fn touch(path: &Path, seconds: u64) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    file.set_modified(time).unwrap();
}

#[tokio::test]
async fn client_certificates_are_presented_and_reloaded() {
    let authority = Authority::new();
    let clients = Authority::new();
    let strangers = Authority::new();
    // HTTP/1.0 responses close the connection, so that each request has a handshake
    let config = server(&authority.sign("localhost"), Some(&clients), &["http/1.1"]);
    let server = Server::with_tls(config, |_, _| {
        let mut response = response(200, "in");
        response
            .headers_mut()
            .insert("connection", http::HeaderValue::from_static("close"));
        response
    })
    .await;
    let trusted = file("client-ca.pem", &authority.certificate);
    let files = Files::new("client", &clients.sign("client"));
    let more = json!({"tls": {"ca_cert": trusted}, "credentials": files.credentials()});
    let own = client(&service(&server, &more));
    assert_eq!(fetch(&own, "/").await, Ok((200, "in".to_owned())));
    let none = client(&service(&server, &json!({"tls": {"ca_cert": trusted}})));
    assert_eq!(fetch(&none, "/").await.unwrap_err().kind(), ErrorKind::Tls);

    // files that are not valid leave the certificate in use
    std::fs::write(&files.certificate, "broken").unwrap();
    touch(&files.certificate, 1000);
    assert_eq!(fetch(&own, "/").await, Ok((200, "in".to_owned())));
    // a certificate without its key
    std::fs::write(&files.certificate, strangers.sign("client").certificate).unwrap();
    touch(&files.certificate, 2000);
    assert_eq!(fetch(&own, "/").await, Ok((200, "in".to_owned())));
    // another pair is in use from the next handshake on
    let other = strangers.sign("client");
    std::fs::write(&files.certificate, &other.certificate).unwrap();
    std::fs::write(&files.key, &other.key).unwrap();
    touch(&files.key, 3000);
    touch(&files.certificate, 3000);
    assert_eq!(fetch(&own, "/").await.unwrap_err().kind(), ErrorKind::Tls);
    let renewed = clients.sign("client");
    std::fs::write(&files.certificate, &renewed.certificate).unwrap();
    std::fs::write(&files.key, &renewed.key).unwrap();
    touch(&files.key, 4000);
    touch(&files.certificate, 4000);
    assert_eq!(fetch(&own, "/").await, Ok((200, "in".to_owned())));
    std::fs::remove_file(trusted).unwrap();
}

#[tokio::test]
async fn redirects_to_other_hosts_present_no_client_certificate() {
    let authority = Authority::new();
    let clients = Authority::new();
    let pair = authority.sign("localhost");
    let other = Server::with_tls(server(&pair, Some(&clients), &["http/1.1"]), |_, _| {
        response(200, "in")
    })
    .await;
    let target = format!("https://localhost:{}/", other.address.port());
    let server = Server::with_tls(
        server(&pair, Some(&clients), &["http/1.1"]),
        move |received, _| match received.target.as_str() {
            "/away" => redirect(302, &target),
            _ => redirect(302, "http://localhost:1/"),
        },
    )
    .await;
    let trusted = file("redirect-ca.pem", &authority.certificate);
    let files = Files::new("redirect", &clients.sign("client"));
    let more = json!({"tls": {"ca_cert": trusted}, "credentials": files.credentials()});
    let own = client(&service(&server, &more));
    let error = fetch(&own, "/away").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Tls, "{error}");
    assert_eq!(server.count(), 1);
    assert_eq!(other.count(), 0);
    // nor is a redirect to an unprotected address followed
    let error = fetch(&own, "/down").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Redirect, "{error}");
    std::fs::remove_file(trusted).unwrap();
}

#[test]
fn private_keys_may_have_a_password() {
    use pkcs8::der::pem::{LineEnding, PemLabel as _};
    use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef, SecretDocument};
    let pair = Authority::new().sign("client");
    let (_, plain) = SecretDocument::from_pem(&pair.key).unwrap();
    let plain = PrivateKeyInfoRef::try_from(plain.as_bytes()).unwrap();
    let encrypted = plain.encrypt("right").unwrap();
    let encrypted = encrypted.to_pem(EncryptedPrivateKeyInfoRef::PEM_LABEL, LineEnding::LF);
    let encrypted = Pair {
        certificate: pair.certificate.clone(),
        key: encrypted.unwrap().to_string(),
    };
    let legacy = Pair {
        certificate: pair.certificate.clone(),
        key: "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n".to_owned(),
    };
    for (name, pair, password, want) in [
        ("p1", &encrypted, Some("right"), Ok(())),
        (
            "p2",
            &encrypted,
            Some("wrong"),
            Err("the password of the private key is wrong"),
        ),
        (
            "p3",
            &encrypted,
            None,
            Err("tls: failed to parse private key"),
        ),
        (
            "p4",
            &pair,
            Some("right"),
            Err("the private key has no password"),
        ),
        ("p5", &pair, Some(""), Ok(())),
        ("p6", &legacy, Some("right"), Err("openssl pkcs8 -topk8")),
    ] {
        let files = Files::new(name, pair);
        let mut credentials = files.credentials();
        credentials["client_tls"]["private_key_passphrase"] = json!(password);
        let service = json!({"url": "https://localhost", "credentials": credentials});
        let made = crate::server::client_with(&service, &json!({}), &ClientOptions::default());
        match (want, made) {
            (Ok(()), Ok(_)) => {}
            (Err(want), Err(error)) => {
                assert!(
                    error.starts_with("credentials.client_tls.private_key: "),
                    "{error}"
                );
                assert!(error.contains(want), "{name}: {error}");
                assert!(!error.contains("right"), "{name}: {error}");
            }
            (want, made) => panic!("{name}: {want:?} {made:?}"),
        }
    }
}
