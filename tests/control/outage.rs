//! A database that becomes unavailable and available again.

use std::time::Duration;

use solon_control::ControlPlane;

use crate::databases::{Folder, On, create, options as reached, skip};
use crate::plane::{Plane, json, options, pause};
use crate::servers::{Kind, Server};
use crate::waiting::Waiting;

#[tokio::test(flavor = "multi_thread")]
async fn postgres_comes_back() {
    come_back(Kind::Postgres, On::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mariadb_comes_back() {
    come_back(Kind::Mariadb, On::Mariadb).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_start_waits_for_a_server_that_is_starting() {
    for (kind, on) in [(Kind::Postgres, On::Postgres), (Kind::Mariadb, On::Mariadb)] {
        let Some(mut server) = Server::start(kind) else {
            skip(kind);
            continue;
        };
        create(on, &server, "control").await;
        let folder = Folder::new();
        let mut options = options(&folder.0);
        options.database = Some(reached(on, &server, "control"));
        server.stop();
        let rejected = ControlPlane::open(&options).await.err().unwrap();
        let message = rejected.to_string();
        assert!(
            message.starts_with("the database cannot be reached: "),
            "{message}"
        );
        options.database_wait = Duration::from_mins(1);
        let opening = {
            let options = options.clone();
            tokio::spawn(async move { ControlPlane::open(&options).await.map(drop) })
        };
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!opening.is_finished(), "{on:?}");
        server.run();
        opening.await.unwrap().unwrap();
        // What does not change by waiting is reported at once.
        options.database = Some(reached(on, &server, "absent"));
        options.database_wait = Duration::from_hours(10);
        assert!(ControlPlane::open(&options).await.is_err(), "{on:?}");
    }
}

async fn come_back(kind: Kind, on: On) {
    let Some(mut server) = Server::start(kind) else {
        skip(kind);
        return;
    };
    create(on, &server, "control").await;
    let folder = Folder::new();
    let mut options = options(&folder.0);
    options.database = Some(reached(on, &server, "control"));
    let plane = ControlPlane::open(&options).await.unwrap();
    let key = plane
        .create_token("admin", solon_control::model::Role::Administrator, None)
        .await;
    let plane = Plane {
        plane,
        keys: [("admin", key.unwrap().to_string())].into(),
        folder,
    };
    plane.done("admin", "PUT /v1/bundles/before", "{}").await;
    // several connections, which will be lost
    let asks = (0..8).map(|_| plane.send_json("admin", "GET /v1/bundles", ""));
    for ask in asks.collect::<Vec<_>>() {
        assert_eq!(ask.await.0, 200);
    }

    server.stop();
    // processes of the server may respond to pending queries before they detect its end
    let waiting = Waiting::until("the database goes away");
    while plane.send_json("admin", "GET /v1/bundles", "").await.0 == 200 {
        waiting.check();
    }
    let seconds = std::env::var("OUTAGE_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let end = std::time::Instant::now() + Duration::from_secs(seconds.unwrap_or(2));
    while std::time::Instant::now() < end {
        for ask in [
            "GET /v1/bundles",
            "PUT /v1/bundles/during",
            "GET /v1/bundles/before",
        ] {
            let response = plane.send("admin", ask, "{}").await;
            assert_eq!(response.status(), 503, "{ask}: {}", json(&response));
            assert!(response.headers().contains_key("retry-after"));
            assert_eq!(json(&response)["code"], "unavailable");
        }
        let health = plane.send("nobody", "GET /health", "").await;
        assert_eq!(health.status(), 500);
        assert!(json(&health)["error"].is_string());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    server.run();
    let waiting = Waiting::until("the database comes back");
    while plane
        .send_json("admin", "PUT /v1/bundles/after", "{}")
        .await
        .0
        != 200
    {
        pause(&waiting).await;
    }
    for _ in 0..20 {
        let (status, answer) = plane.send_json("admin", "GET /v1/bundles", "").await;
        assert_eq!(status, 200);
        assert_eq!(
            answer["result"],
            serde_json::json!([{"name": "before"}, {"name": "after"}])
        );
    }
    assert_eq!(plane.send("nobody", "GET /health", "").await.status(), 200);
}
