//! Messages of databases never reach clients because they may contain values of other clients.

use serde_json::{Value, json};
use solon_control::db::DatabaseOptions;

use crate::databases::On;
use crate::migrations::run;
use crate::plane::Plane;

/// Words of database messages, and names of the indexes below.
const TEXTS: [&str; 9] = [
    "canary",
    "UNIQUE",
    "duplicate",
    "Duplicate",
    "constraint",
    "DETAIL",
    "Key (",
    "items",
    "ERROR",
];

fn check(on: On, answer: &(u16, Value), status: u16, code: &str, begin: &str) {
    let message = answer.1["message"].as_str().unwrap();
    assert_eq!(
        (answer.0, &answer.1["code"]),
        (status, &json!(code)),
        "{on:?}: {message}"
    );
    assert!(message.starts_with(begin), "{on:?}: {message}");
    for text in TEXTS {
        assert!(!message.contains(text), "{on:?}: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conflicts_name_the_item_as_the_service_does() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let mut database = None;
        let Some(plane) = Plane::with(on, |options| database.clone_from(&options.database)).await
        else {
            continue;
        };
        let database = database.unwrap();
        for sql in [
            "CREATE UNIQUE INDEX canary_owner ON items (owner_id)",
            "CREATE UNIQUE INDEX canary_end ON tokens (expires_at)",
            "CREATE UNIQUE INDEX canary_grant ON grants (token_id)",
            "CREATE UNIQUE INDEX canary_document ON source_data (source_id)",
        ] {
            run(&database, sql).await;
        }
        plane.done("owner1", "PUT /v1/bundles/first", "{}").await;
        plane.done("admin", "PUT /v1/sources/s", "{}").await;
        plane.done("admin", "PUT /v1/sources/s/data/a", "{}").await;
        let end = r#""role": "viewer", "expires_at": "2999-01-01T00:00:00Z""#;
        plane
            .done(
                "admin",
                "POST /v1/tokens",
                &format!(r#"{{"name": "t1", {end}}}"#),
            )
            .await;
        let grant = r#"{"permissions": ["sources.view", "sources.use"]}"#;
        let second = format!(r#"{{"name": "t2", {end}}}"#);
        let secret = r#"{"type": "password", "password": "x"}"#;
        for (who, ask, body, begin) in [
            (
                "owner1",
                "PUT /v1/bundles/b",
                "{}",
                "bundle \"b\" conflicts",
            ),
            (
                "owner1",
                "PUT /v1/sources/b",
                "{}",
                "source \"b\" conflicts",
            ),
            (
                "owner1",
                "PUT /v1/secrets/b",
                secret,
                "secret \"b\" conflicts",
            ),
            (
                "admin",
                "POST /v1/tokens",
                &second,
                "token \"t2\" conflicts",
            ),
            (
                "admin",
                "PUT /v1/sources/s/grants/viewer",
                grant,
                "the grant on source \"s\" conflicts",
            ),
            (
                "admin",
                "PUT /v1/sources/s/data/b",
                "{}",
                "source \"s\" conflicts",
            ),
        ] {
            let answer = plane.send_json(who, ask, body).await;
            check(on, &answer, 409, "conflict", begin);
        }
        // the transaction was rolled back, and the connection is usable.
        plane.done("owner1", "PUT /v1/bundles/first", "{}").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn oversized_items_are_named_as_the_service_does() {
    for on in [On::Postgres, On::Mariadb] {
        let mut database = None;
        let Some(plane) = Plane::with(on, |options| database.clone_from(&options.database)).await
        else {
            continue;
        };
        let database: DatabaseOptions = database.unwrap();
        let (bodies, documents) = match on {
            On::Postgres => (
                "CREATE INDEX canary_body ON items (body)",
                "CREATE INDEX canary_data ON source_data (body)",
            ),
            _ => (
                "ALTER TABLE items MODIFY body VARCHAR(500)",
                "ALTER TABLE source_data MODIFY body VARCHAR(500)",
            ),
        };
        run(&database, bodies).await;
        run(&database, documents).await;
        plane.done("owner1", "PUT /v1/sources/s", "{}").await;
        // incompressible data
        let mut state = 1_u64;
        let text: String = (0..20_000)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap())
            })
            .collect();
        let labels = json!({"labels": {"x": text}}).to_string();
        let answer = plane
            .send_json("owner1", "PUT /v1/bundles/b", &labels)
            .await;
        check(
            on,
            &answer,
            413,
            "too_large",
            "the body of bundle \"b\" is larger",
        );
        let answer = plane
            .send_json("owner1", "PUT /v1/sources/s/data/b", &labels)
            .await;
        check(
            on,
            &answer,
            413,
            "too_large",
            "the document \"b/data.json\" of source \"s\" is larger",
        );
    }
}
