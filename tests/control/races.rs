//! Concurrent writes are serializable.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::databases::{On, create, options, skip};
use crate::plane::Plane;
use crate::servers::{Kind, Server};

/// Of several concurrent changes of one state, only one succeeds.
#[tokio::test(flavor = "multi_thread")]
async fn one_editor_wins() {
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        let made = plane.send("admin", "PUT /v1/bundles/b", "{}").await;
        let mut tag = made.headers()["etag"].to_str().unwrap().to_owned();
        for round in 0..5 {
            let headers = BTreeMap::from([("if-match".to_owned(), tag.clone())]);
            let bodies: Vec<String> = (0..8)
                .map(|n| format!(r#"{{"labels":{{"n":"{round}-{n}"}}}}"#))
                .collect();
            let asks = bodies
                .iter()
                .map(|body| plane.send_with("admin", "PUT /v1/bundles/b", body.clone(), &headers));
            let answers = futures(asks.collect()).await;
            let won: Vec<usize> = (0..8).filter(|&n| answers[n].status() == 200).collect();
            assert_eq!(won.len(), 1, "{on:?}: {won:?}");
            assert!(
                answers
                    .iter()
                    .all(|answer| matches!(answer.status().as_u16(), 200 | 412))
            );
            let (_, now) = plane.send_json("admin", "GET /v1/bundles/b", "").await;
            assert_eq!(
                now["result"]["labels"]["n"],
                format!("{round}-{}", won[0]),
                "{on:?}"
            );
            answers[won[0]].headers()["etag"]
                .to_str()
                .unwrap()
                .clone_into(&mut tag);
        }
    }
}

/// An item that is referenced while it is deleted is either deleted or referenced.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_dangles() {
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        for round in 0..10 {
            plane.done("admin", "PUT /v1/sources/s", "{}").await;
            let bundle = format!("PUT /v1/bundles/b{round}");
            let named = plane.send_json("admin", &bundle, r#"{"requirements":[{"source":"s"}]}"#);
            let removed = plane.send_json("admin", "DELETE /v1/sources/s", "");
            let ((named, _), (removed, _)) = if round % 2 == 0 {
                tokio::join!(named, removed)
            } else {
                let (removed, named) = tokio::join!(removed, named);
                (named, removed)
            };
            match (named, removed) {
                (200, 409) => {
                    let remove = bundle.replace("PUT", "DELETE");
                    plane.done("admin", &remove, "").await;
                }
                (422, 200) => {}
                other => panic!("{on:?}: {other:?}"),
            }
        }
    }
}

/// Two sources cannot require each other, even if both are written at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn no_cycle_comes_about() {
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        for _ in 0..10 {
            plane.done("admin", "PUT /v1/sources/a", "{}").await;
            plane.done("admin", "PUT /v1/sources/b", "{}").await;
            let ((one, _), (other, _)) = tokio::join!(
                plane.send_json(
                    "admin",
                    "PUT /v1/sources/a",
                    r#"{"requirements":[{"source":"b"}]}"#
                ),
                plane.send_json(
                    "admin",
                    "PUT /v1/sources/b",
                    r#"{"requirements":[{"source":"a"}]}"#
                ),
            );
            assert!(
                matches!((one, other), (200, 400) | (400, 200)),
                "{on:?}: {one} {other}"
            );
        }
    }
}

/// A key that is revoked during a write of its token writes nothing afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_revoked_is_out() {
    for on in On::ALL {
        let Some(mut plane) = Plane::new(on).await else {
            continue;
        };
        let (_, made) = plane
            .send_json("admin", "POST /v1/tokens", r#"{"name":"t","role":"owner"}"#)
            .await;
        let key = made["result"]["key"].as_str().unwrap().to_owned();
        plane.keys.insert("t", key);
        let names: Vec<String> = (0..20).map(|n| format!("PUT /v1/bundles/b{n}")).collect();
        let writes = names.iter().map(|ask| plane.send("t", ask, "{}"));
        let (answers, (revoked, _)) = tokio::join!(
            futures(writes.collect()),
            plane.send_json("admin", "DELETE /v1/tokens/t", "")
        );
        assert_eq!(revoked, 200);
        let written = answers
            .iter()
            .filter(|answer| answer.status() == 200)
            .count();
        assert!(
            answers
                .iter()
                .all(|answer| matches!(answer.status().as_u16(), 200 | 401))
        );
        let (_, all) = plane.send_json("admin", "GET /v1/bundles", "").await;
        assert_eq!(all["result"].as_array().unwrap().len(), written, "{on:?}");
        let (status, _) = plane.send_json("t", "PUT /v1/bundles/late", "{}").await;
        assert_eq!(status, 401, "{on:?}");
    }
}

/// Requests succeed although the server closes tables again and again, as it does with many tables.
#[tokio::test(flavor = "multi_thread")]
async fn closed_tables_are_opened_again() {
    use mysql_async::prelude::Queryable as _;
    let settings = ["--table-open-cache=10", "--table-definition-cache=400"];
    let Some(server) = Server::start_with(Kind::Mariadb, &settings) else {
        skip(Kind::Mariadb);
        return;
    };
    create(On::Mariadb, &server, "control").await;
    let database = options(On::Mariadb, &server, "control");
    let plane = Plane::with(On::Memory, |options| options.database = Some(database))
        .await
        .unwrap();
    let seconds = std::env::var("LOAD_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(2);
    let end = Instant::now() + Duration::from_secs(seconds);
    let plane = Arc::new(plane);
    let clients: Vec<_> = (0..6)
        .map(|client| {
            let plane = plane.clone();
            tokio::spawn(async move {
                let who = ["admin", "owner1", "owner2"][client % 3];
                let bundle = format!("/v1/bundles/b{client}");
                let mut asked = 0;
                while asked == 0 || Instant::now() < end {
                    for ask in ["PUT ", "GET ", "GET /v1/bundles"] {
                        let ask = match ask.strip_suffix(' ') {
                            Some(method) => format!("{method} {bundle}"),
                            None => ask.to_owned(),
                        };
                        let (status, answer) = plane.send_json(who, &ask, "{}").await;
                        assert_eq!(status, 200, "{ask}: {answer}");
                        asked += 1;
                    }
                }
                asked
            })
        })
        .collect();
    let url = format!(
        "mysql://root@127.0.0.1:{}/mysql?prefer_socket=false",
        server.port
    );
    let mut connection = mysql_async::Conn::from_url(url).await.unwrap();
    // more tables than the server's table cache
    connection
        .query_drop("CREATE DATABASE others")
        .await
        .unwrap();
    for number in (0..600).cycle() {
        if Instant::now() > end {
            break;
        }
        let table = format!("CREATE TABLE IF NOT EXISTS others.t{number} (id INT)");
        connection.query_drop(table).await.unwrap();
        let read = format!("SELECT id FROM others.t{number}");
        connection.query_drop(read).await.unwrap();
        if number % 20 == 0 {
            connection.query_drop("FLUSH TABLES").await.unwrap();
        }
    }
    for client in clients {
        assert!(client.await.unwrap() > 0);
    }
}

/// Runs futures concurrently and returns their results in order.
async fn futures<T>(all: Vec<impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = all.into_iter().map(|one| (Box::pin(one), None)).collect();
    std::future::poll_fn(|context| {
        let mut is_done = true;
        for (future, result) in &mut waiting {
            if result.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *result = Some(value),
                    std::task::Poll::Pending => is_done = false,
                }
            }
        }
        if is_done {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    waiting
        .into_iter()
        .filter_map(|(_, result)| result)
        .collect()
}
