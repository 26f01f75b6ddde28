//! Bundles from object stores.

use std::sync::Arc;

use serde_json::{Value, json};
use solon_outbound::NetworkRules;
use solon_outbound::objects::{
    Object, ObjectCredentials, ObjectLocation, ObjectOptions, Precondition,
};
use solon_outbound::proxy::Proxies;

use crate::distribution::{bundle, start, status, wait_for_document};
use crate::emulators::{ACCOUNT, ACCOUNT_KEY, azure, gcs, s3};
use crate::process::{Folder, Server};
use crate::sync::http_server::{HttpServer, response};
use crate::waiting::{HANG, wait_until};

/// A store with the service and the resource that lead to one object of it.
struct Store {
    location: ObjectLocation,
    credentials: ObjectCredentials,
    service: Value,
    resource: &'static str,
}

impl Store {
    /// Replaces the object.
    fn write(&self, bytes: Vec<u8>) {
        let options = ObjectOptions {
            networks: Arc::new(NetworkRules::default()),
            proxies: Arc::new(Proxies::default()),
            timeout: HANG,
        };
        let object = Object::open(&self.location, &self.credentials, &options).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime
            .block_on(object.write(bytes.into(), &[], Precondition::None))
            .unwrap();
    }

    /// Starts a server that polls the object.
    fn server(&self) -> Server {
        let bundle = json!({"resource": self.resource, "persist": true,
            "polling": {"min_delay_seconds": 0, "max_delay_seconds": 1, "long_polling_timeout_seconds": 30}});
        start(
            &json!({
                "services": {"store": self.service},
                "bundles": {"b": bundle},
                "persistence_directory": "state",
                "status": {"prometheus": true},
            }),
            &[
                (
                    "aws.pem",
                    "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = k\n",
                ),
                ("account.pem", &service_account()),
            ],
        )
    }
}

/// Returns the key of a service account of Google.
fn service_account() -> String {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap();
    json!({"type": "service_account", "private_key": key.serialize_pem(), "private_key_id": "k",
        "client_email": "a@example.com"})
    .to_string()
}

/// Returns the status of a bundle after its first activation, which is reported after it has taken effect.
pub fn activated(server: &Server, name: &str) -> Value {
    wait_until("the activation is reported", || {
        !status(server, name)["size"].is_null()
    });
    status(server, name)
}

/// Updates, unchanged objects, objects that are not bundles, objects that are missing.
fn check(store: &Store) {
    store.write(bundle("a", "1"));
    let server = store.server();
    wait_for_document(&server, "a/revision", &json!("1"));
    let first = activated(&server, "b");
    assert_eq!(first["size"], bundle("a", "1").len(), "{first}");
    // unchanged objects are not activated again
    wait_until("another request", || {
        let status = status(&server, "b");
        status["last_successful_request"] != first["last_successful_request"]
            && status["last_successful_activation"] == first["last_successful_activation"]
    });
    store.write(bundle("a", "2"));
    wait_for_document(&server, "a/revision", &json!("2"));
    store.write(b"not a bundle".to_vec());
    wait_until("the failure is reported", || {
        status(&server, "b")["code"] == "bundle_error"
    });
    wait_for_document(&server, "a/revision", &json!("2"));
    store.write(bundle("a", "3"));
    wait_for_document(&server, "a/revision", &json!("3"));
    wait_until("the failure is over", || {
        status(&server, "b")["code"].is_null()
    });
}

#[test]
fn bundles_of_s3_follow_the_object_while_the_last_good_one_serves() {
    let Some(emulator) = s3() else { return };
    check(&Store {
        location: ObjectLocation::S3 {
            bucket: "bundles".to_owned(),
            key: "team a/b.tar.gz".to_owned(),
            region: "eu-west-1".to_owned(),
            endpoint: emulator.address.clone(),
        },
        credentials: ObjectCredentials::Aws {
            id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "k".into(),
            token: None,
        },
        service: json!({"url": emulator.address, "credentials": {"s3_signing": {"profile_credentials":
            {"path": "aws.pem", "aws_region": "eu-west-1"}}}}),
        resource: "s3://bundles/team a/b.tar.gz",
    });
}

#[test]
fn bundles_of_azure_follow_the_object_while_the_last_good_one_serves() {
    let Some(emulator) = azure() else { return };
    let url = format!("{}/{ACCOUNT}", emulator.address);
    check(&Store {
        location: ObjectLocation::Azure {
            account_url: url.clone(),
            container: "bundles".to_owned(),
            path: "team/b.tar.gz".to_owned(),
        },
        credentials: ObjectCredentials::Azure {
            account: ACCOUNT.to_owned(),
            key: ACCOUNT_KEY.into(),
        },
        service: json!({"url": url, "credentials": {"azure_shared_key":
            {"account_name": ACCOUNT, "account_key": ACCOUNT_KEY}}}),
        resource: "azblob://bundles/team/b.tar.gz",
    });
}

