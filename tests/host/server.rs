//! A server of HTTP whose answers are known.

use std::convert::Infallible;
use std::io::Write as _;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A running server; it stops with the process.
pub struct Server {
    pub address: SocketAddr,
    /// How many requests came.
    pub requests: Arc<AtomicU32>,
}

impl Server {
    /// One without encryption.
    pub fn start() -> Self {
        Self::with(None)
    }

    /// One with TLS.
    pub fn with_tls(config: rustls::ServerConfig) -> Self {
        Self::with(Some(TlsAcceptor::from(Arc::new(config))))
    }

    fn with(tls: Option<TlsAcceptor>) -> Self {
        let requests = Arc::new(AtomicU32::new(0));
        let counter = requests.clone();
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    tokio::spawn(serve(stream, tls.clone(), counter.clone()));
                }
            });
        });
        Self {
            address: told.recv().unwrap(),
            requests,
        }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn count(&self) -> u32 {
        self.requests.load(Ordering::SeqCst)
    }
}

async fn serve(stream: tokio::net::TcpStream, tls: Option<TlsAcceptor>, requests: Arc<AtomicU32>) {
    let service = service_fn(move |request| answer(request, requests.clone()));
    let Some(tls) = tls else {
        let _ = hyper::server::conn::http1::Builder::new()
            .auto_date_header(false)
            .serve_connection(TokioIo::new(stream), service)
            .await;
        return;
    };
    // what is refused here shows at the other end
    let Ok(stream) = tls.accept(stream).await else {
        return;
    };
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .auto_date_header(false)
            .serve_connection(TokioIo::new(stream), service)
            .await;
    } else {
        let _ = hyper::server::conn::http1::Builder::new()
            .auto_date_header(false)
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }
}

/// A response, and the action after it.
struct Sent {
    bytes: Option<Bytes>,
    end: End,
}

enum End {
    Done,
    /// Nothing comes any more.
    Hangs,
    /// The connection breaks.
    Breaks,
}

impl Body for Sent {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        match (self.bytes.take(), &self.end) {
            (Some(bytes), _) if !bytes.is_empty() => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            (_, End::Done) => Poll::Ready(None),
            (_, End::Hangs) => Poll::Pending,
            (_, End::Breaks) => Poll::Ready(Some(Err(std::io::Error::other("broken")))),
        }
    }
}

async fn answer(
    request: Request<Incoming>,
    requests: Arc<AtomicU32>,
) -> Result<Response<Sent>, Infallible> {
    let number = requests.fetch_add(1, Ordering::SeqCst);
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let (route, rest) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
    let mut headers: Vec<(String, Vec<u8>)> = Vec::new();
    let mut header = |name: &str, value: &str| headers.push((name.into(), value.into()));
    let (mut status, mut body, mut end) = (200, Vec::new(), End::Done);
    match route {
        "echo" => {
            header("content-type", "application/json");
            body = echo(request).await;
        }
        "number" => body = number.to_string().into_bytes(),
        "status" => status = rest.parse().unwrap(),
        "type" => {
            header("content-type", rest);
            body = br#"{"a": 1, "b": [true, null]}"#.to_vec();
        }
        "broken" => {
            header("content-type", rest);
            body = b"\xff\xfe{\"a\": [".to_vec();
        }
        "twice" => {
            header("x-a", "1");
            header("X-A", "2");
        }
        "hops" => {
            let left: u32 = rest.parse().unwrap();
            status = 302;
            let next = match left {
                1 => "/echo".to_owned(),
                more => format!("/hops/{}", more - 1),
            };
            header("location", &next);
        }
        "redirect" => {
            status = rest.parse().unwrap();
            if !query.is_empty() {
                header("location", &query);
            }
        }
        "gzip" => {
            header("content-type", "application/json");
            header("content-encoding", "gzip");
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(b"{\"packed\": true}").unwrap();
            body = encoder.finish().unwrap();
        }
        "bomb" => {
            header("content-encoding", "gzip");
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            for _ in 0..4 {
                encoder.write_all(&vec![0; 1 << 20]).unwrap();
            }
            body = encoder.finish().unwrap();
        }
        "large" => body = vec![b'x'; rest.parse().unwrap()],
        "slow" => tokio::time::sleep(Duration::from_hours(1)).await,
        "stall" => {
            body = b"a".to_vec();
            end = End::Hangs;
        }
        "short" => {
            header("content-length", "100");
            body = b"abc".to_vec();
            end = End::Breaks;
        }
        "fresh" => {
            // `/fresh?Cache-Control=max-age%3D5`, the headers of an answer
            for pair in query.split('&') {
                let (name, value) = pair.split_once('=').unwrap();
                header(name, &value.replace('+', " "));
            }
            let known = request.headers();
            if known.contains_key("if-none-match") || known.contains_key("if-modified-since") {
                status = 304;
            }
            body = number.to_string().into_bytes();
        }
        other => panic!("no such route: {other}"),
    }
    let sent = Sent {
        bytes: Some(body.into()),
        end,
    };
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    Ok(response.body(sent).unwrap())
}

/// Returns the received request as JSON.
async fn echo(request: Request<Incoming>) -> Vec<u8> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    // engines call themselves by different names
    let mut headers: Vec<_> = parts
        .headers
        .iter()
        .filter(|(name, _)| *name != "user-agent")
        .map(|(name, value)| json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())]))
        .collect();
    headers.sort_by_key(ToString::to_string);
    let target = parts.uri.path_and_query().map(ToString::to_string);
    serde_json::to_vec(&json!({
        "method": parts.method.as_str(),
        "target": target,
        "headers": headers,
        "body": String::from_utf8_lossy(&body),
    }))
    .unwrap()
}
