//! Several processes with configuration files on one database, as during a rolling update.

use serde_json::{Value, json};
use solon_control::db::{DatabaseOptions, Mode};
use solon_control::{ControlPlane, Options};

use crate::config::{described, send, write};
use crate::databases::{Folder, On};

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// A configuration with some bundles.
fn text(names: &[&str], metadata: &str) -> String {
    let bundles: Vec<String> = names
        .iter()
        .map(|name| format!("{name}: {{labels: {{a: b}}}}"))
        .collect();
    format!(
        "metadata: {{exported_from: x{metadata}}}\nbundles: {{{}}}\nsecrets: {{s: {{type: password, password: p, allowed_hosts: [a.b]}}}}\ntokens: {{ops: {{api_key: {KEY}, scopes: [{{role: administrator}}]}}}}",
        bundles.join(", ")
    )
}

fn options(folder: &Folder, database: &DatabaseOptions, content: &str) -> Options {
    let mut options = described(folder, &[("c.yaml", content)]);
    options.database = Some(database.clone());
    options
}

async fn bundles(plane: &ControlPlane) -> Vec<String> {
    let (_, answer) = send(plane, KEY, "GET /v1/bundles", "").await;
    let names = answer["result"].as_array().unwrap().iter();
    let mut names: Vec<String> = names
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// Returns the versions of all items, which tags are derived from, and the number of audit entries.
async fn state(plane: &ControlPlane) -> Value {
    use solon_control::model::Kind;
    let mut transaction = plane.database().begin(Mode::Read).await.unwrap();
    let mut versions = Vec::new();
    for kind in [Kind::Bundle, Kind::Secret] {
        for item in transaction.items_after(kind, 0, 100).await.unwrap() {
            versions.push(json!([item.head.name, item.head.version]));
        }
    }
    let entries = transaction
        .audit_before(i64::MAX, 1000)
        .await
        .unwrap()
        .len();
    transaction.roll_back().await;
    json!([versions, entries])
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_content_under_another_path_changes_nothing() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let (one, other) = (Folder::new(), Folder::new());
        let Some(database) = on.fresh(&one.0).await else {
            continue;
        };
        let content = text(&["a", "b"], "");
        let first = ControlPlane::open(&options(&one, &database, &content))
            .await
            .unwrap();
        let before = state(&first).await;
        let second = options(&other, &database, &content);
        let file = second.config.paths[0].display().to_string();
        let second = ControlPlane::open(&second).await.unwrap();
        assert_eq!(state(&second).await, before, "{on:?}");
        // errors name the file that describes it now.
        for target in [
            "PUT /v1/bundles/a",
            "DELETE /v1/secrets/s",
            "DELETE /v1/tokens/ops",
        ] {
            let (status, answer) = send(&second, KEY, target, "{}").await;
            let message = answer["message"].as_str().unwrap();
            let is_told = message.contains(&file) || status == 400;
            assert!(is_told, "{on:?} {target}: {message}");
        }
        for plane in [&first, &second, &first] {
            let applied = plane.reload().await.unwrap();
            assert_eq!(
                (applied.written, applied.removed, applied.is_superseded),
                (0, 0, false)
            );
            assert_eq!(state(plane).await, before, "{on:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_process_does_not_undo_a_newer_one() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let (old_folder, new_folder) = (Folder::new(), Folder::new());
        let Some(database) = on.fresh(&old_folder.0).await else {
            continue;
        };
        let old = ControlPlane::open(&options(&old_folder, &database, &text(&["a"], "")))
            .await
            .unwrap();
        let new = ControlPlane::open(&options(&new_folder, &database, &text(&["b"], "")))
            .await
            .unwrap();
        assert_eq!(bundles(&new).await, ["b"]);
        let before = state(&new).await;
        // reloads with unchanged content, with a new comment, and with new content.
        let comment = text(&["a"], "") + "\n# a comment";
        for content in [text(&["a"], ""), comment, text(&["a", "c"], "")] {
            write(&old_folder.0, &[("c.yaml", &content)]);
            let applied = old.reload().await.unwrap();
            assert!(
                applied.is_superseded && applied.written == 0,
                "{on:?}: {applied:?}"
            );
            assert!(old.reload_and_log().await);
            assert_eq!(bundles(&old).await, ["b"], "{on:?}");
        }
        assert_eq!(state(&new).await, before, "{on:?}");
        // once its files are equal, it follows, and may be the first to apply the next change.
        write(&old_folder.0, &[("c.yaml", &text(&["b"], ""))]);
        let applied = old.reload().await.unwrap();
        assert!(
            !applied.is_superseded && applied.written == 0,
            "{on:?}: {applied:?}"
        );
        assert_eq!(state(&new).await, before, "{on:?}");
        write(&old_folder.0, &[("c.yaml", &text(&["b", "d"], ""))]);
        assert_eq!(old.reload().await.unwrap().written, 1);
        assert_eq!(bundles(&new).await, ["b", "d"]);
        assert!(new.reload().await.unwrap().is_superseded);
        write(&new_folder.0, &[("c.yaml", &text(&["b", "d"], ""))]);
        assert!(!new.reload().await.unwrap().is_superseded);
        write(&new_folder.0, &[("c.yaml", &text(&["b"], ""))]);
        assert_eq!(new.reload().await.unwrap().removed, 1, "{on:?}");
        // a start applies the deployed files
        let back = ControlPlane::open(&options(&old_folder, &database, &text(&["a"], "")))
            .await
            .unwrap();
        assert_eq!(bundles(&back).await, ["a"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn generations_of_files_order_starts() {
    let (old_folder, new_folder) = (Folder::new(), Folder::new());
    let database = On::Sqlite.fresh(&old_folder.0).await.unwrap();
    let at = |generation: &str, name: &str| text(&[name], &format!(", generation: {generation}"));
    let old = options(&old_folder, &database, &at("1", "a"));
    ControlPlane::open(&old).await.unwrap();
    let new = ControlPlane::open(&options(&new_folder, &database, &at("2", "b")))
        .await
        .unwrap();
    // a crash of the old process
    let again = ControlPlane::open(&old).await.unwrap();
    assert_eq!(bundles(&again).await, ["b"]);
    assert!(again.reload().await.unwrap().is_superseded);
    // starts order different content of the same generation
    let same = ControlPlane::open(&options(&old_folder, &database, &at("2", "c")))
        .await
        .unwrap();
    assert_eq!(bundles(&same).await, ["c"]);
    assert!(new.reload().await.unwrap().is_superseded);
    write(&new_folder.0, &[("c.yaml", &at("3", "d"))]);
    assert_eq!(new.reload().await.unwrap().written, 1);
    assert_eq!(bundles(&same).await, ["d"]);
    let wrong = options(&old_folder, &database, &at("x", "a"));
    let message = ControlPlane::open(&wrong).await.err().unwrap().to_string();
    assert!(
        message.contains("metadata.generation must be an integer"),
        "{message}"
    );
}
