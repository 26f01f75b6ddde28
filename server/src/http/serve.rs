//! Listeners and connections.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use solon::Cancel;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;

use super::{Params, Request, Response, Status};

/// Headers must arrive within this time.
const HEADERS_WITHIN: Duration = Duration::from_secs(32);
/// More of a body must arrive within this time.
const MORE_WITHIN: Duration = Duration::from_secs(32);
/// Largest block of headers.
const HEADER_BYTES: usize = 1 << 20;
/// How long accepting rests when the process has no file handles left.
const REST: Duration = Duration::from_millis(50);

/// Where a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On a thread that serves connections: answers must come at once.
    Reactor,
    /// On a thread that may take its time.
    Pool,
}

/// What answers requests.
pub trait App: Send + Sync + 'static {
    /// Answers a request. `None`, possible only on the reactor, means that it takes longer than a reactor may
    /// wait; the same request is then asked again in the pool.
    fn answer(&self, request: &mut Request) -> Option<Response>;

    /// Answers a request whose body is larger than [`Self::body_limit`]; `length` is what it declared.
    fn too_large(&self, length: Option<u64>) -> Response;

    /// Answers a request at which the app panicked.
    fn panicked(&self) -> Response;

    /// Largest body, in bytes.
    fn body_limit(&self) -> usize;

    /// Takes note of an answered request.
    fn answered(&self, request: &Request, response: &Response);
}

/// An open socket.
pub enum Listener {
    /// TCP.
    Tcp(TcpListener),
    /// A socket in the file system.
    Unix(UnixListener),
}

impl Listener {
    /// Opens an address: `host:port`, `http://host:port` or `unix://path`. A stale socket file is replaced.
    pub async fn open(address: &str, socket_mode: u32) -> io::Result<Self> {
        if let Some(path) = address.strip_prefix("unix://") {
            let _ = std::fs::remove_file(path);
            let listener = UnixListener::bind(path)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(socket_mode))?;
            return Ok(Self::Unix(listener));
        }
        let address = address.strip_prefix("http://").unwrap_or(address);
        // `:8181` is every interface
        let every = address.strip_prefix(':').map(|port| format!("[::]:{port}"));
        match every {
            None => TcpListener::bind(address).await,
            Some(every) => match TcpListener::bind(&every).await {
                Ok(listener) => Ok(listener),
                Err(_) => TcpListener::bind(format!("0.0.0.0{address}")).await,
            },
        }
        .map(Self::Tcp)
    }

    /// The address that was opened, with the port that was chosen.
    pub fn address(&self) -> String {
        match self {
            Self::Tcp(listener) => listener
                .local_addr()
                .map(|address| address.to_string())
                .unwrap_or_default(),
            Self::Unix(listener) => {
                let path = listener
                    .local_addr()
                    .ok()
                    .and_then(|address| Some(address.as_pathname()?.to_owned()));
                path.map(|path| format!("unix://{}", path.display()))
                    .unwrap_or_default()
            }
        }
    }
}

/// How connections are served.
#[derive(Clone, Copy, Debug)]
pub struct Serving {
    /// Whether HTTP/2 is spoken without encryption.
    pub h2c: bool,
    /// How long open requests may take to finish after `stop`.
    pub grace: Duration,
}

/// Serves until `stop` is there, then finishes what is open.
pub async fn serve<A: App>(
    listeners: Vec<Listener>,
    app: Arc<A>,
    options: Serving,
    stop: impl Future<Output = ()>,
) {
    let open = Arc::new(GracefulShutdown::new());
    let (stopping, stopped) = watch::channel(false);
    let ids = Arc::new(AtomicU64::new(0));
    let accepting: Vec<_> = listeners
        .into_iter()
        .map(|listener| {
            let connections = Connections {
                app: app.clone(),
                ids: ids.clone(),
                open: open.clone(),
                h2c: options.h2c,
            };
            tokio::spawn(accept(listener, connections, stopped.clone()))
        })
        .collect();
    stop.await;
    let _ = stopping.send(true);
    for task in accepting {
        let _ = task.await;
    }
    // the listeners are gone, so nobody else holds the list of open connections
    if let Some(open) = Arc::into_inner(open) {
        let _ = tokio::time::timeout(options.grace, open.shutdown()).await;
    }
}

/// What the connections of one listener share.
struct Connections<A> {
    app: Arc<A>,
    ids: Arc<AtomicU64>,
    open: Arc<GracefulShutdown>,
    h2c: bool,
}

async fn accept<A: App>(
    listener: Listener,
    connections: Connections<A>,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            _ = stopped.changed() => return,
            accepted = async {
                match &listener {
                    Listener::Tcp(tcp) => tcp.accept().await.map(|(stream, peer)| connections.tcp(stream, peer.to_string())),
                    Listener::Unix(unix) => unix.accept().await.map(|(stream, _)| connections.serve(stream, String::new())),
                }
            } => accepted,
        };
        if accepted.is_err() {
            tokio::time::sleep(REST).await;
        }
    }
}

