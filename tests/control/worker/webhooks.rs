//! Deliveries to webhooks trigger fetches: one for all bundles of a source, at most one in five seconds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_lc_rs::hmac;
use serde_json::{Value, json};
use solon_control::model::Failure;
use solon_control::worker::{Desired, FetchJob, Needed, Publishers, Stages, Work, WorkerOptions};

use crate::databases::On;
use crate::plane::{Plane, json as parsed, pause};
use crate::waiting::Waiting;

const SECRET: &str = "a shared secret";

/// Stages that count fetches. The archive is the number of pushes.
#[derive(Default)]
struct Counting {
    pushes: AtomicUsize,
    fetches: AtomicUsize,
    builds: AtomicUsize,
}

impl Stages for Counting {
    type Plan = Vec<Needed>;
    type Fetched = usize;
    type Archive = usize;

    fn plan(&self, _: &Desired) -> Result<Self::Plan, Failure> {
        let (source, commit) = ("s".to_owned(), None);
        Ok(vec![Needed { source, commit }])
    }

    fn needed(&self, plan: &Self::Plan) -> Vec<Needed> {
        plan.clone()
    }

    async fn fetch(&self, _: FetchJob) -> Result<usize, Failure> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        Ok(self.pushes.load(Ordering::SeqCst))
    }

    fn input_digest(&self, work: &Work<Self>) -> Result<String, Failure> {
        Ok(format!("{:?}", work.fetched))
    }

    fn build(&self, work: &Work<Self>) -> Result<(String, usize), Failure> {
        self.builds.fetch_add(1, Ordering::SeqCst);
        let value = work.fetched.values().map(|value| **value).max();
        Ok((format!("r{value:?}"), value.unwrap()))
    }

    async fn publish(&self, _: &Desired, _: &usize, _: u64) -> Result<Publishers, Failure> {
        Ok(Publishers::Any)
    }
}

impl Counting {
    fn counts(&self) -> (usize, usize) {
        let load = |count: &AtomicUsize| count.load(Ordering::SeqCst);
        (load(&self.fetches), load(&self.builds))
    }

    async fn wait_for(&self, counts: (usize, usize)) {
        let waiting = Waiting::until("fetches and builds");
        while self.counts() != counts {
            assert!(
                self.counts() <= counts,
                "{:?} after {counts:?}",
                self.counts()
            );
            pause(&waiting).await;
        }
    }
}

fn signature(body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    hex::encode(hmac::sign(&key, body.as_bytes()))
}

async fn deliver(plane: &Plane, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
    let headers: BTreeMap<String, String> = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let body = body.to_owned();
    let answer = plane
        .send_with("", "POST /webhooks/s", body, &headers)
        .await;
    (
        answer.status().as_u16(),
        parsed(&answer)["result"]["state"].clone(),
    )
}

async fn push(plane: &Plane, id: &str, reference: &str) -> Value {
    let body = json!({"ref": reference}).to_string();
    let signature = format!("sha256={}", signature(&body));
    let headers = [
        ("x-hub-signature-256", signature.as_str()),
        ("x-github-delivery", id),
        ("x-github-event", "push"),
    ];
    let (status, state) = deliver(plane, &headers, &body).await;
    assert_eq!(status, 200);
    state
}

