//! A build loads the bundle with the sources that it requires, at every level, with their pushed documents.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use solon_control::db::{Mode, NewItem, Transaction};
use solon_control::model::Kind;
use solon_control::secrets::Keyring;
use solon_control::worker::Desired;

use crate::databases::On;
use crate::plane::Plane;

/// Sources of the large bundle, more than one statement lists.
const MANY: usize = 520;

async fn put(
    transaction: &mut Transaction,
    kind: Kind,
    name: &str,
    sources: &[(String, i64)],
) -> i64 {
    let requirements = sources.iter().map(|(name, _)| json!({"source": name}));
    let body = json!({"requirements": requirements.collect::<Vec<_>>()}).to_string();
    let item = NewItem {
        kind,
        name,
        owner: None,
        file: None,
        body: &body,
    };
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

        let mut statements = BTreeMap::new();
        for (bundle, count) in [("none", 0), ("few", 2), ("many", 500), ("more", MANY)] {
            let counted = Arc::new(AtomicUsize::new(0));
            let mut database = plane.plane.database().clone();
            let counting = counted.clone();
            database.observe(Arc::new(move |word, _, _| {
                counting.fetch_add(usize::from(word == "select"), Ordering::Relaxed);
            }));
            let keys = Keyring::random().unwrap();
            let loaded = Desired::load(&database, &keys, bundle)
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
                "absent"
            )
            .await
            .unwrap()
            .map(|loaded| loaded.bundle.name),
            None
        );
    }
}
