//! Requests are let through only if a document is exactly `true`.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::get;
use http::Request;
use solon::Limits;
use solon_tower::{Allowed, Policy, PolicyLayer};
use tower::{Layer, ServiceExt, service_fn};

use crate::{engine, parts, policy, request};

/// Body of a rule `allow`, the status and the body of a response.
const DECISIONS: [(&str, u16, &str); 9] = [
    ("allow if true", 200, "reached"),
    ("allow if input.method == \"GET\"", 200, "reached"),
    (
        "allow if input.method == \"POST\"",
        403,
        r#"{"detail":"forbidden"}"#,
    ),
    ("default allow := false", 403, r#"{"detail":"forbidden"}"#),
    ("allow := \"true\"", 403, r#"{"detail":"forbidden"}"#),
    ("allow := 1", 403, r#"{"detail":"forbidden"}"#),
    (
        "allow := {\"allowed\": true}",
        403,
        r#"{"detail":"forbidden"}"#,
    ),
    ("other := true", 403, r#"{"detail":"forbidden"}"#),
    (
        "allow := true\n\nallow := false if input",
        500,
        r#"{"detail":"the policy has not decided"}"#,
    ),
];

#[tokio::test]
async fn only_true_reaches_the_service() {
    for (rule, status, body) in DECISIONS {
        let engine = engine(&format!("package http\n\n{rule}"));
        let reached = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&reached);
        let inner = service_fn(move |_: Request<Body>| {
            counter.fetch_add(1, Ordering::Relaxed);
            async { Ok::<_, Infallible>(Response::new(Body::from("reached"))) }
        });
        let service = PolicyLayer::new(policy(&engine, "data.http.allow")).layer(inner);
        let response = service
            .oneshot(request("GET", "/", &[]))
            .await
            .expect("it answers");
        assert_eq!(parts(response).await, (status, body.to_owned()), "{rule}");
        // the service is not called before the decision
        assert_eq!(
            reached.load(Ordering::Relaxed),
            usize::from(status == 200),
            "{rule}"
        );
    }
}

#[tokio::test]
async fn only_true_reaches_the_handler() {
    async fn show(_: Allowed) -> &'static str {
        "reached"
    }
    for (rule, status, body) in DECISIONS {
        let engine = engine(&format!("package http\n\n{rule}"));
        let app = Router::<Policy>::new()
            .route("/", get(show))
            .with_state(policy(&engine, "data.http.allow"));
        let response = app
            .oneshot(request("GET", "/", &[]))
            .await
            .expect("it answers");
        assert_eq!(parts(response).await, (status, body.to_owned()), "{rule}");
    }
}

#[tokio::test]
async fn limits_of_the_engine_apply() {
    let limits = Limits::default().steps(Some(1000));
    let engine = solon::Engine::builder().limits(limits).build();
    let module = "package http\n\nallow if count([x | some x in numbers.range(1, 100000)]) > 0";
    engine.set_module("test.rego", module).expect("it compiles");
    let inner =
        service_fn(|_: Request<Body>| async { Ok::<_, Infallible>(Response::new(Body::empty())) });
    let service = PolicyLayer::new(policy(&engine, "data.http.allow")).layer(inner);
    let response = service
        .oneshot(request("GET", "/", &[]))
        .await
        .expect("it answers");
    assert_eq!(parts(response).await.0, 500);
}

#[tokio::test]
async fn path_parameters_that_are_not_text_are_rejected() {
    let engine = engine("package http\n\nallow if not input.params.name");
    let layer = PolicyLayer::new(policy(&engine, "data.http.allow"));
    let app = Router::<()>::new().route("/{name}", get(|| async { "reached" }).layer(layer));
    let response = app
        .oneshot(request("GET", "/%ff", &[]))
        .await
        .expect("it answers");
    assert_eq!(parts(response).await.0, 400);
}

#[tokio::test]
async fn policies_that_may_wait_do_not_hold_the_thread() {
    let engine = engine(
        "package http\n\nallow if http.send({\"method\": \"GET\", \"url\": \"http://localhost:1\", \"raise_error\": false}).status_code == 0",
    );
    let document = engine
        .prepare_document("data.http.allow")
        .expect("it compiles");
    assert!(document.may_block());
    let inner =
        service_fn(|_: Request<Body>| async { Ok::<_, Infallible>(Response::new(Body::empty())) });
    let service = PolicyLayer::new(Policy::new(document)).layer(inner);
    // the default host has no network
    let response = service
        .oneshot(request("GET", "/", &[]))
        .await
        .expect("it answers");
    assert_ne!(parts(response).await.0, 200);
}
