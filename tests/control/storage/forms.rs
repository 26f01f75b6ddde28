//! Dumps of databases with archives, leases and records of builds: every later build opens them.
//!
//! `SOLON_RECORD_STORES=1 cargo test -p solon-control --test control forms` writes the dumps of this build. A dump is written when
//! the format changes, under the next number, and never again.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use solon_control::ControlPlane;
use solon_control::db::{DatabaseOptions, Mode};
use solon_control::model::Kind;

use super::{Built, publish};
use crate::databases::{Folder, On};
use crate::migrations::run;
use crate::plane::{Plane, options};

const DATABASES: [(On, &str); 3] = [
    (On::Sqlite, "sqlite"),
    (On::Postgres, "postgres"),
    (On::Mariadb, "mysql"),
];

/// The key of the administrator is only valid for the dump.
const KEYS: &str = "form-2-keys.json";

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
    Some((plane, database?))
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
        std::fs::write(stores().join(format!("form-2-{name}.sql")), text).unwrap();
        if on == On::Sqlite {
            let from = plane.folder.0.join("artifacts");
            copy(&from, &stores().join("form-2-artifacts"));
        }
        keys.insert(name.to_owned(), plane.keys["admin"].clone().into());
    }
    let keys = serde_json::to_string_pretty(&keys).unwrap();
    std::fs::write(stores().join(KEYS), keys + "\n").unwrap();
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
async fn dumps_of_this_format_open() {
    let keys = std::fs::read_to_string(stores().join(KEYS)).unwrap();
    let keys: serde_json::Value = serde_json::from_str(&keys).unwrap();
    for (on, name) in DATABASES {
        let folder = Folder::new();
        let Some(database) = on.fresh(&folder.0).await else {
            continue;
        };
        let text = std::fs::read_to_string(stores().join(format!("form-2-{name}.sql"))).unwrap();
        match on {
            On::Mariadb => run(&database, &format!("SET FOREIGN_KEY_CHECKS = 0;\n{text}")).await,
            _ => run(&database, &text).await,
        }
        if on == On::Sqlite {
            copy(
                &stores().join("form-2-artifacts"),
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
        let answer = plane.ask("admin", "GET /v1/bundles/b/download", "").await;
        assert_eq!(answer.status(), 200, "{on:?}");
        assert_eq!(
            answer.body().as_ref(),
            Built::new("one", "one").archive.as_slice(),
            "{on:?}"
        );
        let (status, revisions) = plane.told("admin", "GET /v1/bundles/b/revisions", "").await;
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
    }
}
