//! A build loads the bundle with the sources that it requires, at every level, with their pushed documents.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use solon_control::db::{Mode, NewItem, Transaction};
use solon_control::model::Kind;
use solon_control::secrets::Keyring;
use solon_control::worker::{Desired, ParsedItems};

use crate::databases::On;
use crate::plane::Plane;

/// Sources of the large bundle, more than one statement lists.
const MANY: usize = 520;

fn new_item<'a>(kind: Kind, name: &'a str, body: &'a str) -> NewItem<'a> {
    NewItem {
        kind,
        name,
        owner: None,
        file: None,
        body,
    }
}

async fn put(
    transaction: &mut Transaction,
    kind: Kind,
    name: &str,
    sources: &[(String, i64)],
) -> i64 {
    let requirements = sources.iter().map(|(name, _)| json!({"source": name}));
    let body = json!({"requirements": requirements.collect::<Vec<_>>()}).to_string();
    let item = new_item(kind, name, &body);
    let used: Vec<i64> = sources.iter().map(|(_, id)| *id).collect();
    transaction.put_item(None, item, &used).await.unwrap().id
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_of_each_level_are_loaded_together() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        let mut transaction = plane.plane.database().begin(Mode::Write).await.unwrap();
        let last = put(&mut transaction, Kind::Source, "last", &[]).await;
        let last = ("last".to_owned(), last);
        let middle = put(
            &mut transaction,
            Kind::Source,
            "middle",
            std::slice::from_ref(&last),
        )
        .await;
        let middle = ("middle".to_owned(), middle);
        let mut sources = Vec::new();
        for number in 0..MANY {
            let name = format!("s{number}");
            let required = if number % 2 == 0 { &middle } else { &last };
            let required = std::slice::from_ref(required);
            let id = put(&mut transaction, Kind::Source, &name, required).await;
            sources.push((name, id));
        }
        for (name, id) in sources.iter().take(3).chain([&last]) {
            for path in ["b/data.json", "a/data.json"] {
                let body = format!("{{\"of\": \"{name}\"}}");
                transaction.put_document(*id, path, &body).await.unwrap();
            }
        }
        put(&mut transaction, Kind::Bundle, "few", &sources[..2]).await;
        put(&mut transaction, Kind::Bundle, "many", &sources[..500]).await;
        put(&mut transaction, Kind::Bundle, "more", &sources).await;
        put(&mut transaction, Kind::Bundle, "none", &[]).await;
        transaction.commit().await.unwrap();

        let (mut statements, parsed) = (BTreeMap::new(), ParsedItems::default());
        for (bundle, count) in [("none", 0), ("few", 2), ("many", 500), ("more", MANY)] {
            let counted = Arc::new(AtomicUsize::new(0));
            let mut database = plane.plane.database().clone();
            let counting = counted.clone();
            database.observe(Arc::new(move |word, _, _| {
                counting.fetch_add(usize::from(word == "select"), Ordering::Relaxed);
            }));
            let keys = Keyring::random().unwrap();
            let loaded = Desired::load(&database, &keys, &parsed, bundle)
                .await
                .unwrap()
                .unwrap();
            let direct = sources.iter().take(count).map(|(name, _)| name.as_str());
            let below = ["last", "middle"].into_iter().take(count);
            let mut wanted: Vec<&str> = direct.chain(below).collect();
            wanted.sort_unstable();
            assert!(loaded.sources.keys().eq(wanted), "{on:?}: {bundle}");
            for (name, source) in &loaded.sources {
                assert_eq!(source.source.name, *name);
                let has_data = matches!(name.as_str(), "s0" | "s1" | "s2" | "last");
                let mut files = Vec::new();
                for (path, content) in source.pushed.files() {
                    files.push(path);
                    let text = content.read().unwrap();
                    assert_eq!(text, format!("{{\"of\": \"{name}\"}}"));
                }
                let expected: &[&str] = if has_data {
                    &["a/data.json", "b/data.json"]
                } else {
                    &[]
                };
                assert_eq!(files, expected, "{on:?}: {name}");
            }
            statements.insert(bundle, counted.load(Ordering::Relaxed));
        }
        // the number of statements depends on the levels and not on the sources
        assert_eq!(statements["few"], statements["many"], "{on:?}");
        assert!(statements["many"] < 12, "{on:?}: {statements:?}");
        assert_eq!(
            Desired::load(
                plane.plane.database(),
                &Keyring::random().unwrap(),
                &parsed,
                "absent"
            )
            .await
            .unwrap()
            .map(|loaded| loaded.bundle.name.clone()),
            None
        );
    }
}

/// Items that are parsed already are parsed again after a change, and a deleted item does not stay.
#[tokio::test(flavor = "multi_thread")]
async fn a_build_sees_each_change_of_parsed_items() {
    let plane = Plane::new(On::Sqlite).await.unwrap();
    let database = plane.plane.database();
    let (keys, parsed) = (Keyring::random().unwrap(), ParsedItems::default());
    let load = || async {
        let loaded = Desired::load(database, &keys, &parsed, "bundle").await;
        loaded.unwrap().unwrap()
    };
    let write = |kind: Kind, name: &'static str, body: Value| async move {
        let mut transaction = database.begin(Mode::Write).await.unwrap();
        let before = transaction.head(kind, name).await.unwrap();
        let body = body.to_string();
        let item = new_item(kind, name, &body);
        let head = transaction.put_item(before.as_ref(), item, &[]).await;
        transaction.commit().await.unwrap();
        head.unwrap().id
    };
    let requires = |name: &str| json!({"requirements": [{"source": name}]});
    let id = write(Kind::Source, "a", json!({"directory": "first"})).await;
    write(Kind::Source, "b", json!({"directory": "other"})).await;
    write(Kind::Bundle, "bundle", requires("a")).await;
    let first = load().await;
    let again = load().await;
    assert!(Arc::ptr_eq(&first.bundle, &again.bundle));
    let source = |loaded: &Desired, name: &str| loaded.sources[name].clone();
    let (before, same) = (source(&first, "a"), source(&again, "a"));
    assert!(Arc::ptr_eq(&before.source, &same.source));
    assert_eq!(before.digest, same.digest);

    // pushed data changes the version of a source whose text is the same
    let mut transaction = database.begin(Mode::Write).await.unwrap();
    let pushed = transaction.put_document(id, "data.json", "{}").await;
    pushed.unwrap();
    transaction.commit().await.unwrap();
    let with_data = source(&load().await, "a");
    assert!(Arc::ptr_eq(&before.source, &with_data.source));
    assert!(with_data.pushed.get("data.json").is_some());
    assert_ne!(before.digest, with_data.digest);

    write(Kind::Source, "a", json!({"directory": "second"})).await;
    assert_eq!(source(&load().await, "a").source.directory, "second");
    write(Kind::Bundle, "bundle", requires("b")).await;
    let loaded = load().await;
    assert!(loaded.sources.keys().eq(["b"]));
    write(
        Kind::Stack,
        "stack",
        json!({"selector": {}, "requirements": [{"source": "a"}]}),
    )
    .await;
    let loaded = load().await;
    assert_eq!(loaded.stacks.len(), 1);
    assert!(loaded.sources.keys().eq(["a", "b"]));

    let mut transaction = database.begin(Mode::Write).await.unwrap();
    transaction.remove_item(id).await.unwrap();
    transaction.commit().await.unwrap();
    assert!(load().await.sources.keys().eq(["b"]));
}
