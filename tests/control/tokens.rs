//! Keys of tokens: their expiration, and audit entries of tokens that the command line creates.

use serde_json::json;
use solon_control::commands;
use solon_control::model::Role;

use crate::databases::On;
use crate::plane::{Plane, options, pause};
use crate::waiting::Waiting;

fn microseconds_after(millis: i64) -> i64 {
    jiff::Timestamp::now().as_microsecond() + millis * 1000
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_end() {
    for on in On::ALL {
        let Some(mut plane) = Plane::new(on).await else {
            continue;
        };
        // on a slow machine, the expiration may have passed before the token is created
        let mut millis = 300;
        let (end, key) = loop {
            let end = microseconds_after(millis);
            let token = plane.plane.create_token("brief", Role::Owner, Some(end));
            match token.await {
                Ok(key) => break (end, key),
                Err(error) => assert!(millis < 60_000, "{on:?}: {error}"),
            }
            millis *= 4;
        };
        plane.keys.insert("brief", key.to_string());
        plane.send_json("brief", "GET /v1/bundles", "").await;
        let waiting = Waiting::until("the token expires");
        while microseconds_after(0) <= end {
            pause(&waiting).await;
        }
        for ask in ["GET /v1/bundles", "PUT /v1/bundles/b", "GET /nothing"] {
            assert_eq!(
                plane.send_json("brief", ask, "{}").await.0,
                401,
                "{on:?} {ask}"
            );
        }
        // a new key would have expired as well
        let (status, answer) = plane
            .send_json("admin", "POST /v1/tokens/brief/rotate", "")
            .await;
        assert_eq!(status, 409, "{on:?}: {answer}");
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains("has expired"), "{message}");
        plane.done("admin", "DELETE /v1/tokens/brief", "").await;
        let past = plane
            .plane
            .create_token("past", Role::Owner, Some(microseconds_after(-1)))
            .await;
        let words = past.unwrap_err().to_string();
        assert_eq!(words, "expires_at must be in the future");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_is_noted() {
    let plane = Plane::new(On::Sqlite).await.unwrap();
    let mut options = options(&plane.folder.0);
    // items of files are only loaded by the service
    let file = plane.folder.0.join("config.yaml");
    std::fs::write(&file, "bundles: {described: {}}").unwrap();
    options.config.paths = vec![file];
    commands::create_token(&options, "ops", Role::Viewer, None)
        .await
        .unwrap();
    commands::revoke_token(&options, "ops").await.unwrap();
    let (_, audit) = plane.send_json("admin", "GET /v1/audit?limit=2", "").await;
    let entry = |at: usize, name: &str| audit["result"][at][name].clone();
    assert_eq!(
        [entry(1, "action"), entry(0, "action")],
        [json!("create"), json!("delete")]
    );
    for at in [0, 1] {
        assert_eq!(entry(at, "principal"), "the command line");
        assert_eq!(entry(at, "name"), "ops");
        assert_eq!(entry(at, "kind"), "tokens");
    }
    assert_eq!(entry(1, "after")["role"], "viewer");
    assert_eq!(entry(0, "before")["role"], "viewer");
    let (status, _) = plane
        .send_json("admin", "GET /v1/bundles/described", "")
        .await;
    assert_eq!(status, 404);
}
