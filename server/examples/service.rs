//! A web service that makes decisions by a policy, which it reloads without a restart.
//!
//! `cargo run -p solon-server --example service -- examples/authz.rego`, then `curl -d '{"user": "alice"}'
//! localhost:8080/authz/allow`. Change the file and send the request again.

#![allow(clippy::print_stdout, reason = "an example")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use solon::Engine;
use solon_host::SystemHost;
use tokio::net::TcpListener;

type Fail = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Fail> {
    let file = PathBuf::from(std::env::args().nth(1).ok_or("which policy?")?);
    let engine = Engine::builder().host(Arc::new(SystemHost)).build();
    engine.set_module("policy.rego", &std::fs::read_to_string(&file)?)?;
    tokio::spawn(reload(engine.clone(), file));

    let listener = TcpListener::bind("localhost:8080").await?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        let engine = engine.clone();
        tokio::spawn(async move {
            let decide = service_fn(move |request| answer(engine.clone(), request));
            let connection = Builder::new(TokioExecutor::new());
            connection
                .serve_connection(TokioIo::new(stream), decide)
                .await
        });
    }
}

/// Reloads the policy when the file changes. A policy that does not compile is ignored, and decisions never wait for a reload.
async fn reload(engine: Engine, file: PathBuf) {
    let mut known = String::new();
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (changing, path) = (engine.clone(), file.clone());
        let last = known.clone();
        // reading and compiling would block the async threads
        let applied = tokio::task::spawn_blocking(move || {
            let text = std::fs::read_to_string(path).ok()?;
            (text != last).then(|| (changing.set_module("policy.rego", &text), text))
        });
        if let Ok(Some((applied, text))) = applied.await {
            match applied {
                Ok(()) => println!("generation {}", engine.generation()),
                Err(error) => println!("{error}"),
            }
            known = text;
        }
    }
}

/// Returns the document at the request path, with the request body as input.
async fn answer(engine: Engine, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Fail> {
    let path = request.uri().path().to_owned();
    let body = Limited::new(request.into_body(), 1 << 20).collect().await?;
    let body = body.to_bytes();
    // a service with few paths can prepare them once; prepared documents follow the engine
    let document = engine.document(&solon::Path::from_slashes(&path));
    let decided = tokio::task::spawn_blocking(move || {
        let asked = solon::Request::new();
        document.evaluate_json(&if body.is_empty() {
            asked
        } else {
            asked.input_json(&body)
        })
    });
    let (status, text) = match decided.await? {
        Ok(Some(json)) => (StatusCode::OK, json),
        Ok(None) => (StatusCode::NOT_FOUND, b"undefined".to_vec()),
        Err(error) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            error.to_string().into_bytes(),
        ),
    };
    Ok(Response::builder()
        .status(status)
        .body(Full::new(Bytes::from(text)))?)
}
