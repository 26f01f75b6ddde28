//! Secrets do not leak: a marker word in every field of every secret occurs in no file, log or response.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use solon_control::model::SecretType;
use solon_control::secrets::KeySource;
use solon_control::{ControlPlane, commands};

use crate::databases::{On, create, options as reached, skip};
use crate::plane::{Plane, options};
use crate::servers::{Kind, Server};

const CANARY: &str = "canary7d1f";

/// Captured log output.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns a value of a type with the word in each field.
fn value(kind: &str, fields: &[&str]) -> Value {
    let mut value = json!({ "type": kind });
    for field in fields {
        value[*field] = match *field {
            "integration_id" | "installation_id" => json!(7),
            "headers" => json!([format!("X-A: {CANARY}")]),
            "fingerprints" => json!([format!("SHA256:{CANARY}")]),
            "scopes" => json!([CANARY]),
            "key" if kind == "ssh_key" => json!(format!("-----BEGIN KEY-----\n{CANARY}")),
            "issuer" | "token_endpoint" => json!(format!("https://{CANARY}.example.com")),
            "in" => json!("header"),
            _ => json!(CANARY),
        };
    }
    value
}

fn find(bytes: &[u8], what: &str) {
    let has = bytes
        .windows(CANARY.len())
        .any(|part| part == CANARY.as_bytes());
    assert!(
        !has,
        "the word is in {what}: {}",
        String::from_utf8_lossy(&bytes[..bytes.len().min(2000)])
    );
}

fn find_in_folder(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find_in_folder(&path);
        } else if path.is_file() {
            find(&std::fs::read(&path).unwrap(), &path.display().to_string());
        }
    }
}

/// Returns `true` if a word is in a file of a folder.
fn is_in_folder(word: &str, folder: &Path) -> bool {
    let mut entries = std::fs::read_dir(folder).unwrap();
    entries.any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_in_folder(word, &path);
        }
        path.is_file() && {
            let bytes = std::fs::read(&path).unwrap();
            let mut parts = bytes.windows(word.len());
            parts.any(|part| part == word.as_bytes())
        }
    })
}

#[tokio::test]
async fn secrets_stay_secret() {
    stay_secret(On::Sqlite).await;
}

#[tokio::test]
async fn secrets_stay_secret_in_postgres() {
    stay_secret(On::Postgres).await;
}

#[tokio::test]
async fn secrets_stay_secret_in_mariadb() {
    stay_secret(On::Mariadb).await;
}

/// Starts a separate server, so that all of its files belong to this test. Returns `None` if there is none.
async fn server(on: On) -> Option<Server> {
    let kind = match on {
        On::Postgres => Kind::Postgres,
        _ => Kind::Mariadb,
    };
    let server = Server::start(kind);
    match &server {
        Some(server) => create(on, server, "control").await,
        None => skip(kind),
    }
    server
}

