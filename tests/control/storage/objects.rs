//! Archives in object stores: conditions, unchanged archives, faults, and documents that are read from the same stores.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use solon_control::model::{Bundle, Compat, FieldPath, Origin, Reader, Resource as _, Secret};
use solon_control::storage::{Published, StorageOptions, StorageTarget};
use solon_control::sync::Fetcher;
use solon_outbound::NetworkRules;
use solon_outbound::objects::{Object, ObjectCredentials, ObjectLocation, ObjectOptions};
use solon_outbound::proxy::Proxies;

use super::Built;
use super::emulators::{ACCOUNT, ACCOUNT_KEY, azure, gcs, s3};
use crate::databases::On;
use crate::plane::Plane;
use crate::sync::http_server::{HttpServer, response};
use crate::sync::{Folder, fetch_with, secret, source, texts};

const CANARY: &str = "canary-91c0de";

/// A private key of RSA for the service account of tests.
fn service_account(address: &str) -> String {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap();
    json!({"type": "service_account", "private_key": key.serialize_pem(), "private_key_id": CANARY,
        "client_email": "a@example.com", "gcs_base_url": address})
    .to_string()
}

/// A location of an archive with its secret.
struct ObjectAddress {
    storage: Value,
    datasource: Value,
    secret: Value,
}

fn s3_address(address: &str, key: &str) -> ObjectAddress {
    ObjectAddress {
        storage: json!({"aws": {"bucket": "bundles", "key": key, "region": "eu-west-1", "url": address, "credentials": "k"}}),
        datasource: json!({"name": "d", "path": "users", "type": "s3", "credentials": "k",
            "config": {"bucket": "bundles", "key": key, "region": "eu-west-1", "endpoint": address}}),
        secret: json!({"type": "aws_auth", "access_key_id": "AKIAIOSFODNN7EXAMPLE",
            "secret_access_key": CANARY, "session_token": format!("{CANARY}-token")}),
    }
}

fn azure_address(address: &str, path: &str) -> ObjectAddress {
    let account_url = format!("{address}/{ACCOUNT}");
    ObjectAddress {
        storage: json!({"azure": {"account_url": account_url, "container": "bundles", "path": path, "credentials": "k"}}),
        datasource: json!({"name": "d", "path": "users", "type": "azure", "credentials": "k",
            "config": {"account_url": account_url, "container": "bundles", "path": path}}),
        secret: json!({"type": "azure_auth", "account_name": ACCOUNT, "account_key": ACCOUNT_KEY}),
    }
}

fn gcs_address(address: &str, object: &str) -> ObjectAddress {
    ObjectAddress {
        storage: json!({"gcp": {"project": "p", "bucket": "bundles", "object": object, "credentials": "k"}}),
        datasource: json!({"name": "d", "path": "users", "type": "gcp", "credentials": "k",
            "config": {"bucket": "bundles", "object": object}}),
        secret: json!({"type": "gcp_auth", "credentials": service_account(address)}),
    }
}

impl ObjectAddress {
    fn bundle(&self) -> Bundle {
        let mut reader = Reader::new(Compat::Strict, Origin::File);
        let body = json!({"name": "b", "object_storage": self.storage});
        let bundle = Bundle::read(&mut reader, &FieldPath::Root, &body);
        reader.finish(bundle).unwrap()
    }

    fn secrets(&self) -> BTreeMap<String, Secret> {
        BTreeMap::from([("k".to_owned(), secret(&json!({ "value": self.secret })))])
    }

    fn open(&self, options: &StorageOptions) -> StorageTarget {
        let target = StorageTarget::open(&self.bundle(), &self.secrets(), options);
        target.unwrap_or_else(|failure| panic!("{failure:?}"))
    }

