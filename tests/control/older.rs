//! Databases of earlier builds: they open, and rows that would be rejected now are kept, redacted and reported.
//!
//! `tests/cases/control/stores` contains their dumps. Builds of format 1 accepted credentials in plain fields of data
//! sources, and grants of `secrets.use` on every secret.

use std::collections::BTreeMap;
use std::path::Path;

use solon_control::db::{DatabaseOptions, Mode};
use solon_control::model::Kind;
use solon_control::{ControlPlane, commands};

use crate::databases::{Folder, On};
use crate::migrations::run;
use crate::plane::{Plane, options};

const DATABASES: [(On, &str); 3] = [
    (On::Sqlite, "sqlite"),
    (On::Postgres, "postgres"),
    (On::Mariadb, "mysql"),
];

/// Opens a control plane on a dump. Returns `None` if its database cannot be started on this machine.
async fn open(on: On, name: &str) -> Option<(Plane, DatabaseOptions)> {
    let stores = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/control/stores");
    let read = |name: &str| std::fs::read_to_string(stores.join(name)).unwrap();
    let folder = Folder::new();
    let database = on.fresh(&folder.0).await?;
    let text = read(&format!("form-1-{name}.sql"));
    match on {
        On::Mariadb => run(&database, &format!("SET FOREIGN_KEY_CHECKS = 0;\n{text}")).await,
        _ => run(&database, &text).await,
    }
    let mut options = options(&folder.0);
    options.database = Some(database.clone());
    let keys: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_str(&read("form-1-keys.json")).unwrap();
    let keys = keys[name].iter();
    let keys = keys.map(|(name, key)| (&*name.clone().leak(), key.clone()));
    let plane = Plane {
        plane: ControlPlane::open(&options).await.unwrap(),
        keys: keys.collect(),
        folder,
    };
    Some((plane, database))
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_of_earlier_builds_stay_are_redacted_and_reported() {
    for (on, name) in DATABASES {
        let Some((plane, database)) = open(on, name).await else {
            continue;
        };
        let canary = "fixture-credential";
        for (who, request) in [
            ("owner1", "GET /v1/sources/plain"),
            ("viewer", "GET /v1/sources/plain"),
            ("admin", "GET /v1/sources/plain"),
            ("admin", "GET /v1/sources"),
            ("owner1", "GET /v1/sources"),
            ("admin", "GET /v1/audit"),
        ] {
            let (status, answer) = plane.send_json(who, request, "").await;
            let text = answer.to_string();
            assert_eq!(status, 200, "{on:?} {request}: {text}");
            assert!(!text.contains(canary), "{on:?} {request}: {text}");
            assert!(
                text.contains("REDACTED") && text.contains("application/json"),
                "{text}"
            );
        }
        let (_, answer) = plane.send_json("owner1", "GET /v1/sources/plain", "").await;
        let url = &answer["result"]["datasources"][1]["config"]["url"];
        assert_eq!(url, "https://b.example.com/x?access_token=REDACTED&page=1");
        let json = &answer["result"]["datasources"][2]["config"]["body"];
        assert_eq!(json, r#"{"password":"REDACTED","user":"u"}"#);
        // a redacted body is rejected when it is written back, so that no credential is lost.
        let back = answer["result"].to_string();
        let (status, refused) = plane
            .send_json("owner1", "PUT /v1/sources/plain", &back)
            .await;
        assert_eq!(status, 400, "{refused}");
        assert!(
            refused["message"]
                .as_str()
                .unwrap()
                .contains("`credentials`"),
            "{refused}"
        );
        // the row is unchanged
        let mut transaction = plane.plane.database().begin(Mode::Read).await.unwrap();
        let kept = transaction
            .item(Kind::Source, "plain")
            .await
            .unwrap()
            .unwrap();
        transaction.roll_back().await;
        assert_eq!(kept.body.matches(canary).count(), 8, "{on:?}");
        // other rows are unchanged
        let (_, clean) = plane.send_json("viewer", "GET /v1/sources/clean", "").await;
        let headers = &clean["result"]["datasources"][0]["config"]["headers"];
        assert_eq!(headers, &serde_json::json!({"Accept": "text/csv"}));

        let mut options = options(&plane.folder.0);
        options.database = Some(database);
        let findings = commands::check(&options).await.unwrap();
        let of_plain: Vec<&String> = findings
            .iter()
            .filter(|finding| finding.contains("\"plain\""))
            .collect();
        assert_eq!(of_plain.len(), 8, "{on:?}: {findings:#?}");
        for place in [
            "headers.Cookie",
            "headers.Private-Token",
            "headers.Proxy-Authorization",
            "headers.X-API-KEY",
            "headers.authorization",
            "[1].config.url",
            "[2].config.body",
            "[3].config.body",
        ] {
            assert!(
                of_plain.iter().any(|finding| finding.contains(place)),
                "{place}: {findings:#?}"
            );
        }
        let of_audit = "1 entries of the audit hold credentials";
        assert!(
            findings.iter().any(|finding| finding.starts_with(of_audit)),
            "{findings:#?}"
        );
        assert!(!findings.iter().any(|finding| finding.contains(canary)));
    }
}

/// Files may take credentials from the environment. They are stored, redacted and reported.
#[tokio::test(flavor = "multi_thread")]
async fn credentials_of_files_are_redacted_and_reported() {
    let folder = Folder::new();
    let text = "sources: {s: {datasources: [{name: d, path: d, type: http, config: {url: 'https://h.example.com', headers: {Authorization: canary}}}]}}\ntokens: {t: {api_key: 0123456789abcdef0123456789abcdef, scopes: [{role: administrator}]}}";
    let options = crate::config::described(&folder, &[("a.yaml", text)]);
    let plane = ControlPlane::open(&options).await.unwrap();
    for target in ["GET /v1/sources/s", "GET /v1/sources", "GET /v1/audit"] {
        let key = "0123456789abcdef0123456789abcdef";
        let (status, answer) = crate::config::send(&plane, key, target, "").await;
        assert_eq!(status, 200);
        assert!(!answer.to_string().contains("canary"), "{answer}");
        assert!(answer.to_string().contains("REDACTED"), "{answer}");
    }
    let findings = commands::check(&options).await.unwrap();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(
        findings[0].contains("datasources[0].config.headers.Authorization"),
        "{findings:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_reports_pending_migrations_and_makes_no_database() {
    for (on, _) in DATABASES {
        let folder = Folder::new();
        let Some(database) = on.fresh(&folder.0).await else {
            continue;
        };
        let mut options = options(&folder.0);
        options.database = Some(database.clone());
        if let DatabaseOptions::Sqlite(path) = &database {
            let message = commands::check(&options).await.unwrap_err().to_string();
            assert!(message.contains("no database exists at"), "{message}");
            assert!(!path.exists());
            drop(
                rusqlite::Connection::open(path)
                    .unwrap()
                    .execute_batch("PRAGMA user_version = 1"),
            );
        }
        let findings = commands::check(&options).await.unwrap();
        assert_eq!(findings.len(), 1, "{on:?}: {findings:?}");
        assert!(
            findings[0].contains("migrations are pending (0001_tables"),
            "{findings:?}"
        );
        commands::migrate(&options, false).await.unwrap();
        assert_eq!(
            commands::check(&options).await.unwrap(),
            Vec::<String>::new()
        );
        let later = "INSERT INTO solon_migrations (version, applied_at) VALUES (99, 0)";
        run(&database, later).await;
        let message = commands::check(&options).await.unwrap_err().to_string();
        assert!(message.contains("tables of version 99"), "{message}");
    }
}

/// A grant of `secrets.use` that an earlier build accepted gives no additional access: the secret has no hosts.
#[tokio::test(flavor = "multi_thread")]
async fn grants_of_earlier_builds_send_no_secret_anywhere() {
    for (on, name) in DATABASES {
        let Some((plane, database)) = open(on, name).await else {
            continue;
        };
        let (_, grants) = plane
            .send_json("admin", "GET /v1/secrets/shared/grants/owner2", "")
            .await;
        let kept = serde_json::json!(["secrets.use", "secrets.view"]);
        assert_eq!(grants["result"]["permissions"], kept, "{on:?}");
        let source = |url: &str| {
            serde_json::json!({"datasources": [{"name": "a", "path": "a", "type": "http", "config": {"url": url}, "credentials": "shared"}]}).to_string()
        };
        // the source that uses it still exists, but cannot be changed to another host, nor written unchanged
        let (status, _) = plane.send_json("owner2", "GET /v1/sources/using", "").await;
        assert_eq!(status, 200);
        for url in [
            "https://evil.example.com/",
            "https://elsewhere.example.org/x",
        ] {
            for target in ["PUT /v1/sources/using", "PUT /v1/sources/new"] {
                let (status, answer) = plane.send_json("owner2", target, &source(url)).await;
                assert_eq!(status, 422, "{on:?} {target}: {answer}");
                let message = answer["message"].as_str().unwrap();
                assert!(message.contains("has no `allowed_hosts`"), "{message}");
            }
        }
        // its owner can still use it, and may add hosts for others
        plane
            .done(
                "owner1",
                "PUT /v1/sources/mine",
                &source("https://any.example.com/"),
            )
            .await;
        let mut options = options(&plane.folder.0);
        options.database = Some(database);
        let findings = commands::check(&options).await.unwrap();
        for told in [
            "secret \"shared\": the grant of `secrets.use` to token \"owner2\" has no effect",
            "secret \"shared\": source \"using\" of another owner uses it",
        ] {
            assert!(
                findings.iter().any(|one| one.starts_with(told)),
                "{on:?}: {findings:#?}"
            );
        }
        let with = r#"{"value":{"type":"token_auth","token":"t"},"allowed_hosts":["elsewhere.example.org"]}"#;
        plane.done("owner1", "PUT /v1/secrets/shared", with).await;
        let listed = source("https://elsewhere.example.org/x");
        plane.done("owner2", "PUT /v1/sources/using", &listed).await;
        let (status, _) = plane
            .send_json(
                "owner2",
                "PUT /v1/sources/using",
                &source("https://evil.example.com/"),
            )
            .await;
        assert_eq!(status, 422, "{on:?}");
    }
}