async fn stay_secret(on: On) {
    let mut server = match on {
        On::Postgres | On::Mariadb => match server(on).await {
            Some(server) => Some(server),
            None => return,
        },
        _ => None,
    };
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let database = server.as_ref().map(|server| reached(on, server, "control"));
    let options = |folder: &Path| {
        let mut options = options(folder);
        options.database.clone_from(&database);
        if on == On::Sqlite {
            options.keys = KeySource::Made(folder.join("secrets.key"));
        }
        options
    };
    let plane = Plane::with(On::Memory, |options| {
        options.database.clone_from(&database);
        // the start generates a key
        if on == On::Sqlite {
            let path = options.data_dir.join("secrets.key");
            std::fs::remove_file(&path).unwrap();
            options.keys = KeySource::Made(path);
        }
    })
    .await
    .unwrap();
    let ask = async |ask: &str, body: &Value| {
        let response = plane.send("admin", ask, body.to_string()).await;
        find(response.body(), ask);
        find(format!("{:?}", response.headers()).as_bytes(), ask);
        response.status().as_u16()
    };
    for (kind, fields) in SecretType::all() {
        let good = value(kind, &fields);
        let put = format!("PUT /v1/secrets/{kind}");
        assert_eq!(ask(&put, &json!({ "value": good })).await, 200, "{good}");
        assert_eq!(ask(&put, &good).await, 200, "{good}");
        // each field with a wrong type, missing, and unknown
        for field in &fields {
            for wrong in [
                json!({ "x": CANARY }),
                json!([CANARY, {}]),
                json!([[CANARY]]),
            ] {
                let mut bad = good.clone();
                bad[*field] = wrong;
                assert_eq!(ask(&put, &bad).await, 400, "{bad}");
            }
        }
        let mut bad = good.clone();
        bad["unknown"] = json!(CANARY);
        assert_eq!(ask(&put, &bad).await, 400, "{bad}");
        bad = good.clone();
        bad["type"] = json!(CANARY);
        assert_eq!(ask(&put, &bad).await, 400, "{bad}");
        let text = good.to_string();
        let broken = plane
            .send("admin", &put, text[..text.len() - 1].to_owned())
            .await;
        assert_eq!(broken.status(), 400);
        find(broken.body(), "a broken body");
        for read in [
            "/v1/secrets",
            &format!("/v1/secrets/{kind}"),
            "/v1/audit",
            "/metrics",
        ] {
            assert_eq!(ask(&format!("GET {read}"), &Value::Null).await, 200);
        }
        assert_eq!(
            ask(&format!("DELETE /v1/secrets/{kind}"), &Value::Null).await,
            200
        );
        assert_eq!(ask(&put, &good).await, 200);
    }
    find_in_folder(&plane.folder.0);

    // after a rotation, everything is encrypted with another key, and the word still does not occur.
    let keys = plane.folder.0.join("secrets.key");
    let before = std::fs::read_to_string(&keys).unwrap();
    let add_key = |digits: &str| {
        let kept = std::fs::read_to_string(&keys).unwrap();
        let first = kept.lines().next().unwrap();
        if on != On::Sqlite {
            std::fs::write(&keys, format!("{}\n{first}\n", digits.repeat(32))).unwrap();
        }
    };
    add_key("22");
    let rotated = commands::rotate_secrets(&options(&plane.folder.0))
        .await
        .unwrap();
    assert_eq!(rotated, SecretType::all().count());
    let after = std::fs::read_to_string(&keys).unwrap();
    assert!(after.trim_end().ends_with(before.trim_end()) && after.lines().count() == 2);
    find_in_folder(&plane.folder.0);
    let reopened = ControlPlane::open(&options(&plane.folder.0)).await.unwrap();
    let mut transaction = reopened
        .database()
        .begin(solon_control::db::Mode::Read)
        .await
        .unwrap();
    let keyring = solon_control::secrets::Keyring::read(&after).unwrap();
    let all = transaction.secret_values().await.unwrap();
    assert_eq!(all.len(), rotated);
    assert!(
        all.iter()
            .all(|(_, _, key_id, _)| key_id == keyring.current())
    );
    for (_, name, key_id, sealed) in all {
        let text = keyring
            .unseal(&format!("secrets/{name}"), &key_id, &sealed)
            .unwrap();
        assert!(String::from_utf8_lossy(&text).contains(CANARY), "{name}");
    }
    drop(transaction);

    // after another rotation, the first key is gone
    add_key("33");
    let rotated_again = commands::rotate_secrets(&options(&plane.folder.0))
        .await
        .unwrap();
    assert_eq!(rotated_again, rotated);
    let keys_now = std::fs::read_to_string(&keys).unwrap();
    assert!(keys_now.lines().count() == 2 && !keys_now.contains(before.trim()));

    // with another key nothing opens
    std::fs::write(&keys, "11".repeat(32)).unwrap();
    let refused = ControlPlane::open(&options(&plane.folder.0)).await;
    let words = refused.err().unwrap().to_string();
    assert!(words.contains("is not among the keys"), "{words}");
    let log = log.0.lock().unwrap();
    assert!(!log.is_empty());
    find(&log, "the log");
    drop(log);
    drop(reopened);
    drop(plane);

    // files of the server: tables, write-ahead logs, its own log
    if let Some(server) = &mut server {
        server.stop();
        // text that is not secret does occur
        assert!(is_in_folder("oidc_client_credentials", &server.folder));
        find_in_folder(&server.folder);
    }
}

/// Keys of tokens are not stored either.
#[tokio::test]
async fn keys_of_tokens_are_stored_as_digests() {
    let plane = Plane::new(On::Sqlite).await.unwrap();
    let (_, made) = plane
        .send_json("admin", "POST /v1/tokens", r#"{"name":"x","role":"owner"}"#)
        .await;
    let key = made["result"]["key"].as_str().unwrap().to_owned();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&plane.folder.0).unwrap() {
        files.extend(std::fs::read(entry.unwrap().path()).unwrap());
    }
    let has = |what: &[u8]| files.windows(what.len()).any(|part| part == what);
    assert!(!has(key.as_bytes()));
    assert!(!has(&key.as_bytes()[6..]));
    for ask in ["GET /v1/tokens", "GET /v1/tokens/x", "GET /v1/audit"] {
        let response = plane.send("admin", ask, "").await;
        assert!(
            !String::from_utf8_lossy(response.body()).contains(&key[6..]),
            "{ask}"
        );
    }
}

/// Stored files are readable only by the operator of the service.
#[cfg(unix)]
#[tokio::test]
async fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let plane = Plane::new(On::Sqlite).await.unwrap();
    plane.done("admin", "PUT /v1/bundles/b", "{}").await;
    let mut files = 0;
    for entry in std::fs::read_dir(&plane.folder.0).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{:?}: {mode:o}", entry.path());
        files += 1;
    }
    // the database, its log and its index, and the keys of secrets
    assert!(files >= 3, "{files}");
}
