//! Keys from operators: the key for secrets of a database server, and keys of tokens in files.

use solon_control::db::{DatabaseOptions, DatabaseTls};
use solon_control::model::{Compat, Role};
use solon_control::secrets::KeySource;
use solon_control::{ControlPlane, commands};

use crate::config::{described, send};
use crate::databases::{Folder, On};
use crate::plane::options;

/// Only this machine has a generated key, and the next start without the folder does not have it either.
#[tokio::test(flavor = "multi_thread")]
async fn a_generated_key_needs_a_local_database() {
    for (on, database) in [
        (
            On::Postgres,
            DatabaseOptions::Postgres("host=h".to_owned(), DatabaseTls::default()),
        ),
        (
            On::Mariadb,
            DatabaseOptions::Mysql("mysql://h/x".to_owned(), DatabaseTls::default()),
        ),
    ] {
        let folder = Folder::new();
        let mut options = options(&folder.0.join("a"));
        let key = folder.0.join("secrets.key");
        options.keys = KeySource::Made(key.clone());
        options.database = Some(database);
        let messages = [
            ControlPlane::open(&options).await.err().unwrap(),
            ControlPlane::attach(&options).await.err().unwrap(),
            commands::validate(&options).await.unwrap_err(),
            commands::rotate_secrets(&options).await.unwrap_err(),
            commands::create_token(&options, "x", Role::Viewer, None)
                .await
                .unwrap_err(),
        ];
        for message in messages.map(|refusal| refusal.to_string()) {
            for wanted in ["--secrets-key-file", "SOLON_SECRETS_KEY", "openssl rand"] {
                assert!(message.contains(wanted), "{message}");
            }
        }
        assert!(!key.exists(), "no key is generated");
        // a key that an earlier version generated still works as a file
        std::fs::write(&key, "11".repeat(32)).unwrap();
        let message = ControlPlane::open(&options)
            .await
            .err()
            .unwrap()
            .to_string();
        assert!(
            message.contains(&format!("--secrets-key-file {}", key.display())),
            "{message}"
        );
        options.keys = KeySource::File(key);
        let Some(database) = on.fresh(&folder.0).await else {
            continue;
        };
        options.database = Some(database);
        ControlPlane::open(&options).await.unwrap();
    }
    for on in [On::Memory, On::Sqlite] {
        let folder = Folder::new();
        let mut options = options(&folder.0.join("a"));
        options.keys = KeySource::Made(folder.0.join("secrets.key"));
        options.database = on.fresh(&folder.0).await;
        ControlPlane::open(&options).await.unwrap();
        assert!(folder.0.join("secrets.key").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_tokens_in_files_have_32_characters() {
    let folder = Folder::new();
    for (length, is_valid) in [(1, false), (31, false), (32, true), (64, true)] {
        let key = "ß".repeat(length);
        let text = format!("tokens: {{ops: {{api_key: {key}, scopes: [{{role: viewer}}]}}}}");
        let mut options = described(&folder, &[("a.yaml", &text)]);
        let opened = commands::validate(&options).await;
        match opened {
            Ok(_) => assert!(is_valid, "{length}"),
            Err(error) => {
                let message = error.to_string();
                assert!(!is_valid, "{length}: {message}");
                let wanted = "tokens.ops.api_key must have at least 32 characters";
                assert!(message.contains(wanted), "{message}");
                assert!(!message.contains('ß'), "{message}");
            }
        }
        // files for OPA Control Plane contain shorter ones
        options.compat = Compat::Ocp;
        commands::validate(&options).await.unwrap();
    }
    let short = "tokens: {ops: {api_key: short, scopes: [{role: viewer}]}}";
    let mut options = described(&folder, &[("a.yaml", short)]);
    options.compat = Compat::Ocp;
    let plane = ControlPlane::open(&options).await.unwrap();
    assert_eq!(send(&plane, "short", "GET /v1/bundles", "").await.0, 200);
}
