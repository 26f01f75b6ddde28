//! Timing: the cost of a response does not reveal hidden items. They cost the same as missing items.
//!
//! `cargo test --release -p solon-control --test control -- timing --nocapture` prints the latencies.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use solon_control::db::{Mode, NewItem};
use solon_control::model::Kind;

use crate::databases::On;
use crate::plane::Plane;

const ROUNDS: usize = 200;

/// Returns the minimum and the median of some durations.
fn summed(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort_unstable();
    (times[0], times[times.len() / 2])
}

/// Returns the number of executed statements of each kind. Recording the use of a key adds an update in the background.
async fn statements(plane: &Plane) -> BTreeMap<String, u64> {
    let response = plane.send("admin", "GET /metrics", "").await;
    let text = String::from_utf8_lossy(response.body()).into_owned();
    let counts = text.lines().filter_map(|line| {
        let (name, count) = line.rsplit_once(' ')?;
        let kinds = ["select", "insert", "delete", "other"];
        let is_kind = |kind: &&str| name.contains(&format!("operation=\"{kind}\""));
        let is_count = name.contains("_count{") && kinds.iter().any(is_kind);
        Some((name.to_owned(), count.parse().ok()?)).filter(|_| is_count)
    });
    let counts: BTreeMap<_, _> = counts.collect();
    assert!(!counts.is_empty(), "{text}");
    counts
}

/// Returns the statements of some requests.
async fn work(plane: &Plane, asks: &[(&str, &str)]) -> BTreeMap<String, u64> {
    let before = statements(plane).await;
    for (ask, body) in asks {
        plane.send_json("owner1", ask, body).await;
    }
    let mut after = statements(plane).await;
    for (name, count) in &mut after {
        *count -= before.get(name).copied().unwrap_or(0);
    }
    after
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_references_cost_what_missing_ones_do() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        plane.done("owner2", "PUT /v1/sources/theirs", "{}").await;
        let secret = r#"{"value": {"type": "password", "password": "x"}}"#;
        plane.done("owner2", "PUT /v1/secrets/theirs", secret).await;
        plane.done("owner1", "PUT /v1/sources/mine", "{}").await;
        let bodies = |name: &str| {
            [
                (
                    "PUT /v1/bundles/new",
                    format!(r#"{{"requirements": [{{"source": "{name}"}}]}}"#),
                ),
                (
                    "PUT /v1/sources/mine",
                    format!(
                        r#"{{"requirements": [{{"source": "mine"}}, {{"source": "{name}"}}]}}"#
                    ),
                ),
                (
                    "PUT /v1/sources/mine",
                    format!(
                        r#"{{"git": {{"repo": "https://example.com/a.git", "reference": "main", "credentials": "{name}"}}}}"#
                    ),
                ),
            ]
        };
        for (hidden, missing) in bodies("theirs").into_iter().zip(bodies("nobody")) {
            let (hidden, missing) = (
                (hidden.0, hidden.1.as_str()),
                (missing.0, missing.1.as_str()),
            );
            let told = |answer: serde_json::Value| answer.to_string().replace("theirs", "nobody");
            let (status, answer) = plane.send_json("owner1", hidden.0, hidden.1).await;
            assert_eq!(status, 422, "{answer}");
            let (_, other) = plane.send_json("owner1", missing.0, missing.1).await;
            assert_eq!(told(answer), told(other));
            let (mut hid, mut missed) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                for (ask, times) in [(hidden, &mut hid), (missing, &mut missed)] {
                    let begun = Instant::now();
                    plane.send_json("owner1", ask.0, ask.1).await;
                    times.push(begun.elapsed());
                }
            }
            assert_eq!(
                work(&plane, &[hidden, hidden]).await,
                work(&plane, &[missing, missing]).await,
                "{on:?}: {}",
                hidden.1
            );
            eprintln!(
                "{on:?}: {} with a hidden name: {:?}; with one of nobody: {:?} (least, middle)",
                hidden.0,
                summed(&mut hid),
                summed(&mut missed)
            );
        }
    }
}

/// The duration of a list does not reveal how many items others own.
#[tokio::test(flavor = "multi_thread")]
async fn lists_cost_as_much_as_their_visible_items() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        let mut least = Vec::new();
        for count in [0, 5000] {
            let mut transaction = plane.plane.database().begin(Mode::Write).await.unwrap();
            for number in 0..count {
                let item = NewItem {
                    kind: Kind::Bundle,
                    name: &format!("theirs{number}"),
                    owner: None,
                    file: None,
                    body: "{}",
                };
                transaction.put_item(None, item, &[]).await.unwrap();
            }
            transaction.commit().await.unwrap();
            let name = format!("mine{count}");
            plane
                .done("owner1", &format!("PUT /v1/bundles/{name}"), "{}")
                .await;
            let mut times = Vec::new();
            for _ in 0..50 {
                let begun = Instant::now();
                let (_, answer) = plane.send_json("owner1", "GET /v1/bundles", "").await;
                times.push(begun.elapsed());
                let shown = answer["result"].as_array().unwrap();
                assert!(
                    shown
                        .iter()
                        .all(|item| item["name"].as_str().unwrap().starts_with("mine"))
                );
                assert!(!shown.is_empty());
            }
            let (quickest, middle) = summed(&mut times);
            eprintln!("{on:?}: one's own list beside {count} of others: {quickest:?}, {middle:?}");
            least.push(quickest);
        }
        // a scan of all items would take many times as long
        assert!(least[1] < least[0] * 5, "{on:?}: {least:?}");
    }
}
