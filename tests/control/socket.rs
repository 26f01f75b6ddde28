//! The API behind a socket, for tools that need one: `PLANE_PORT=8282 cargo test -p solon-control --test control --
//! --ignored --nocapture socket` listens until it is stopped, with the key `admin-key`.

use std::convert::Infallible;

use http_body_util::{BodyExt as _, Full};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use solon_control::ControlPlane;
use solon_control::config::ConfigFiles;

use crate::databases::Folder;
use crate::plane::options;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it listens until it is stopped"]
async fn listen() {
    let folder = Folder::new();
    let tokens = "tokens: {admin: {api_key: admin-key, scopes: [{role: administrator}]}}";
    let file = folder.0.join("tokens.yaml");
    std::fs::write(&file, tokens).unwrap();
    let mut options = options(&folder.0);
    options.config = ConfigFiles {
        paths: vec![file],
        refuse_conflicts: true,
    };
    let plane = ControlPlane::open(&options).await.unwrap();
    let port = std::env::var("PLANE_PORT").unwrap_or_else(|_| "8282".to_owned());
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}"))
        .await
        .unwrap();
    eprintln!("listening on {}", listener.local_addr().unwrap());
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let service = plane.service();
        let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let service = service.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = match body.collect().await {
                    Ok(body) => body.to_bytes(),
                    Err(_) => bytes::Bytes::new(),
                };
                let response = service.handle(http::Request::from_parts(head, body)).await;
                Ok::<_, Infallible>(response.map(Full::new))
            }
        });
        tokio::spawn(async move {
            let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            let _ = server.serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}
