//! Bundles from registries of images.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_lc_rs::digest;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::distribution::{bundle, start, status, wait_for_document};
use crate::emulators::registry;
use crate::process::{Folder, Server};
use crate::stores::activated;
use crate::sync::http_server::{HttpServer, Received, response};
use crate::waiting::wait_until;

fn sha256(bytes: &[u8]) -> String {
    let digest = digest::digest(&digest::SHA256, bytes);
    digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Pushes an image with layers to a registry and returns the digest of its manifest.
fn push(address: &str, name: &str, token: &str, layers: &[(&str, &[u8])]) -> String {
    let address = address.strip_prefix("http://").unwrap();
    let send = |message: Message, want: u16| {
        let message = match token {
            "" => message,
            token => message.header("Authorization", &format!("Bearer {token}")),
        };
        let answer = Client::connect(address).send(&message);
        assert_eq!(answer.status, want, "{}", answer.text());
        answer
    };
    let blob = |bytes: &[u8]| {
        let started = send(
            Message::new("POST", &format!("/v2/{name}/blobs/uploads/")),
            202,
        );
        let location = started.header("location").unwrap();
        let target = location
            .split_once(address)
            .map_or(location, |(_, target)| target);
        let digest = format!("sha256:{}", sha256(bytes));
        let target = format!("{target}&digest={digest}");
        let message =
            Message::new("PUT", &target).header("Content-Type", "application/octet-stream");
        send(message.body(bytes), 201);
        digest
    };
    let layers: Vec<Value> = layers
        .iter()
        .map(|(kind, bytes)| json!({"mediaType": kind, "digest": blob(bytes), "size": bytes.len()}))
        .collect();
    let config = json!({"mediaType": "application/vnd.oci.image.config.v1+json", "digest": blob(b"{}"), "size": 2});
    let kind = "application/vnd.oci.image.manifest.v1+json";
    let manifest =
        json!({"schemaVersion": 2, "mediaType": kind, "config": config, "layers": layers})
            .to_string();
    let message =
        Message::new("PUT", &format!("/v2/{name}/manifests/latest")).header("Content-Type", kind);
    send(message.body(manifest.clone()), 201);
    format!("sha256:{}", sha256(manifest.as_bytes()))
}

const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

fn registry_config(address: &str, credentials: &Value, images: &[(&str, &str)]) -> Value {
    let bundles: Value = images
        .iter()
        .map(|(name, image)| {
            let polling = json!({"min_delay_seconds": 0, "max_delay_seconds": 1, "long_polling_timeout_seconds": 30});
            ((*name).to_owned(), json!({"resource": image, "polling": polling, "persist": true}))
        })
        .collect();
    json!({
        "services": {"r": {"url": address, "type": "oci", "credentials": credentials}},
        "bundles": bundles,
        "persistence_directory": "state",
        "status": {"prometheus": true},
    })
}

/// As in OPA, the first layer of the type is the bundle, its digest is the entity tag, and the host of the name is not used.
#[test]
fn bundles_of_a_registry_follow_the_tag() {
    let folder = Folder::with(&[]);
    let Some(registry) = registry(folder.path(), "") else {
        return;
    };
    let address = &registry.address;
    let (one, two) = (bundle("a", "1"), bundle("a", "2"));
    let pinned = push(
        address,
        "org/a",
        "",
        &[("text/plain", b"x"), (LAYER, &one), (LAYER, &two)],
    );
    push(address, "org/none", "", &[("text/plain", b"x")]);
    let pinned = format!("other.example/org/a@{pinned}");
    let images = [
        ("a", "other.example/org/a:latest"),
        ("none", "other.example/org/none:latest"),
        ("gone", "other.example/org/gone:latest"),
        ("tagless", "other.example/org/a"),
    ];
    let server = start(&registry_config(address, &json!({}), &images), &[]);
    wait_for_document(&server, "a/revision", &json!("1"));
    let etag = |server: &Server| {
        crate::distribution::json_at(server, "/v1/data/system/bundles/a/etag")["result"].clone()
    };
    assert_eq!(etag(&server), sha256(&one));
    let first = activated(&server, "a");
    assert_eq!(first["size"], one.len(), "{first}");
    wait_until("another request", || {
        let status = status(&server, "a");
        status["last_successful_request"] != first["last_successful_request"]
            && status["last_successful_activation"] == first["last_successful_activation"]
    });
    push(address, "org/a", "", &[(LAYER, &two)]);
    wait_for_document(&server, "a/revision", &json!("2"));
    assert_eq!(etag(&server), sha256(&two));
    push(address, "org/a", "", &[(LAYER, b"not a bundle")]);
    wait_until("the failure is reported", || {
        status(&server, "a")["code"] == "bundle_error"
    });
    wait_for_document(&server, "a/revision", &json!("2"));
    for (name, want) in [
        (
            "none",
            "failed to pull other.example/org/none:latest: no tarball descriptor found in the layers",
        ),
        ("gone", ": 404 Not Found"),
        ("tagless", "invalid image `other.example/org/a`"),
    ] {
        wait_until(name, || status(&server, name)["code"] == "bundle_error");
        let status = status(&server, name);
        let message = status["message"].as_str().unwrap();
        assert!(message.contains(want), "{message}");
    }
    drop(server);
    let server = start(
        &registry_config(address, &json!({}), &[("a", &pinned)]),
        &[],
    );
    wait_for_document(&server, "a/revision", &json!("1"));
}

/// A token endpoint for a registry: it accepts one password and signs tokens that the registry verifies.
struct TokenServer {
    server: HttpServer,
    certificate: String,
    is_open: Arc<AtomicBool>,
}

impl TokenServer {
    fn start() -> Self {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let parameters = rcgen::CertificateParams::new(vec!["tokens.example".to_owned()]).unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        let chain = STANDARD.encode(certificate.der());
        let signer =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &key.serialize_der())
                .unwrap();
        let is_open = Arc::new(AtomicBool::new(true));
        let accepts = is_open.clone();
        let server = HttpServer::start(move |request: &Received| {
            let is_known = request.header("authorization")
                == format!("Basic {}", STANDARD.encode("robot:pass"));
            if !is_known || !accepts.load(Ordering::Relaxed) {
                return response("401 Unauthorized", &[], "");
            }
            let action = if request.target.contains("push") {
                json!(["pull", "push"])
            } else {
                json!(["pull"])
            };
            let now = jiff::Timestamp::now().as_second();
            let header = json!({"typ": "JWT", "alg": "ES256", "x5c": [chain]});
            let claims = json!({"iss": "tokens", "sub": "robot", "aud": "registry", "jti": now.to_string(),
                "iat": now - 10, "nbf": now - 10, "exp": now + 300,
                "access": [{"type": "repository", "name": "org/a", "actions": action}]});
            let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
            let text = format!("{}.{}", encode(&header), encode(&claims));
            let signature = signer.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
            let token = format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature));
            response("200 OK", &[], &json!({"token": token}).to_string())
        });
        Self {
            server,
            certificate: certificate.pem(),
            is_open,
        }
    }
}

