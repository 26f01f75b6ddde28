//! Concurrent clients: no request is rejected, and no write is lost. Pages of large lists do not get slower.
//!
//! `LOAD_SECONDS=60 cargo test --release -p solon-control --test control -- load --nocapture` prints the latencies.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use solon_control::db::{Mode, NewItem};
use solon_control::model::Kind;

use crate::databases::On;
use crate::plane::Plane;

const CLIENTS: usize = 30;

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let at = times.len() * percent / 100;
    times
        .get(at.min(times.len() - 1))
        .copied()
        .unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_clients() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        let plane = Arc::new(plane);
        plane.done("admin", "PUT /v1/sources/shared", "{}").await;
        let seconds = std::env::var("LOAD_SECONDS")
            .ok()
            .and_then(|text| text.parse().ok());
        let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(2));
        let clients = (0..CLIENTS).map(|client| {
            let plane = plane.clone();
            tokio::spawn(async move {
                let (mut reads, mut writes) = (Vec::new(), Vec::new());
                let mut last = vec![None; 5];
                for round in 0_usize.. {
                    // each client reads and writes at least a few times, however slow the machine is
                    if round >= 4 && Instant::now() > end {
                        break;
                    }
                    let slot = round % last.len();
                    let name = format!("c{client}-{slot}");
                    let who = ["admin", "owner1", "owner2"][client % 3];
                    let begun = Instant::now();
                    if round % 4 == 0 {
                        let body = json!({"labels": {"round": round.to_string()}}).to_string();
                        plane
                            .done(who, &format!("PUT /v1/bundles/{name}"), &body)
                            .await;
                        writes.push(begun.elapsed());
                        last[slot] = Some(round.to_string());
                    } else if round % 4 == 1 {
                        plane.done(who, "GET /v1/bundles?limit=20", "").await;
                        reads.push(begun.elapsed());
                    } else {
                        let (status, answer) = plane
                            .send_json(who, &format!("GET /v1/bundles/{name}"), "")
                            .await;
                        reads.push(begun.elapsed());
                        match &last[slot] {
                            None => assert_eq!(status, 404, "{name}: {answer}"),
                            Some(round) => {
                                assert_eq!(status, 200, "{name}: {answer}");
                                assert_eq!(
                                    answer["result"]["labels"]["round"], **round,
                                    "a write was lost"
                                );
                            }
                        }
                    }
                }
                (reads, writes, last)
            })
        });
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for (client, ended) in clients.collect::<Vec<_>>().into_iter().enumerate() {
            let (read, written, last) = ended.await.unwrap();
            reads.extend(read);
            writes.extend(written);
            for (slot, round) in last.into_iter().enumerate() {
                let ask = format!("GET /v1/bundles/c{client}-{slot}");
                if let Some(round) = round {
                    let (_, answer) = plane.send_json("admin", &ask, "").await;
                    assert_eq!(
                        answer["result"]["labels"]["round"], round,
                        "{on:?}: a write was lost"
                    );
                }
            }
        }
        let (slow_read, slow_write) = (percentile(&mut reads, 99), percentile(&mut writes, 99));
        eprintln!(
            "{on:?}: {} reads, 99 % within {slow_read:?}; {} writes, 99 % within {slow_write:?}",
            reads.len(),
            writes.len()
        );
    }
}

fn item(kind: Kind, name: &str) -> NewItem<'_> {
    NewItem {
        kind,
        name,
        owner: None,
        file: None,
        body: "{}",
    }
}

/// A page of a long list costs the same as a page of a short one, whether the principal can see all items or only a few.
#[tokio::test(flavor = "multi_thread")]
async fn pages_of_large_lists() {
    let many = std::env::var("LOAD_ITEMS")
        .ok()
        .and_then(|text| text.parse().ok());
    for count in [100, many.unwrap_or(1000)] {
        let plane = Plane::new(On::Sqlite).await.unwrap();
        let mut transaction = plane.plane.database().begin(Mode::Write).await.unwrap();
        let mut sources = Vec::new();
        for number in 0..20 {
            let name = format!("s{number}");
            let head = transaction
                .put_item(None, item(Kind::Source, &name), &[])
                .await
                .unwrap();
            sources.push(head.id);
        }
        let requirements: Vec<_> = (0..20)
            .map(|n| json!({"source": format!("s{n}")}))
            .collect();
        for number in 0..count {
            let name = format!("b{number}");
            let body = json!({"name": name, "requirements": requirements}).to_string();
            let item = NewItem {
                body: &body,
                ..item(Kind::Bundle, &name)
            };
            transaction.put_item(None, item, &sources).await.unwrap();
        }
        transaction.commit().await.unwrap();
        plane.done("owner1", "PUT /v1/bundles/mine", "{}").await;
        for (who, ask, shown) in [
            ("admin", "GET /v1/bundles", 100),
            ("viewer", "GET /v1/bundles?limit=100", 100),
            ("owner1", "GET /v1/bundles", 1),
        ] {
            let mut times = Vec::new();
            for _ in 0..20 {
                let begun = Instant::now();
                let (status, answer) = plane.send_json(who, ask, "").await;
                times.push(begun.elapsed());
                assert_eq!(status, 200);
                assert_eq!(answer["result"].as_array().unwrap().len(), shown);
            }
            let half = percentile(&mut times, 50);
            eprintln!("{count} bundles: {who} has a page of {shown} in {half:?}");
        }
    }
}
