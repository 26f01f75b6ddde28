//! A process that is killed while it writes: acknowledged writes are stored, and no write is partial.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use solon_control::db::{DatabaseOptions, DatabaseTls, Mode};
use solon_control::model::{Kind, Role};
use solon_control::{ControlPlane, Options};

use crate::databases::{Folder, On};
use crate::plane::{Plane, options};

/// Environment variable with the database of the child.
const CHILD: &str = "SOLON_TEST_KILLED";

fn child_options(text: &str) -> Options {
    let (folder, dsn) = text.split_once('|').unwrap();
    let mut options = options(folder.as_ref());
    options.database = match dsn.split_once(':') {
        Some(("postgres", _)) => Some(DatabaseOptions::Postgres(
            dsn.to_owned(),
            DatabaseTls::default(),
        )),
        Some(_) => Some(DatabaseOptions::Mysql(
            dsn.to_owned(),
            DatabaseTls::default(),
        )),
        None => None,
    };
    options
}

/// The child: it writes until it is killed, and prints the acknowledged writes.
#[tokio::test(flavor = "multi_thread")]
async fn child() {
    let Ok(text) = std::env::var(CHILD) else {
        return;
    };
    let plane = ControlPlane::open(&child_options(&text)).await.unwrap();
    let name = format!("child-{}", std::process::id());
    let key = plane
        .create_token(&name, Role::Administrator, None)
        .await
        .unwrap();
    let plane = Plane {
        plane,
        keys: [("admin", key.to_string())].into(),
        // it is killed before it could remove its own folder
        folder: Folder(text.split('|').next().unwrap().into()),
    };
    for number in 0..500 {
        let item = format!("{name}-{number}");
        let writes = [
            (
                format!("PUT /v1/secrets/{item}"),
                r#"{"type":"password","password":"p"}"#.to_owned(),
            ),
            (format!("PUT /v1/sources/{item}"), "{}".to_owned()),
            (
                format!("PUT /v1/sources/{item}/data/a/b"),
                format!(r#"{{"n":{number}}}"#),
            ),
            (
                format!("PUT /v1/bundles/{item}"),
                format!(
                    r#"{{"requirements":[{{"source":"{item}"}},{{"source":"shared"}}],"object_storage":{{"aws":{{"bucket":"b","key":"k","region":"r","credentials":"{item}"}}}}}}"#
                ),
            ),
        ];
        for (ask, body) in writes {
            plane.done("admin", &ask, &body).await;
            // one line per write in a single system call, so that the parent never reads a partial line
            let line = format!("written {ask}\n");
            std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_sqlite() {
    rounds(On::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres() {
    rounds(On::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_mariadb() {
    rounds(On::Mariadb).await;
}

async fn rounds(on: On) {
    let folder = Folder::new();
    let Some(database) = on.fresh(&folder.0).await else {
        return;
    };
    let dsn = match &database {
        DatabaseOptions::Postgres(dsn, _) | DatabaseOptions::Mysql(dsn, _) => dsn.clone(),
        _ => String::new(),
    };
    let text = format!("{}|{dsn}", folder.0.display());
    let options = child_options(&text);
    let key = {
        let plane = ControlPlane::open(&options).await.unwrap();
        plane
            .create_token("admin", Role::Administrator, None)
            .await
            .unwrap()
            .to_string()
    };
    let rounds = std::env::var("KILL_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let mut acknowledged: BTreeSet<String> = BTreeSet::new();
    let mut latest: BTreeSet<String> = BTreeSet::new();
    let mut seed = 0x9e37_79b9_u64;
    for round in 0..rounds.unwrap_or(3) {
        let plane = Plane {
            plane: ControlPlane::open(&options).await.unwrap(),
            keys: [("admin", key.clone())].into(),
            folder: Folder::new(),
        };
        if round == 0 {
            plane.done("admin", "PUT /v1/sources/shared", "{}").await;
        }
        check(&plane, &latest).await;
        drop(plane);

        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "killed::child",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(CHILD, &text)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut written = lines.map_while(Result::ok).filter_map(|line| {
            let (_, place) = line.split_once("written PUT /v1/")?;
            Some(place.to_owned())
        });
        // it is killed at a random time after its first write
        let first = written.next().unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let pause = Duration::from_millis((seed >> 33) % 700);
        let killer = std::thread::spawn(move || {
            std::thread::sleep(pause);
            child.kill().unwrap();
            child.wait().unwrap();
        });
        latest = std::iter::once(first).chain(written).collect();
        killer.join().unwrap();
        acknowledged.extend(latest.iter().cloned());
    }
    let plane = Plane {
        plane: ControlPlane::open(&options).await.unwrap(),
        keys: [("admin", key)].into(),
        folder: Folder::new(),
    };
    check(&plane, &acknowledged).await;
    eprintln!(
        "{on:?}: {} acknowledged writes are there",
        acknowledged.len()
    );
}

/// Checks that everything acknowledged is stored, and everything stored is complete.
async fn check(plane: &Plane, acknowledged: &BTreeSet<String>) {
    for place in acknowledged {
        let (status, answer) = plane
            .send_json("admin", &format!("GET /v1/{place}"), "")
            .await;
        assert_eq!(status, 200, "{place} was acknowledged: {answer}");
        assert!(
            !answer["result"].is_null(),
            "{place} was acknowledged: {answer}"
        );
    }
    let mut transaction = plane.plane.database().begin(Mode::Read).await.unwrap();
    let noted = transaction
        .audit_before(i64::MAX, i64::from(i32::MAX))
        .await
        .unwrap();
    let noted: BTreeSet<String> = noted
        .into_iter()
        .map(|entry| format!("{} {}", entry.kind, entry.name))
        .collect();
    // all bundles use it, so its users are queried once
    let shared = transaction.head(Kind::Source, "shared").await.unwrap();
    let shared = transaction.users(shared.unwrap().id).await.unwrap();
    let shared: BTreeSet<i64> = shared.into_iter().map(|(_, user)| user.id).collect();
    for kind in Kind::OWNED {
        for item in transaction
            .items_after(kind, 0, i64::from(i32::MAX))
            .await
            .unwrap()
        {
            let name = &item.head.name;
            assert!(
                noted.contains(&format!("{} {name}", kind.plural())),
                "{kind:?} {name} was not noted"
            );
            match kind {
                Kind::Secret => {
                    let value = transaction.secret_value(item.head.id).await.unwrap();
                    assert!(value.is_some(), "secret {name} has no value");
                }
                Kind::Bundle => {
                    assert!(
                        shared.contains(&item.head.id),
                        "bundle {name} lost a reference"
                    );
                    for kind in [Kind::Source, Kind::Secret] {
                        let used = transaction.head(kind, name).await.unwrap().unwrap();
                        let users = transaction.users(used.id).await.unwrap();
                        let is_user = users.iter().any(|(_, user)| user.id == item.head.id);
                        assert!(is_user, "bundle {name} lost a reference");
                    }
                }
                _ => {}
            }
        }
    }
    transaction.roll_back().await;
}
