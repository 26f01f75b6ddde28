//! Servers whose certificates a private authority has signed: `SSL_CERT_FILE` and `SSL_CERT_DIR` name it for every connection, also
//! for those of the program `git`.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::emulators::{ACCOUNT, ACCOUNT_KEY, azure, s3};
use crate::sync::git_server::{APP_TOKEN, serve};
use crate::sync::http_server::{HttpServer, Received, response};
use crate::tls::{Authority, TlsFront};
use crate::{Folder, commit, entries};

/// The token of a repository and of the data source.
const TOKEN: &str = "token-of-the-tests";

/// The token that the OpenID provider issues.
const ISSUED: &str = "token-of-the-provider";

/// Message of the service about a server that is not trusted.
const UNTRUSTED: &str = "certificate signed by unknown authority";

/// A bundle of the test: the source, the storage, and a part of the message if the authority is not trusted.
struct Case {
    name: &'static str,
    source: Value,
    secret: Value,
    storage: Value,
    untrusted: &'static str,
}

/// Responds to requests with the token, and issues a token to the client of OpenID.
fn respond(request: &Received) -> Vec<u8> {
    let host = request.header("host");
    let is_authorized = request.header("authorization") == format!("Bearer {TOKEN}");
    let body = match request.target.as_str() {
        "/.well-known/openid-configuration" => {
            json!({"issuer": format!("https://{host}"), "token_endpoint": format!("https://{host}/token")})
        }
        "/token" => json!({"access_token": ISSUED, "token_type": "Bearer", "expires_in": 3600}),
        _ if is_authorized => json!(["alice"]),
        _ => return response("401 Unauthorized", &[], ""),
    };
    response("200 OK", &[], &body.to_string())
}

/// Returns the sources that need credentials, each with a storage of files.
fn sources(folder: &Path, secured: &impl Fn(&str) -> String) -> Vec<Case> {
    let root = folder.join("repositories");
    let git = |header: &str| {
        let (address, _) = serve(root.clone(), header);
        json!({"git": {"repo": format!("{}/.git", secured(&address)), "reference": "main"}})
    };
    let app = {
        use base64::Engine as _;
        let pair = format!("x-access-token:{APP_TOKEN}");
        base64::engine::general_purpose::STANDARD.encode(pair)
    };
    let app_key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap();
    let server = secured(&HttpServer::start(respond).address);
    let datasource = json!({"name": "d", "type": "http", "path": "users", "config": {"url": format!("{server}/users")}});
    let file = |name: &str| json!({"filesystem": {"path": format!("{name}.tar.gz")}});
    vec![
        Case {
            name: "token",
            source: git(&format!("Bearer {TOKEN}")),
            secret: json!({"type": "token_auth", "token": TOKEN}),
            storage: file("token"),
            // the words depend on the library that `git` uses
            untrusted: "certificate",
        },
        Case {
            name: "app",
            source: git(&format!("Basic {app}")),
            secret: json!({
                "type": "github_app_auth", "integration_id": 1, "installation_id": 2,
                "private_key": app_key.serialize_pem(),
            }),
            storage: file("app"),
            untrusted: UNTRUSTED,
        },
        Case {
            name: "oidc",
            source: git(&format!("Bearer {ISSUED}")),
            secret: json!({
                "type": "oidc_client_credentials", "client_id": "c", "client_secret": "s",
                "issuer": server,
            }),
            storage: file("oidc"),
            untrusted: UNTRUSTED,
        },
        Case {
            name: "document",
            source: json!({ "datasources": [datasource] }),
            secret: json!({"type": "token_auth", "token": TOKEN}),
            storage: file("document"),
            untrusted: UNTRUSTED,
        },
    ]
}