impl<A: App> Connections<A> {
    fn tcp(&self, stream: tokio::net::TcpStream, client: String) {
        // a small answer should not wait for the next packet; where that is refused, it waits
        let _ = stream.set_nodelay(true);
        self.serve(stream, client);
    }

    fn serve(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, client: String) {
        let app = self.app.clone();
        let ids = self.ids.clone();
        let client: Arc<str> = client.into();
        let service = service_fn(move |request| {
            let id = ids.fetch_add(1, Ordering::Relaxed) + 1;
            respond(app.clone(), request, id, client.clone())
        });
        let io = TokioIo::new(stream);
        let watcher = self.open.watcher();
        if self.h2c {
            tokio::spawn(async move {
                let mut builder = auto::Builder::new(TokioExecutor::new());
                builder
                    .http1()
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEADERS_WITHIN)
                    .max_buf_size(HEADER_BYTES);
                // a connection that breaks has nobody left to tell
                let _ = watcher.watch(builder.serve_connection(io, service)).await;
            });
        } else {
            tokio::spawn(async move {
                let mut builder = http1::Builder::new();
                builder
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEADERS_WITHIN)
                    .max_buf_size(HEADER_BYTES);
                let _ = watcher.watch(builder.serve_connection(io, service)).await;
            });
        }
    }
}

type Answer = hyper::Response<Full<Bytes>>;

async fn respond<A: App>(
    app: Arc<A>,
    incoming: hyper::Request<Incoming>,
    id: u64,
    client: Arc<str>,
) -> Result<Answer, Infallible> {
    let received = Instant::now();
    let (parts, body) = incoming.into_parts();
    let body = read_body(body, app.body_limit()).await;
    let mut request = Request {
        id,
        method: parts.method,
        routed: 0,
        params: parts.uri.query().map(Params::parse).unwrap_or_default(),
        target: parts.uri,
        headers: parts.headers,
        body: Bytes::new(),
        place: Place::Reactor,
        cancel: Cancel::default(),
        client,
        received,
    };
    let _present = Present(request.cancel.clone());
    let response = match body {
        Ok(body) => {
            request.body = body;
            if let Some(response) = ask(&*app, &mut request) {
                response
            } else {
                request.place = Place::Pool;
                let pool = app.clone();
                let answered = tokio::task::spawn_blocking(move || {
                    let response = ask(&*pool, &mut request);
                    (request, response)
                });
                let Ok((back, Some(response))) = answered.await else {
                    return Ok(send(Response::empty(Status::INTERNAL_SERVER_ERROR)));
                };
                request = back;
                response
            }
        }
        Err(BodyError::TooLarge(length)) => app.too_large(length),
        Err(BodyError::Slow) => Response::empty(Status::REQUEST_TIMEOUT),
        Err(BodyError::Broken) => Response::empty(Status::BAD_REQUEST),
    };
    app.answered(&request, &response);
    Ok(send(response))
}

/// What the app answers. Where it panics, that is answered too: nobody waits for nothing, and the connection goes on.
///
/// What the app shares may be seen after a panic: a change becomes visible as a whole, at its end.
fn ask<A: App>(app: &A, request: &mut Request) -> Option<Response> {
    let answer = catch_unwind(AssertUnwindSafe(|| app.answer(request)));
    answer.unwrap_or_else(|_| Some(app.panicked()))
}

/// Lives as long as somebody waits for the answer.
struct Present(Cancel);

impl Drop for Present {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Why a body was not read.
enum BodyError {
    TooLarge(Option<u64>),
    Slow,
    Broken,
}

async fn read_body(mut body: Incoming, limit: usize) -> Result<Bytes, BodyError> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    if let Some(length) = body.size_hint().exact()
        && length > limit as u64
    {
        return Err(BodyError::TooLarge(Some(length)));
    }
    let mut whole = Vec::new();
    loop {
        let frame = tokio::time::timeout(MORE_WITHIN, body.frame());
        let data = match frame.await {
            Err(_) => return Err(BodyError::Slow),
            Ok(None) => return Ok(whole.into()),
            Ok(Some(Err(_))) => return Err(BodyError::Broken),
            Ok(Some(Ok(frame))) => frame.into_data(),
        };
        // trailers are of no use
        let Ok(data) = data else { continue };
        if whole.len() + data.len() > limit {
            return Err(BodyError::TooLarge(None));
        }
        if whole.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        // copied, since small parts that are kept take far more than their bytes
        whole.extend_from_slice(&data);
    }
}

fn send(response: Response) -> Answer {
    let mut answer = hyper::Response::new(Full::new(Bytes::from(response.body)));
    *answer.status_mut() = response.status;
    answer.headers_mut().extend(response.headers);
    answer
}
