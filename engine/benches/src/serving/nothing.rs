//! Server that returns the same response to every request, which measures the cost of the transport alone.

use std::convert::Infallible;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

async fn answer(
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<Full<Bytes>>, Infallible> {
    // the body is not used, so an incomplete one does not matter
    let _ = request.into_body().collect().await;
    let mut answer = hyper::Response::new(Full::new(Bytes::from_static(b"{\"result\":true}\n")));
    let json = hyper::header::HeaderValue::from_static("application/json");
    answer
        .headers_mut()
        .insert(hyper::header::CONTENT_TYPE, json);
    Ok(answer)
}

/// Serves on a free port, which it prints, until the process is killed.
///
/// # Errors
/// Fails if the server cannot listen.
pub fn serve_nothing(address: &str) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await;
        let listener = listener.map_err(|error| error.to_string())?;
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                continue;
            };
            let _ = stream.set_nodelay(true);
            tokio::spawn(async move {
                let service = service_fn(answer);
                http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await
            });
        }
    })
}
