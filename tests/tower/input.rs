//! The default input.

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::get;
use serde_json::{Value, json};
use solon_tower::{Decision, Policy};
use tower::ServiceExt;

use crate::{engine, parts, policy, request};

/// Returns the input of a request to `/photos/{photo}` or to another path.
async fn input(request: http::Request<axum::body::Body>) -> Value {
    async fn show(Decision(value): Decision<Value>) -> String {
        value.to_string()
    }
    let engine = engine("package echo\n\nanswer := input");
    let app = Router::<Policy>::new()
        .route("/photos/{photo}", get(show))
        .fallback(show)
        .with_state(policy(&engine, "data.echo.answer"));
    let response = app.oneshot(request).await.expect("it answers");
    let (status, body) = parts(response).await;
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).expect("it is JSON")
}

#[tokio::test]
async fn the_head_is_the_input() {
    let headers = [
        ("X-User", "alice"),
        ("accept", "a"),
        ("accept", "b"),
        ("x-name", "töpfer"),
    ];
    let mut request = request("GET", "/photos/a%2Fb%20c?x=1&y=%26&x=2&empty", &headers);
    let address = std::net::SocketAddr::from(([192, 0, 2, 7], 4711));
    request.extensions_mut().insert(ConnectInfo(address));
    let expected = json!({
        "method": "GET",
        "path": ["photos", "a/b c"],
        "query": {"x": ["1", "2"], "y": ["&"], "empty": [""]},
        // bytes are characters of Latin-1
        "headers": {"x-user": "alice", "accept": "a, b", "x-name": "tÃ¶pfer"},
        "params": {"photo": "a/b c"},
        "client": "192.0.2.7",
    });
    assert_eq!(input(request).await, expected);
}

#[tokio::test]
async fn paths_keep_their_segments() {
    for (uri, expected) in [
        ("/", json!([""])),
        ("/a", json!(["a"])),
        ("/a/", json!(["a", ""])),
        ("/a//b", json!(["a", "", "b"])),
        ("/a/../b", json!(["a", "..", "b"])),
        ("/a/%2e%2e/b", json!(["a", "..", "b"])),
        ("/%ff", json!(["\u{fffd}"])),
    ] {
        let found = input(request("GET", uri, &[])).await;
        assert_eq!(found["path"], expected, "{uri}");
        assert_eq!(found["params"], json!({}), "{uri}");
        assert_eq!(found["client"], Value::Null, "{uri}");
    }
}