    async fn publish(&self, options: &StorageOptions, built: &Built, fence: u64) -> String {
        let published = self.open(options).publish(&built.artefact(), fence).await;
        match published {
            Ok(Published::Stored) => "stored".to_owned(),
            Ok(Published::Unchanged) => "unchanged".to_owned(),
            Err(failure) => {
                assert!(!failure.message.contains(CANARY), "{}", failure.message);
                assert!(
                    !failure.message.contains(ACCOUNT_KEY),
                    "{}",
                    failure.message
                );
                format!("{} {}", failure.status.as_str(), failure.message)
            }
        }
    }

    /// Returns the object as a data source, and the digest of it for revision expressions.
    async fn read(&self, fetcher: &Fetcher) -> Result<(String, String), String> {
        let source = source(&json!({"name": "s", "datasources": [self.datasource]}));
        let fetched = fetch_with(fetcher, &source, None, &self.secrets()).await;
        let fetched = fetched.map_err(|failure| {
            assert!(!failure.message.contains(CANARY), "{}", failure.message);
            format!("{} {}", failure.status.as_str(), failure.message)
        })?;
        Ok((
            texts(&fetched.trees[0])[0].1.clone(),
            fetched.facts.s3["d"].clone(),
        ))
    }
}

/// Publishes, reads, and publishes by several publishers at once.
async fn scenario(name: &str, place: impl Fn(&str) -> ObjectAddress) {
    let plane = Plane::new(On::Memory).await.unwrap();
    let options = plane.plane.storage_options();
    let folder = Folder::new(&format!("objects-{name}"));
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let (one, two) = (Built::new("1", "{\"a\":1}"), Built::new("2", "{\"a\":2}"));
    let renamed = Built::new("r \u{e4}", "{\"a\":2}");
    let at = place("x/b 1.tar.gz");
    let absent = at.read(&fetcher).await.unwrap_err();
    assert!(absent.starts_with("USER_ERROR "), "{absent}");
    assert!(absent.contains("404"), "{absent}");
    for (built, fence, wanted) in [
        (&one, 1, "stored"),
        (&one, 1, "unchanged"),
        (&one, 5, "unchanged"),
        (&two, 7, "stored"),
        (&two, 8, "unchanged"),
        (
            &one,
            6,
            "PUSH_FAILED another instance has published a newer build: its fencing token is 8, this one is 6",
        ),
        (&renamed, 9, "stored"),
        (&renamed, 9, "unchanged"),
    ] {
        assert_eq!(at.publish(&options, built, fence).await, wanted, "{fence}");
    }
    let (text, digest) = at.read(&fetcher).await.unwrap();
    assert_eq!(text, "{\"a\":2}");
    assert_eq!(at.read(&fetcher).await.unwrap(), (text, digest.clone()));
    at.publish(&options, &one, 10).await;
    let changed = at.read(&fetcher).await.unwrap();
    assert_eq!(changed.0, "{\"a\":1}");
    assert_ne!(changed.1, digest);
    // whatever the order, the largest token prevails
    let at = Arc::new(place("race"));
    let tasks = (1..=8).map(|fence: u64| {
        let (at, options) = (at.clone(), options.clone());
        tokio::spawn(async move {
            let built = Built::new(&fence.to_string(), format!("{{\"f\":{fence}}}"));
            (fence, at.publish(&options, &built, fence).await)
        })
    });
    let mut last = String::new();
    for task in tasks.collect::<Vec<_>>() {
        let (fence, outcome) = task.await.unwrap();
        let is_known = outcome == "stored"
            || outcome.contains("newer build")
            || outcome.contains("other publishers");
        assert!(is_known, "{fence}: {outcome}");
        last = outcome;
    }
    if last == "stored" {
        assert_eq!(at.read(&fetcher).await.unwrap().0, "{\"f\":8}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn archives_in_s3() {
    if let Some(emulator) = s3() {
        scenario("s3", |key| s3_address(&emulator.address, key)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn archives_in_azure() {
    if let Some(emulator) = azure() {
        scenario("azure", |path| azure_address(&emulator.address, path)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn archives_in_google_cloud() {
    let server = gcs();
    scenario("gcs", |object| gcs_address(&server.address, object)).await;
    let requests = server.requests.lock().unwrap();
    let mut puts = requests.iter().filter(|request| request.method == "PUT");
    assert!(puts.all(|put| !put.header("x-goog-if-generation-match").is_empty()));
    assert!(
        requests
            .iter()
            .all(|request| request.header("authorization").starts_with("Bearer ey"))
    );
}

/// A response to `HEAD`, and one to `PUT`, of a store that fails.
type ErrorCase = (&'static str, &'static str, &'static str, &'static str);

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_stores_are_failures_without_secrets() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let options = plane.plane.storage_options();
    let denied = "<Error><Code>AccessDenied</Code><Token-0>canary-91c0de-token</Token-0></Error>";
    let faults: [ErrorCase; 8] = [
        (
            "403 Forbidden",
            "200 OK",
            denied,
            "PUSH_FAILED object store replied with 403 Forbidden",
        ),
        (
            "404 Not Found",
            "403 Forbidden",
            denied,
            "PUSH_FAILED object store replied with 403 Forbidden: AccessDenied",
        ),
        (
            "404 Not Found",
            "401 Unauthorized",
            denied,
            "PUSH_FAILED object store replied with 401 Unauthorized: AccessDenied",
        ),
        (
            "404 Not Found",
            "404 Not Found",
            "<Error><Code>NoSuchBucket</Code></Error>",
            "PUSH_FAILED object store replied with 404 Not Found: NoSuchBucket",
        ),
        (
            "404 Not Found",
            "507 Insufficient Storage",
            "full",
            "PUSH_FAILED object store replied with 507 Insufficient Storage",
        ),
        (
            "404 Not Found",
            "301 Moved Permanently",
            "",
            "PUSH_FAILED object store replied with 301 Moved Permanently",
        ),
        // an answer of the past: the object exists, and another request does not show it
        (
            "404 Not Found",
            "412 Precondition Failed",
            "",
            "PUSH_FAILED other publishers have changed the object during each attempt",
        ),
        (
            "404 Not Found",
            "501 Not Implemented",
            "",
            "PUSH_FAILED object store replied with 501 Not Implemented",
        ),
    ];
    for (head, put, body, wanted) in faults {
        let server = HttpServer::start(move |request| match request.method.as_str() {
            "HEAD" => response(head, &[], ""),
            _ => response(
                put,
                &["ETag: \"1\"", "Location: http://127.0.0.1:1/x"],
                body,
            ),
        });
        let place = s3_address(&server.address, "k");
        let outcome = place.publish(&options, &Built::new("1", "a"), 1).await;
        assert_eq!(outcome, wanted, "{head} {put}");
    }
    // without conditions, only one publisher is safe, but archives are still published
    let server = HttpServer::start(|request| {
        let is_conditional = !request.header("if-none-match").is_empty();
        match request.method.as_str() {
            "HEAD" => response("404 Not Found", &[], ""),
            _ if is_conditional => response("501 Not Implemented", &[], ""),
            _ => response("200 OK", &["ETag: \"1\""], ""),
        }
    });
    let place = s3_address(&server.address, "k");
    let target = place.open(&options);
    assert!(!target.has_one_publisher());
    let built = Built::new("1", "a");
    let published = target.publish(&built.artefact(), 1).await;
    assert_eq!(published.unwrap(), Published::Stored);
    assert!(target.has_one_publisher());
    let put = server.last();
    assert_eq!(put.header("x-amz-meta-fence"), "1");
    assert_eq!(put.header("x-amz-meta-revision"), "1");
    assert!(
        put.header("authorization")
            .starts_with("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_truncated_and_large_objects_are_not_read() {
    let attempts = Arc::new(AtomicUsize::new(0));
    let count = attempts.clone();
    let server = HttpServer::start(move |request| {
        let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nLast-Modified: Mon, 02 Nov 2026 10:00:00 GMT\r\nConnection: close\r\n";
        match request.target.as_str() {
            "/b/slow" => {
                std::thread::sleep(Duration::from_secs(3));
                Vec::new()
            }
            "/b/large" => {
                format!("{head}Content-Length: 2000\r\n\r\n{}", "1".repeat(2000)).into_bytes()
            }
            _ => {
                count.fetch_add(1, Ordering::Relaxed);
                format!("{head}Content-Length: 20\r\n\r\n123").into_bytes()
            }
        }
    });
    let options = ObjectOptions {
        networks: Arc::new(NetworkRules::unrestricted().deny_metadata()),
        proxies: Arc::new(Proxies::default()),
        timeout: Duration::from_secs(2),
    };
    let open = |endpoint: &str, key: &str| {
        let location = ObjectLocation::S3 {
            bucket: "b".to_owned(),
            key: key.to_owned(),
            region: String::new(),
            endpoint: endpoint.to_owned(),
        };
        Object::open(&location, &ObjectCredentials::Anonymous, &options)
    };
    for (endpoint, key, wanted) in [
        (
            server.address.as_str(),
            "slow",
            "timeout: the object store did not finish within 2 seconds",
        ),
        (
            &server.address,
            "large",
            "object exceeds the limit of 1000 bytes",
        ),
        (&server.address, "short", ""),
        (
            "http://169.254.169.254",
            "x",
            "metadata services are denied",
        ),
        ("http://127.0.0.1:1", "x", "connection refused"),
    ] {
        let read = open(endpoint, key).unwrap().read(None, 1000).await;
        let message = read.map(drop).unwrap_err().to_string();
        assert!(message.contains(wanted), "{key}: {message}");
    }
    // what was cut off is requested again
    assert!(attempts.load(Ordering::Relaxed) > 1);
    for (endpoint, key) in [
        ("ftp://h", "x"),
        ("x", "x"),
        ("http://h", ""),
        ("http://h", "a//b"),
    ] {
        assert!(open(endpoint, key).is_err(), "{endpoint} {key}");
    }
}

#[tokio::test]
async fn secrets_of_another_type_are_configuration_errors() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let options = plane.plane.storage_options();
    let token = json!({"type": "token_auth", "token": CANARY});
    for (place, secret, wanted) in [
        (
            s3_address("http://h", "k"),
            &token,
            "unsupported authentication type: token_auth",
        ),
        (
            gcs_address("http://h", "k"),
            &token,
            "invalid GCP secret type",
        ),
        (
            azure_address("http://h", "k"),
            &token,
            "invalid Azure secret type",
        ),
        (
            gcs_address("http://h", "k"),
            &json!({"type": "gcp_auth", "api_key": CANARY}),
            "Google Cloud Storage needs `credentials` of `gcp_auth`, not `api_key`",
        ),
        (
            gcs_address("http://h", "k"),
            &json!({"type": "gcp_auth", "credentials": CANARY}),
            "the credentials are not the JSON text of a service account",
        ),
        (
            azure_address("http://h", "k"),
            &json!({"type": "azure_auth", "account_name": "a", "account_key": format!("{CANARY}!")}),
            "the location or the credentials of the object store are invalid",
        ),
        (
            s3_address("http://h", "a//b"),
            &s3_address("", "").secret,
            "is not a valid name of an object",
        ),
    ] {
        let place = ObjectAddress {
            secret: secret.clone(),
            ..place
        };
        let failure = StorageTarget::open(&place.bundle(), &place.secrets(), &options)
            .err()
            .unwrap();
        assert_eq!(failure.status.as_str(), "CONFIG_ERROR");
        assert!(failure.message.contains(wanted), "{}", failure.message);
        assert!(!failure.message.contains(CANARY), "{}", failure.message);
    }
    let place = s3_address("http://h", "k");
    let failure = StorageTarget::open(&place.bundle(), &BTreeMap::new(), &options)
        .err()
        .unwrap();
    assert_eq!(
        failure.message,
        "object storage: secret \"k\" is not configured"
    );
}
