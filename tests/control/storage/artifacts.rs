//! Archives in the database, and next to it with SQLite.

use solon_control::db::{DatabaseOptions, Mode};
use solon_control::model::Kind;

use super::{Built, publish};
use crate::databases::On;
use crate::migrations::run;
use crate::plane::Plane;

/// Returns the revisions of a bundle, the newest first, with `*` after the active one.
async fn revisions(plane: &Plane, bundle: &str) -> Vec<String> {
    let mut transaction = plane.plane.database().begin(Mode::Read).await.unwrap();
    let head = transaction.head(Kind::Bundle, bundle).await.unwrap();
    let Some(head) = head else {
        transaction.roll_back().await;
        return Vec::new();
    };
    let publication = transaction.publication(head.id).await.unwrap();
    let active = publication.map(|publication| publication.artifact);
    let all = transaction.artifacts_before(head.id, i64::MAX, 1000).await;
    transaction.roll_back().await;
    let shown = |artifact: solon_control::db::ArtifactHead| {
        let mark = if Some(artifact.id) == active { "*" } else { "" };
        format!("{}{mark}", artifact.revision)
    };
    all.unwrap().into_iter().map(shown).collect()
}

/// Reads the active archive of a bundle.
async fn active(plane: &Plane, bundle: &str) -> Result<Vec<u8>, String> {
    let mut transaction = plane.plane.database().begin(Mode::Read).await.unwrap();
    let head = transaction.head(Kind::Bundle, bundle).await.unwrap();
    let id = head.unwrap().id;
    let publication = transaction.publication(id).await.unwrap().unwrap();
    let artifact = transaction.artifact(id, publication.artifact).await;
    transaction.roll_back().await;
    let artifact = artifact.unwrap().unwrap();
    let opened = plane.plane.artifacts().open(&artifact, 0, artifact.size);
    let mut reader = opened.await.map_err(|error| error.to_string())?;
    let mut whole = Vec::new();
    while let Some(piece) = reader.next().await.map_err(|error| error.to_string())? {
        assert!(piece.len() <= 1 << 20);
        whole.extend_from_slice(&piece);
    }
    Ok(whole)
}

/// Returns the number of files of archives.
fn files(plane: &Plane) -> usize {
    let folder = plane.folder.0.join("artifacts");
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

/// Publishes in order and compares the result and the revisions after each step.
#[tokio::test(flavor = "multi_thread")]
async fn revisions_are_stored_fenced_and_pruned() {
    let one = Built::of_size("one", 10, 1);
    let two = Built::of_size("two", (1 << 20) + 1, 2);
    let three = Built::of_size("three", 3 << 20, 3);
    let empty = Built::new("empty", "");
    let same_bytes = Built::of_size("other", 10, 1);
    let steps: [(&Built, u64, &str, &[&str]); 11] = [
        (&one, 5, "stored", &["one*"]),
        (&one, 5, "unchanged", &["one*"]),
        (&one, 6, "unchanged", &["one*"]),
        // the unchanged upload has raised the token
        (&two, 5, "newer build", &["one*"]),
        (&two, 6, "stored", &["two*", "one"]),
        (&one, 6, "stored", &["one*", "two", "one"]),
        (&three, 7, "stored", &["three*", "one", "two"]),
        // equal bytes with another revision are another artifact
        (&same_bytes, 7, "stored", &["other*", "three", "one"]),
        (&same_bytes, 3, "newer build", &["other*", "three", "one"]),
        (&empty, 7, "stored", &["empty*", "other", "three"]),
        (
            &three,
            u64::MAX,
            "token is too large",
            &["empty*", "other", "three"],
        ),
    ];
    for on in On::ALL {
        let keep_three = |options: &mut solon_control::Options| options.kept_revisions = 3;
        let Some(plane) = Plane::with(on, keep_three).await else {
            continue;
        };
        plane.done("admin", "PUT /v1/bundles/b", "{}").await;
        plane.done("admin", "PUT /v1/bundles/c", "{}").await;
        for (at, (built, fence, wanted, listed)) in steps.iter().enumerate() {
            let result = publish(&plane, "b", built, *fence).await;
            assert!(result.contains(wanted), "{on:?} step {at}: {result}");
            assert_eq!(revisions(&plane, "b").await, *listed, "{on:?} step {at}");
            if result == "stored" {
                assert!(active(&plane, "b").await.unwrap() == built.archive, "{at}");
            }
            if on == On::Sqlite {
                assert_eq!(files(&plane), listed.len(), "step {at}");
            }
        }
        assert!(revisions(&plane, "c").await.is_empty());
        let gone = publish(&plane, "absent", &one, 1).await;
        assert_eq!(gone, "the bundle does not exist any more");
        let nul = publish(&plane, "b", &Built::new("a\0b", "x"), 9).await;
        assert!(nul.contains("NUL"), "{nul}");
        let long = publish(&plane, "b", &Built::new(&"r".repeat(2049), "x"), 9).await;
        assert!(long.contains("2048"), "{long}");
        // the archives of a deleted bundle are deleted, also if a bundle with the same name follows
        plane.done("admin", "DELETE /v1/bundles/b", "").await;
        plane.done("admin", "PUT /v1/bundles/b", "{}").await;
        assert!(revisions(&plane, "b").await.is_empty(), "{on:?}");
        assert_eq!(publish(&plane, "b", &one, 1).await, "stored", "{on:?}");
    }
}

/// Publishers with different tokens at the same time: the largest one wins, and no archive is torn.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_publishers_leave_the_newest() {
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        plane.done("admin", "PUT /v1/bundles/b", "{}").await;
        let publishing = (1..=8_u64).map(|fence| {
            let artifacts = plane.plane.artifacts().clone();
            tokio::spawn(async move {
                let size = (1 << 20) + fence as usize;
                let built = Built::of_size(&fence.to_string(), size, fence as u8);
                // a busy database is tried again, as the worker does
                for _ in 0..20 {
                    let done = artifacts.publish("b", &built.artefact(), fence).await;
                    match done {
                        Err(failure) if failure.message.contains("busy") => {}
                        done => return done.is_ok(),
                    }
                }
                false
            })
        });
        let mut last = false;
        for publisher in publishing.collect::<Vec<_>>() {
            last = publisher.await.unwrap();
        }
        assert!(last, "{on:?}: the largest token is never rejected");
        let listed = revisions(&plane, "b").await;
        assert_eq!(listed[0], "8*", "{on:?}: {listed:?}");
        assert!(listed.is_sorted_by(|a, b| a > b), "{on:?}: {listed:?}");
        let wanted = Built::of_size("8", (1 << 20) + 8, 8);
        assert!(active(&plane, "b").await.unwrap() == wanted.archive);
    }
}