#[test]
fn registries_that_need_tokens_get_them() {
    let tokens = TokenServer::start();
    let folder = Folder::with(&[("ca.pem", &tokens.certificate)]);
    let auth = format!(
        "auth:\n  token:\n    realm: {}/token\n    service: registry\n    issuer: tokens\n    rootcertbundle: {}\n",
        tokens.server.address,
        folder.path().join("ca.pem").display()
    );
    let Some(registry) = registry(folder.path(), &auth) else {
        return;
    };
    let address = &registry.address;
    let message = Message::new("GET", "/token?push").header(
        "Authorization",
        &format!("Basic {}", STANDARD.encode("robot:pass")),
    );
    let endpoint = tokens.server.address.strip_prefix("http://").unwrap();
    let answer = Client::connect(endpoint).send(&message);
    let token: Value = serde_json::from_str(&answer.text()).unwrap();
    let token = token["token"].as_str().unwrap();
    let (one, two) = (bundle("a", "1"), bundle("a", "2"));
    push(address, "org/a", token, &[(LAYER, &one)]);
    let images = [("a", "other.example/org/a:latest")];
    // as in OPA, the token of the scheme `Basic` is encoded in base64
    let credentials = json!({"bearer": {"scheme": "Basic", "token": "robot:pass"}});
    let server = start(&registry_config(address, &credentials, &images), &[]);
    wait_for_document(&server, "a/revision", &json!("1"));
    let requested = tokens.server.last().target;
    assert_eq!(
        requested,
        "/token?scope=repository%3Aorg%2Fa%3Apull&service=registry"
    );
    // without a token the last good bundle serves
    tokens.is_open.store(false, Ordering::Relaxed);
    push(address, "org/a", token, &[(LAYER, &two)]);
    wait_until("the failure is reported", || {
        status(&server, "a")["http_code"] == 401
    });
    wait_for_document(&server, "a/revision", &json!("1"));
    tokens.is_open.store(true, Ordering::Relaxed);
    wait_for_document(&server, "a/revision", &json!("2"));
}

/// A registry whose bytes do not have the digests of their names.
#[test]
fn layers_and_manifests_with_other_digests_are_rejected() {
    let archive = bundle("a", "1");
    let (length, layer) = (archive.len(), format!("sha256:{}", sha256(&archive)));
    let manifest = |digest: &str, size: usize| {
        json!({"layers": [{"mediaType": LAYER, "digest": digest, "size": size}]}).to_string()
    };
    let good = manifest(&layer, length);
    let large = manifest(&layer, usize::MAX >> 2);
    let weak = manifest("md5:00", length);
    let server = HttpServer::start(move |request| {
        let target = request.target.as_str();
        let manifest = match target.split('/').nth(2).unwrap_or_default() {
            "large" => &large,
            "weak" => &weak,
            _ => &good,
        };
        let digest = format!("sha256:{}", sha256(manifest.as_bytes()));
        match (request.method.as_str(), target) {
            ("HEAD", "/v2/headless/manifests/t") => response("200 OK", &[], ""),
            ("HEAD", _) => response("200 OK", &[&format!("Docker-Content-Digest: {digest}")], ""),
            (_, target) if target.starts_with("/v2/forged/manifests") => {
                response("200 OK", &[], "{}")
            }
            (_, target) if target.contains("/manifests/") => response("200 OK", &[], manifest),
            _ => response("200 OK", &[], "another layer"),
        }
    });
    let images =
        ["layer", "forged", "large", "weak", "headless"].map(|name| (name, format!("h/{name}:t")));
    let images: Vec<_> = images
        .iter()
        .map(|(name, image)| (*name, &**image))
        .collect();
    let started = start(&registry_config(&server.address, &json!({}), &images), &[]);
    for (name, want) in [
        ("layer", "mismatched digest"),
        ("forged", "mismatched digest"),
        ("large", "layer exceeds the limit of 1073741824 bytes"),
        ("weak", "invalid digest `md5:00`: expected `sha256:`"),
        (
            "headless",
            "missing Docker-Content-Digest header in response",
        ),
    ] {
        wait_until(name, || status(&started, name)["code"] == "bundle_error");
        let status = status(&started, name);
        assert_eq!(
            status["message"],
            format!("failed to pull h/{name}:t: {want}")
        );
    }
}