#[test]
fn bundles_of_google_follow_the_object_while_the_last_good_one_serves() {
    let emulator = gcs();
    check(&Store {
        location: ObjectLocation::Gcs {
            bucket: "bundles".to_owned(),
            object: "team/b.tar.gz".to_owned(),
        },
        credentials: ObjectCredentials::Gcp(
            service_account()
                .replace(
                    "{\"",
                    &format!("{{\"gcs_base_url\":\"{}\",\"", emulator.address),
                )
                .into(),
        ),
        service: json!({"url": emulator.address, "credentials":
            {"gcp_service_account": {"path": "account.pem"}}}),
        resource: "gs://bundles/team/b.tar.gz",
    });
    let requests = emulator.requests.lock().unwrap();
    let reads = requests.iter().filter(|request| request.method == "GET");
    assert!(
        reads
            .clone()
            .all(|request| request.header("authorization").starts_with("Bearer ey"))
    );
    assert!(
        reads
            .clone()
            .any(|request| request.header("if-none-match") == "\"g1\"")
    );
}

/// Statuses, redirects and bodies that are too short: the credentials stay with the service.
#[test]
fn failures_of_a_store_are_reported() {
    let other = HttpServer::start(|_| response("200 OK", &[], "stolen"));
    let location = format!("Location: {}/x", other.address);
    let store = HttpServer::start(move |request| {
        let denied = "<Error><Code>AccessDenied</Code><Token>canary</Token></Error>";
        match request.target.rsplit('/').next().unwrap_or_default() {
            "denied" => response("403 Forbidden", &[], denied),
            "missing" => response("404 Not Found", &[], denied),
            "busy" => response("503 Slow Down", &[], denied),
            "moved" => response("307 Temporary Redirect", &[&location], ""),
            _ => b"HTTP/1.1 200 OK\r\nETag: \"1\"\r\nLast-Modified: Mon, 02 Nov 2026 10:00:00 GMT\r\nContent-Length: 500\r\nConnection: close\r\n\r\nshort".to_vec(),
        }
    });
    let names = ["denied", "missing", "busy", "moved", "short"];
    let bundles: Value = names
        .iter()
        .map(|name| {
            let polling = json!({"min_delay_seconds": 1, "max_delay_seconds": 1});
            (
                (*name).to_owned(),
                json!({"resource": format!("s3://bundles/{name}"), "polling": polling}),
            )
        })
        .collect();
    let server = start(
        &json!({
            "services": {"store": {"url": store.address, "credentials": {"s3_signing":
                {"profile_credentials": {"path": "aws.pem", "aws_region": "eu-west-1"}}}}},
            "bundles": bundles,
            "status": {"prometheus": true},
        }),
        &[(
            "aws.pem",
            "[default]\naws_access_key_id = A\naws_secret_access_key = k\n",
        )],
    );
    for (name, code, message) in [
        ("denied", json!(403), "server replied with Forbidden"),
        ("missing", json!(404), "server replied with Not Found"),
        (
            "busy",
            json!(503),
            "server replied with Service Unavailable",
        ),
        ("short", Value::Null, "bundle read failed: "),
    ] {
        wait_until(name, || status(&server, name)["code"] == "bundle_error");
        let status = status(&server, name);
        assert_eq!(status["http_code"], code, "{status}");
        let text = status["message"].as_str().unwrap();
        assert!(
            text.starts_with(message) && !text.contains("canary"),
            "{text}"
        );
    }
    wait_until("the redirect", || other.count() > 0);
    assert_eq!(other.last().header("authorization"), "");
    let requests = store.requests.lock().unwrap();
    let signed = requests.iter().all(|request| {
        let authorization = request.header("authorization");
        authorization.starts_with("AWS4-HMAC-SHA256 Credential=A/")
    });
    assert!(signed, "{requests:?}");
}

#[test]
fn resources_and_credentials_of_stores_are_checked_at_the_start() {
    for (service, resource, message) in [
        (
            json!({}),
            "s3://bucket",
            "expected a URL such as `s3://bucket/path/bundle.tar.gz`",
        ),
        (json!({}), "gs://b/../x", "expected a URL such as `gs://"),
        (
            json!({"azure_shared_key": {"account_name": "a"}}),
            "azblob://c/b",
            "azure_shared_key.account_key: missing",
        ),
        (
            json!({"gcp_service_account": {}}),
            "gs://b/o",
            "gcp_service_account.path: missing",
        ),
        (
            json!({"gcp_service_account": {"path": "a"}, "bearer": {"token": "t"}}),
            "gs://b/o",
            "a maximum one credential method must be specified",
        ),
    ] {
        let folder = Folder::with(&[(
            "c.yaml",
            &json!({"services": {"s": {"url": "http://127.0.0.1:1", "credentials": service}},
                "bundles": {"b": {"resource": resource}}})
            .to_string(),
        )]);
        let config = folder.path().join("c.yaml");
        let (code, text) = Server::fail(&["-c", config.to_str().unwrap()]);
        assert!(code != Some(0) && text.contains(message), "{text}");
    }
}