/// Returns bundles of a folder in the object stores.
fn stores(s3: &str, azure: &str) -> Vec<Case> {
    let source = json!({"directory": "repositories", "paths": ["app.rego"]});
    vec![
        Case {
            name: "s3",
            source: source.clone(),
            secret: json!({"type": "aws_auth", "access_key_id": "AKIAIOSFODNN7EXAMPLE", "secret_access_key": "k"}),
            storage: json!({"aws": {"bucket": "bundles", "key": "b.tar.gz", "region": "eu-west-1", "url": s3}}),
            untrusted: UNTRUSTED,
        },
        Case {
            name: "azure",
            source,
            secret: json!({"type": "azure_auth", "account_name": ACCOUNT, "account_key": ACCOUNT_KEY}),
            storage: json!({"azure": {"account_url": format!("{azure}/{ACCOUNT}"), "container": "bundles", "path": "b.tar.gz"}}),
            untrusted: UNTRUSTED,
        },
    ]
}

fn configuration(cases: &[Case]) -> Value {
    let (mut bundles, mut sources, mut secrets) = (json!({}), json!({}), json!({}));
    for case in cases {
        let name = case.name;
        let (mut source, mut storage) = (case.source.clone(), case.storage.clone());
        for pointer in ["/git", "/datasources/0", "/aws", "/azure"] {
            for value in [&mut source, &mut storage] {
                if let Some(place) = value.pointer_mut(pointer) {
                    place["credentials"] = name.into();
                }
            }
        }
        sources[name] = source;
        secrets[name] = case.secret.clone();
        bundles[name] = json!({"requirements": [{"source": name}], "object_storage": storage});
    }
    json!({"bundles": bundles, "sources": sources, "secrets": secrets})
}

#[test]
fn a_private_authority_is_trusted_by_every_connection() {
    let (Some(s3), Some(azure)) = (s3(), azure()) else {
        return;
    };
    let folder = Folder::new();
    let folder = folder.0.as_path();
    let repository = folder.join("repositories");
    std::fs::create_dir_all(&repository).unwrap();
    std::fs::write(
        repository.join("app.rego"),
        "package app\n\nallow := true\n",
    )
    .unwrap();
    commit(&repository);
    let (own, other) = (Authority::new(), Authority::new());
    let identity = own.issue("127.0.0.1");
    let secured = |address: &str| {
        let front = TlsFront::start(address, &identity, b"http/1.1", None);
        format!("https://{}", front.address)
    };
    let mut cases = sources(folder, &secured);
    cases.extend(stores(&secured(&s3.address), &secured(&azure.address)));
    let config = configuration(&cases).to_string();
    std::fs::write(folder.join("control.json"), config).unwrap();
    std::fs::create_dir_all(folder.join("trusted")).unwrap();
    std::fs::write(folder.join("trusted/own.pem"), &own.pem).unwrap();
    std::fs::write(folder.join("other.pem"), &other.pem).unwrap();
    let count = cases.len();
    for (number, (variable, value, is_trusted)) in [
        ("SSL_CERT_FILE", "other.pem", false),
        ("SSL_CERT_FILE", "absent.pem", false),
        ("UNUSED", "", false),
        // relative to the folder that the service runs in, which is not the one of `git`
        ("SSL_CERT_FILE", "trusted/own.pem", true),
        ("SSL_CERT_DIR", "trusted", true),
    ]
    .into_iter()
    .enumerate()
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_solon"));
        command
            .current_dir(folder)
            .env_remove("SSL_CERT_FILE")
            .env_remove("SSL_CERT_DIR")
            .env(variable, value)
            .args(["control", "build", "--config", "control.json"])
            .args(["--data-dir", &format!("data{number}")]);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.success(),
            is_trusted,
            "{variable}={value}: {text}"
        );
        let built = if is_trusted { count } else { 0 };
        let report = format!("{built}/{count} bundles built and pushed successfully");
        assert!(text.contains(&report), "{variable}={value}: {text}");
        for case in &cases {
            let mut lines = text.lines();
            let row = lines.find(|line| line.contains(&format!(" {} ", case.name)));
            assert_eq!(row.is_none(), is_trusted, "{}: {text}", case.name);
            if let Some(row) = row {
                assert!(row.contains(case.untrusted), "{variable}={value}: {row}");
            }
        }
        let published = folder.join("app.tar.gz");
        assert_eq!(published.exists(), is_trusted, "{variable}={value}");
        if is_trusted {
            let entries = entries(&published);
            assert!(entries.iter().any(|(_, text)| text.contains("package app")));
            std::fs::remove_file(published).unwrap();
        }
    }
}