async fn hooked(plane: &Plane, provider: &str) {
    let secret = json!({"type": "password", "password": SECRET}).to_string();
    plane.done("admin", "PUT /v1/secrets/hook", &secret).await;
    let source = json!({
        "git": {"repo": "https://git.example.com/r.git", "reference": "main"},
        "webhook": {"provider": provider, "secret": "hook"},
    });
    plane
        .done("admin", "PUT /v1/sources/s", &source.to_string())
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_is_fetched_once_for_all_bundles() {
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        hooked(&plane, "github").await;
        for bundle in ["a", "b", "c"] {
            let body = json!({"requirements": [{"source": "s"}], "rebuild_interval": "1h"});
            let ask = format!("PUT /v1/bundles/{bundle}");
            plane.done("admin", &ask, &body.to_string()).await;
        }
        let stages = Arc::new(Counting::default());
        let mut options = WorkerOptions::new("one");
        options.interval = std::time::Duration::from_hours(1);
        let worker = plane.plane.worker(stages.clone(), options);
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let running = tokio::spawn(async move {
            worker.run(async move { drop(stopped.await) }).await;
        });
        stages.wait_for((1, 3)).await;
        // a push to another branch, a test of the connection, and a delivery of something else
        assert_eq!(push(&plane, "0", "refs/heads/other").await, "ignored");
        stages.pushes.fetch_add(1, Ordering::SeqCst);
        assert_eq!(push(&plane, "1", "refs/heads/main").await, "triggered");
        assert_eq!(push(&plane, "1", "refs/heads/main").await, "repeated");
        stages.wait_for((2, 6)).await;
        // many pushes within the pause are one further fetch, and nothing is built without a change
        for id in 2..12 {
            let state = push(&plane, &id.to_string(), "refs/heads/main").await;
            assert_eq!(state, "waiting", "{on:?}");
        }
        stages.wait_for((3, 6)).await;
        let (status, _) = plane
            .send_json("admin", "GET /v1/bundles/a/builds", "")
            .await;
        assert_eq!(status, 200);
        let _ = stop.send(());
        running.await.unwrap();
        assert_eq!(stages.counts(), (3, 6), "{on:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn providers_sign_in_their_ways() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let body = r#"{"ref":"refs/heads/main"}"#;
    let signature = signature(body);
    let prefixed = format!("sha256={signature}");
    let all = [
        (
            "github",
            "x-hub-signature-256",
            prefixed.as_str(),
            "x-github-delivery",
        ),
        (
            "gitea",
            "x-gitea-signature",
            signature.as_str(),
            "x-gitea-delivery",
        ),
        ("gitlab", "x-gitlab-token", SECRET, "x-gitlab-event-uuid"),
    ];
    for (provider, header, value, delivery) in all {
        hooked(&plane, provider).await;
        for (_, other, value, _) in all.iter().filter(|(name, ..)| *name != provider) {
            assert_eq!(deliver(&plane, &[(other, value)], body).await.0, 401);
        }
        let headers = [(header, value), (delivery, provider)];
        let (status, state) = deliver(&plane, &headers, body).await;
        assert_eq!(status, 200, "{provider}");
        assert!(["triggered", "waiting"].contains(&state.as_str().unwrap()));
        assert_eq!(
            deliver(&plane, &headers, body).await.1,
            "repeated",
            "{provider}"
        );
        if provider != "gitlab" {
            let altered = body.replace("main", "mine");
            assert_eq!(
                deliver(&plane, &headers, &altered).await.0,
                401,
                "{provider}"
            );
        }
        // without an id, the body identifies a delivery
        let (_, first) = deliver(&plane, &[(header, value)], body).await;
        let (_, second) = deliver(&plane, &[(header, value)], body).await;
        assert_eq!(second, "repeated", "{provider}: {first}");
        let id = format!("ping of {provider}");
        let ping = [
            (header, value),
            (delivery, id.as_str()),
            ("x-github-event", "ping"),
        ];
        assert_eq!(deliver(&plane, &ping, body).await.1, "ignored");
    }
    // another secret, one of another type, and one whose value is empty: deliveries are rejected
    hooked(&plane, "gitlab").await;
    for (value, wanted) in [
        (json!({"type": "password", "password": "other"}), 401),
        (
            json!({"type": "basic_auth", "username": "u", "password": SECRET}),
            401,
        ),
        (json!({"type": "token_auth", "token": SECRET}), 200),
    ] {
        plane
            .done("admin", "PUT /v1/secrets/hook", &value.to_string())
            .await;
        let token = [("x-gitlab-token", SECRET), ("idempotency-key", "n")];
        assert_eq!(deliver(&plane, &token, body).await.0, wanted, "{value}");
    }
    // a deleted source remembers nothing, and the webhook of a new one is its own
    plane.done("admin", "DELETE /v1/sources/s", "").await;
    assert_eq!(
        deliver(&plane, &[("x-gitlab-token", SECRET)], body).await.0,
        401
    );
    hooked(&plane, "gitlab").await;
    let token = [("x-gitlab-token", SECRET), ("idempotency-key", "n")];
    assert_eq!(deliver(&plane, &token, body).await.0, 200);
    let large = "x".repeat((4 << 20) + 1);
    assert_eq!(deliver(&plane, &token, &large).await.0, 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_are_remembered_up_to_a_limit() {
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        plane.done("admin", "PUT /v1/sources/s", "{}").await;
        plane.done("admin", "PUT /v1/sources/t", "{}").await;
        let database = plane.plane.database();
        let mode = solon_control::db::Mode::Write;
        let mut transaction = database.begin(mode).await.unwrap();
        let kind = solon_control::model::Kind::Source;
        let source = transaction.head(kind, "s").await.unwrap().unwrap().id;
        let other = transaction.head(kind, "t").await.unwrap().unwrap().id;
        for number in 0..1002_u32 {
            let digest = number.to_be_bytes();
            assert!(
                transaction
                    .remember_delivery(source, &digest)
                    .await
                    .unwrap()
            );
        }
        assert!(
            transaction
                .remember_delivery(other, &1_u32.to_be_bytes())
                .await
                .unwrap()
        );
        for (number, is_new) in [(1001, false), (2, false), (1, true), (1, false), (2, true)] {
            let digest = u32::to_be_bytes(number);
            let found = transaction
                .remember_delivery(source, &digest)
                .await
                .unwrap();
            assert_eq!(found, is_new, "{on:?} {number}");
        }
        transaction.commit().await.unwrap();
    }
}
