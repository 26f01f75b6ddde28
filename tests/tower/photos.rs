//! The example, and its policy replaced while requests are served.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use solon::{Change, Engine, Path, value};
use tower::ServiceExt;

use crate::{parts, request};

#[path = "../../engine/tower/examples/photos.rs"]
#[allow(dead_code, reason = "the example's main is not called")]
mod example;

fn app() -> (Engine, Router) {
    let engine = example::engine().expect("the policy compiles");
    let routes = example::routes(engine.clone()).expect("the document exists");
    (engine, routes)
}

async fn send(app: &Router, method: &str, uri: &str, user: &str) -> (u16, String) {
    let request = request(method, uri, &[("x-user", user)]);
    parts(app.clone().oneshot(request).await.expect("it answers")).await
}

/// The package of the crate contains a copy.
#[test]
fn the_policy_is_the_tutorials() {
    let tutorial = include_str!("../../examples/python/photos/policy/photos.rego");
    assert_eq!(
        include_str!("../../engine/tower/examples/photos.rego"),
        tutorial
    );
}

#[tokio::test]
async fn the_example_decides() {
    let (_, app) = app();
    let diary = (200, r#"{"photo":"diary"}"#.to_owned());
    assert_eq!(send(&app, "GET", "/photos/diary", "alice").await, diary);
    assert_eq!(send(&app, "GET", "/photos/diary", "bob").await.0, 403);
    assert_eq!(send(&app, "GET", "/photos/sunset", "bob").await.0, 200);
    assert_eq!(send(&app, "DELETE", "/photos/sunset", "bob").await.0, 403);
    assert_eq!(send(&app, "GET", "/photos/missing", "alice").await.0, 403);
    assert_eq!(send(&app, "DELETE", "/photos/diary", "alice").await.0, 200);
    assert_eq!(send(&app, "GET", "/photos/diary", "alice").await.0, 403);
    assert_eq!(send(&app, "PATCH", "/photos/sunset", "alice").await.0, 405);
}

/// Policy and data change together, and belong together: `allow` names the revision that the data must have. A request that saw
/// half of a change would be denied.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_while_the_policy_is_replaced() {
    let (engine, app) = app();
    let publish = move |revision: u64| {
        let module = format!(
            "package photos\n\ndefault allow := false\n\nallow if data.library[input.photo].revision == {revision}"
        );
        let mut change = Change::default();
        change.set_module("photos.rego", &module).put(
            Path::from_slashes("library"),
            value!({"diary": {"revision": revision}}),
        );
        engine.apply(change).expect("it compiles");
    };
    publish(0);
    let published = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (app, published) = (app.clone(), Arc::clone(&published));
            tokio::spawn(async move {
                while !published.load(Ordering::Relaxed) {
                    assert_eq!(send(&app, "GET", "/photos/diary", "bob").await.0, 200);
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    let publishing = tokio::task::spawn_blocking(move || {
        for revision in 1..100 {
            publish(revision);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        published.store(true, Ordering::Relaxed);
    });
    publishing.await.expect("it compiles");
    for client in clients {
        client.await.expect("no request was denied");
    }
}
