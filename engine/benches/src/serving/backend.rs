//! HTTP server on a thread of this process that responds to each request after a fixed delay.

use std::convert::Infallible;
use std::time::Duration;

use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

/// Starts the server and returns its URL. The server runs until the process ends.
///
/// # Errors
/// Fails if the server cannot listen.
pub fn start(delay: Duration) -> Result<String, String> {
    let text = |error: std::io::Error| error.to_string();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(text)?;
    // with a short backlog, simultaneous connections are delayed by a second
    let listener = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind(([127, 0, 0, 1], 0).into())?;
        socket.listen(4096)
    });
    let listener = listener.map_err(text)?;
    let address = listener.local_addr().map_err(text)?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    continue;
                };
                tokio::spawn(async move {
                    let service = service_fn(move |request| answer(request, delay));
                    // a client that closes its connection early is not an error
                    let _ = http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
    });
    Ok(format!("http://{address}/"))
}

async fn answer(
    _: hyper::Request<Incoming>,
    delay: Duration,
) -> Result<hyper::Response<Empty<Bytes>>, Infallible> {
    tokio::time::sleep(delay).await;
    let mut answer = hyper::Response::new(Empty::new());
    *answer.status_mut() = hyper::StatusCode::NO_CONTENT;
    Ok(answer)
}
