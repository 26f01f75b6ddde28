//! The photo service of the tutorial, with axum. Run it with `cargo run -p solon-tower --features axum --example photos`, then
//! `curl -H 'x-user: alice' localhost:8080/photos/diary`.

use axum::extract::{Path, State};
use axum::routing::get;
use axum::{Json, Router};
use solon::{Engine, value};
use solon_tower::{Policy, PolicyLayer};

const POLICY: &str = include_str!("photos.rego");

/// Returns the routes. The policy decides on each request to a photo before its handler is called.
pub fn routes(engine: Engine) -> Result<Router, solon::Error> {
    let document = engine.prepare_document("data.photos.allow")?.must_exist()?;
    let policy = Policy::new(document).with_input(|head| {
        value!({
            // set by the proxy that authenticates users
            "user": head.header("x-user").unwrap_or_default(),
            "method": head.parts().method.as_str(),
            "photo": head.param("photo").unwrap_or_default(),
        })
    });
    let photos = get(show).delete(delete).layer(PolicyLayer::new(policy));
    Ok(Router::new()
        .route("/photos/{photo}", photos)
        .with_state(engine))
}

async fn show(Path(photo): Path<String>) -> Json<serde_json::Value> {
    Json(serde_json::json!({ "photo": photo }))
}

async fn delete(
    State(engine): State<Engine>,
    Path(photo): Path<String>,
) -> Result<Json<serde_json::Value>, axum::http::StatusCode> {
    let document = solon::Path::new(["library", &photo]).named_reference();
    let removed = engine.remove(&document);
    removed.map_err(|_| axum::http::StatusCode::NOT_FOUND)?;
    Ok(Json(serde_json::json!({ "deleted": photo })))
}

/// Returns an engine with the policy and two photos.
pub fn engine() -> Result<Engine, solon::Error> {
    let engine = Engine::new();
    engine.set_module("photos.rego", POLICY)?;
    let library = value!({
        "diary": {"owner": "alice", "public": false},
        "sunset": {"owner": "alice", "public": true},
    });
    engine.put("data.library", library)?;
    Ok(engine)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("localhost:8080").await?;
    axum::serve(listener, routes(engine()?)?).await?;
    Ok(())
}
