//! The layer and the extractors of `solon-tower`, and its example under load.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failing test"
)]

mod input;
mod layer;
mod photos;

use axum::body::Body;
use axum::response::Response;
use http::Request;
use http_body_util::BodyExt;
use solon::Engine;
use solon_tower::Policy;

/// Returns an engine with a module.
fn engine(module: &str) -> Engine {
    let engine = Engine::new();
    engine.set_module("test.rego", module).expect("it compiles");
    engine
}

/// Returns the policy of a document.
fn policy(engine: &Engine, document: &str) -> Policy {
    Policy::new(engine.prepare_document(document).expect("it compiles"))
}

/// Returns a request without a body.
fn request(method: &str, uri: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).expect("it is a request")
}

/// Returns status and body.
async fn parts(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("it has a body");
    let body = String::from_utf8(body.to_bytes().to_vec()).expect("it is text");
    (status, body)
}
