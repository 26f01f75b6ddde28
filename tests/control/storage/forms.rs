//! Dumps of databases with archives, leases and records of builds: every later build opens them.
//!
//! `SOLON_RECORD_STORES=1 cargo test -p solon-control --test control forms` writes the dumps of this build. A dump is written when
//! the format changes, under the next number, and never again.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use solon_control::ControlPlane;
use solon_control::db::{DatabaseOptions, Lease, Mode, PublishedInputs, Transaction};
use solon_control::model::{Kind, Phase, Status, StatusRecord};
use solon_control::trace::TraceContext;

use super::{Built, publish};
use crate::databases::{Folder, On};
use crate::migrations::run;
use crate::plane::{Plane, options};

const DATABASES: [(On, &str); 3] = [
    (On::Sqlite, "sqlite"),
    (On::Postgres, "postgres"),
    (On::Mariadb, "mysql"),
];

/// The number of the format that this build writes.
const LATEST: u32 = 4;

/// The trace that a requested build of a dump continues.
const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn stores() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/control/stores")
}

/// Fills a new database.
async fn filled(on: On) -> Option<(Plane, DatabaseOptions)> {
    let mut database = None;
    let plane = Plane::with(on, |options| database.clone_from(&options.database)).await?;
    for (target, body) in [
        (
            "sources/lib",
            json!({"files": {"a.rego": "cGFja2FnZSBhCg=="}}),
        ),
        (
            "secrets/key",
            json!({"type": "signing_key", "key": "fixture"}),
        ),
        (
            "bundles/b",
            json!({
                "requirements": [{"source": "lib"}],
                "signing": {"key": "key", "algorithm": "HS256"},
            }),
        ),
    ] {
        let ask = format!("PUT /v1/{target}");
        plane.done("admin", &ask, &body.to_string()).await;
    }
    for (at, name) in ["one", "two"].into_iter().enumerate() {
        let built = Built::new(name, name);
        let published = publish(&plane, "b", &built, at as u64 + 1).await;
        assert_eq!(published, "stored");
    }
    let back = json!({"revision": "one"}).to_string();
    plane
        .done("admin", "POST /v1/bundles/b/rollback", &back)
        .await;
    trigger(&plane).await;
    keep(&plane).await;
    Some((plane, database?))
}

/// Requests two builds, one of which is finished, and sends two deliveries to a webhook. One of them waits.
async fn trigger(plane: &Plane) {
    let hook = json!({"type": "password", "password": "fixture"}).to_string();
    plane.done("admin", "PUT /v1/secrets/hook", &hook).await;
    let source = json!({"webhook": {"provider": "gitlab", "secret": "hook"}}).to_string();
    plane.done("admin", "PUT /v1/sources/hooked", &source).await;
    plane.done("admin", "POST /v1/bundles/b/build", "").await;
    let mut transaction = plane.plane.database().begin(Mode::Write).await.unwrap();
    let head = transaction.head(Kind::Bundle, "b").await.unwrap().unwrap();
    let lease = transaction.take_lease(head.id, "fixture").await.unwrap();
    let lease = lease.unwrap();
    let inputs = PublishedInputs {
        digest: "d".to_owned(),
        revision: "two".to_owned(),
    };
    let delay = Duration::from_secs(30);
    assert!(
        transaction
            .end_with_success(&lease, &inputs, delay)
            .await
            .unwrap()
    );
    let record = StatusRecord {
        revision: "two".to_owned(),
        phase: Phase::Push,
        status: Status::Success,
        error_message: String::new(),
    };
    let durations = [Some(Duration::from_millis(7)), None, Some(delay)];
    let recorded = transaction.record_attempt(&lease, &record, durations);
    recorded.await.unwrap();
    transaction.commit().await.unwrap();
    plane.done("admin", "POST /v1/bundles/b/build", "").await;
    for (id, state) in [("1", "triggered"), ("2", "waiting")] {
        assert_eq!(deliver(plane, id).await, state);
    }
}

/// Requests a build in a trace, and builds a bundle whose lease is kept.
async fn keep(plane: &Plane) {
    let context = TraceContext {
        tracer: None,
        parent: Some(TRACE.to_owned()),
    };
    let request = plane.done("admin", "POST /v1/bundles/b/build", "");
    context.scope(request).await;
    plane.done("admin", "PUT /v1/bundles/kept", "{}").await;
    let mut transaction = plane.plane.database().begin(Mode::Write).await.unwrap();
    let lease = Lease {
        is_kept: true,
        ..take(&mut transaction, "kept").await
    };
    let inputs = PublishedInputs {
        digest: "d".to_owned(),
        revision: String::new(),
    };
    let ended = transaction.end_with_success(&lease, &inputs, Duration::from_secs(30));
    assert!(ended.await.unwrap());
    transaction.commit().await.unwrap();
}

async fn take(transaction: &mut Transaction, bundle: &str) -> Lease {
    let head = transaction.head(Kind::Bundle, bundle).await.unwrap();
    let lease = transaction.take_lease(head.unwrap().id, "fixture").await;
    lease.unwrap().unwrap()
}

/// Delivers to the webhook of a fixture, and returns the state.
async fn deliver(plane: &Plane, id: &str) -> serde_json::Value {
    let headers = [("x-gitlab-token", "fixture"), ("idempotency-key", id)];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let answer = plane
        .send_with("", "POST /webhooks/hooked", "{}", &headers.into())
        .await;
    crate::plane::json(&answer)["result"]["state"].clone()
}