/// Files without a row are deleted at the start if they are old enough. Archives whose file is missing cannot be opened.
#[tokio::test(flavor = "multi_thread")]
async fn files_without_rows_are_garbage() {
    use std::os::unix::fs::PermissionsExt as _;
    let plane = Plane::new(On::Sqlite).await.unwrap();
    plane.done("admin", "PUT /v1/bundles/b", "{}").await;
    let built = Built::of_size("r", 100, 1);
    assert_eq!(publish(&plane, "b", &built, 1).await, "stored");
    let folder = plane.folder.0.join("artifacts");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let named = std::fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert_eq!(mode(&named), 0o600);
    let hours_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(2);
    for (name, is_old) in [("old.tar.gz", true), ("new.tar.gz", false)] {
        let path = folder.join(name);
        std::fs::write(&path, "x").unwrap();
        if is_old {
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(hours_ago).unwrap();
        }
    }
    let file = std::fs::File::options().write(true).open(&named).unwrap();
    file.set_modified(hours_ago).unwrap();
    plane.plane.artifacts().remove_garbage().await.unwrap();
    assert!(!folder.join("old.tar.gz").exists());
    assert!(folder.join("new.tar.gz").exists());
    assert!(active(&plane, "b").await.unwrap() == built.archive);
    std::fs::remove_file(&named).unwrap();
    let missing = active(&plane, "b").await.unwrap_err();
    assert!(missing.contains("No such file"), "{missing}");
}

/// A write that fails leaves neither a row nor a file, and the previous archive stays active.
#[tokio::test(flavor = "multi_thread")]
async fn failed_writes_change_nothing() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let mut database = None;
        let keep = |options: &mut solon_control::Options| database = options.database.clone();
        let Some(plane) = Plane::with(on, keep).await else {
            continue;
        };
        plane.done("admin", "PUT /v1/bundles/b", "{}").await;
        let first = Built::of_size("first", 2 << 20, 1);
        assert_eq!(publish(&plane, "b", &first, 1).await, "stored");
        let database: DatabaseOptions = database.unwrap();
        // the last statement of the transaction fails
        run(&database, "ALTER TABLE publication_changes RENAME TO kept").await;
        let second = Built::of_size("second", 2 << 20, 2);
        let message = publish(&plane, "b", &second, 2).await;
        let wanted = "the database failed; the log of the service contains the reason";
        assert_eq!(message, wanted, "{on:?}");
        run(&database, "ALTER TABLE kept RENAME TO publication_changes").await;
        assert_eq!(revisions(&plane, "b").await, ["first*"], "{on:?}");
        assert!(active(&plane, "b").await.unwrap() == first.archive);
        if on == On::Sqlite {
            assert_eq!(files(&plane), 1);
        }
        assert_eq!(publish(&plane, "b", &second, 2).await, "stored", "{on:?}");
    }
}