/// Returns the command that dumps a database.
fn dump(database: &DatabaseOptions) -> Command {
    match database {
        DatabaseOptions::Sqlite(path) => {
            let mut command = Command::new("sqlite3");
            command.arg(path).arg(".dump");
            command
        }
        DatabaseOptions::Postgres(dsn, _) => {
            let versions = std::fs::read_dir("/usr/lib/postgresql").unwrap();
            let version = versions.map(|version| version.unwrap().path()).max();
            let mut command = Command::new(version.unwrap().join("bin/pg_dump"));
            command.args(["--no-owner", "--inserts", dsn]);
            command
        }
        DatabaseOptions::Mysql(dsn, _) => {
            let (port, name) = dsn.rsplit_once(':').unwrap().1.split_once(")/").unwrap();
            let mut command = Command::new("mariadb-dump");
            command.args(["--host=127.0.0.1", "--user=root", "--skip-comments"]);
            command.args(["--hex-blob", &format!("--port={port}"), name]);
            command
        }
        DatabaseOptions::Memory => panic!("it is not reached from outside"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dumps_are_recorded() {
    if std::env::var_os("SOLON_RECORD_STORES").is_none() {
        return;
    }
    let mut keys = serde_json::Map::new();
    for (on, name) in DATABASES {
        let (plane, database) = filled(on).await.unwrap();
        let output = dump(&database).output().unwrap();
        assert!(output.status.success(), "{name}");
        let text = String::from_utf8(output.stdout).unwrap();
        // statements for the interactive program
        let lines = text.lines().filter(|line| !line.starts_with('\\'));
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        std::fs::write(stores().join(format!("form-{LATEST}-{name}.sql")), text).unwrap();
        if on == On::Sqlite {
            let from = plane.folder.0.join("artifacts");
            copy(&from, &stores().join(format!("form-{LATEST}-artifacts")));
        }
        keys.insert(name.to_owned(), plane.keys["admin"].clone().into());
    }
    let keys = serde_json::to_string_pretty(&keys).unwrap();
    let path = stores().join(format!("form-{LATEST}-keys.json"));
    std::fs::write(path, keys + "\n").unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dumps_open() {
    for form in 2..=LATEST {
        opened(form).await;
    }
}

async fn opened(form: u32) {
    // the key of the administrator is only valid for the dump
    let keys = stores().join(format!("form-{form}-keys.json"));
    let keys = std::fs::read_to_string(keys).unwrap();
    let keys: serde_json::Value = serde_json::from_str(&keys).unwrap();
    for (on, name) in DATABASES {
        let folder = Folder::new();
        let Some(database) = on.fresh(&folder.0).await else {
            continue;
        };
        let text =
            std::fs::read_to_string(stores().join(format!("form-{form}-{name}.sql"))).unwrap();
        match on {
            On::Mariadb => run(&database, &format!("SET FOREIGN_KEY_CHECKS = 0;\n{text}")).await,
            _ => run(&database, &text).await,
        }
        if on == On::Sqlite {
            copy(
                &stores().join(format!("form-{form}-artifacts")),
                &folder.0.join("artifacts"),
            );
        }
        let mut options = options(&folder.0);
        options.database = Some(database);
        let plane = Plane {
            plane: ControlPlane::open(&options).await.unwrap(),
            keys: [("admin", keys[name].as_str().unwrap().to_owned())].into(),
            folder,
        };
        let answer = plane.send("admin", "GET /v1/bundles/b/download", "").await;
        assert_eq!(answer.status(), 200, "{on:?}");
        assert_eq!(
            answer.body().as_ref(),
            Built::new("one", "one").archive.as_slice(),
            "{on:?}"
        );
        let (status, revisions) = plane
            .send_json("admin", "GET /v1/bundles/b/revisions", "")
            .await;
        let revisions = revisions["result"].as_array().unwrap().iter();
        let revisions: Vec<_> = revisions.map(|one| one["revision"].clone()).collect();
        assert_eq!(
            (status, revisions),
            (200, vec![json!("two"), json!("one")]),
            "{on:?}"
        );
        let mut transaction = plane.plane.database().begin(Mode::Read).await.unwrap();
        let bundle = transaction.head(Kind::Bundle, "b").await.unwrap().unwrap();
        let publication = transaction.publication(bundle.id).await.unwrap().unwrap();
        transaction.roll_back().await;
        assert_eq!(publication.fence, 2, "{on:?}");
        if form >= 3 {
            triggers_are_stored(&plane).await;
        }
        if form >= 4 {
            let mut transaction = plane.plane.database().begin(Mode::Write).await.unwrap();
            let lease = take(&mut transaction, "b").await;
            assert_eq!(lease.trace_parent.as_deref(), Some(TRACE), "{on:?}");
            let states = transaction.build_states().await.unwrap();
            let publisher = states.iter().find_map(|state| state.publisher.as_deref());
            assert_eq!(publisher, Some("fixture"), "{on:?}");
            assert!(take(&mut transaction, "kept").await.is_kept, "{on:?}");
            transaction.commit().await.unwrap();
        }
        // what the dump does not contain is usable
        plane.done("admin", "POST /v1/bundles/b/build", "").await;
    }
}

async fn triggers_are_stored(plane: &Plane) {
    for (id, state) in [(1, "finished"), (2, "waiting")] {
        let ask = format!("GET /v1/bundles/b/builds/{id}");
        let (status, answer) = plane.send_json("admin", &ask, "").await;
        assert_eq!(status, 200);
        assert_eq!(answer["result"]["state"], state);
    }
    let (_, builds) = plane
        .send_json("admin", "GET /v1/bundles/b/builds", "")
        .await;
    let durations = json!({"sync": 0.007, "push": 30.0});
    assert_eq!(builds["result"][0]["durations"], durations);
    assert_eq!(deliver(plane, "1").await, "repeated");
    // the pause has passed since
    assert_eq!(deliver(plane, "3").await, "triggered");
}
