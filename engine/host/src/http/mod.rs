//! The client of HTTP: asynchronous inside, on a runtime of its own, and blocking to whoever asks.
//!
//! Requests with nothing special about TLS share one pool of connections; others have a connection of their own.

mod body;
mod connect;
mod error;
mod exchange;
mod proxy;
mod stream;
mod tls;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwapOption;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use solon::host::{HttpError, HttpErrorKind, HttpRequest, HttpResponse, Tls, Wait};
use tokio::runtime::Runtime;

use connect::Connector;
use exchange::Received;

use crate::networks::NetworkAccess;

/// A pool of connections.
type Pool = Client<Connector, Full<Bytes>>;

/// What drives connections, and the connections that requests with nothing special share.
struct Shared {
    /// The process that they belong to: after a fork no thread drives them, and their sockets are those of the parent.
    process: u32,
    runtime: Runtime,
    pool: Pool,
    /// Connections to public addresses. A connection that may lead anywhere never serves a request that is restricted.
    public: Pool,
}

static SHARED: ArcSwapOption<Shared> = ArcSwapOption::const_empty();

impl Shared {
    /// That of this process.
    fn of_process() -> Result<Arc<Self>, String> {
        let process = std::process::id();
        let mut found = SHARED.load_full();
        loop {
            match found {
                Some(own) if own.process == process => return Ok(own),
                other => {
                    let own = Arc::new(Self::new(process)?);
                    let before = SHARED.compare_and_swap(&other, Some(own));
                    let is_first = match (&*before, &other) {
                        (Some(before), Some(other)) => Arc::ptr_eq(before, other),
                        (None, None) => true,
                        _ => false,
                    };
                    if is_first {
                        // stopping the parent's threads would wait for them for ever
                        std::mem::forget(other);
                    }
                    found = SHARED.load_full();
                }
            }
        }
    }

    fn new(process: u32) -> Result<Self, String> {
        let tls = tls::config(&Tls::default())?;
        // one thread is plenty for what blocking callers ask for
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("solon-http")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            process,
            runtime,
            pool: pool(
                Connector::new(tls.clone(), None, None, NetworkAccess::All),
                true,
            ),
            public: pool(Connector::new(tls, None, None, NetworkAccess::Public), true),
        })
    }
}

fn pool(connector: Connector, keeps: bool) -> Pool {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.http1_title_case_headers(true);
    builder.pool_timer(TokioTimer::new());
    if !keeps {
        builder.pool_max_idle_per_host(0);
    }
    builder.build(connector)
}

/// Whether a request has nothing special, so that its connection can serve others too.
fn is_shared(request: &HttpRequest) -> bool {
    request.tls.is_none() && request.socket.is_none()
}

fn pool_for(
    request: &HttpRequest,
    shared: &Shared,
    networks: NetworkAccess,
) -> Result<Pool, String> {
    if is_shared(request) {
        return Ok(match networks {
            NetworkAccess::All => shared.pool.clone(),
            NetworkAccess::Public => shared.public.clone(),
        });
    }
    let tls = request.tls.clone().unwrap_or_default();
    let config = tls::config(&tls)?;
    let (server_name, socket) = (tls.server_name.clone(), request.socket.clone());
    let connector = Connector::new(config, server_name, socket, networks);
    Ok(pool(connector, false))
}

/// Sends a request, over a connection to the networks that are allowed, and waits for the answer, no longer than `wait` allows.
pub fn send(
    request: &HttpRequest,
    networks: NetworkAccess,
    wait: &Wait<'_>,
) -> Result<HttpResponse, HttpError> {
    let setup = |problem: String| HttpError::new(HttpErrorKind::Setup, problem);
    let shared = Shared::of_process().map_err(setup)?;
    let pool = pool_for(request, &shared, networks).map_err(setup)?;
    if let Some(over) = wait.check_ended() {
        return Err(over.into());
    }
    let answering = Arc::new(AtomicBool::new(false));
    let work = exchange::exchange(pool, request.clone(), answering.clone());
    let mut task = None;
    let outcome = wait.reply(|reply| {
        task = Some(shared.runtime.spawn(async move { reply.send(work.await) }));
    });
    match outcome {
        Ok(received) => finished(received?, request.body_limit, wait),
        Err(over) => {
            if let Some(task) = task {
                task.abort();
            }
            let mut error = HttpError::from(over);
            if answering.load(Ordering::Relaxed) {
                error.kind = HttpErrorKind::OverInBody(over);
            }
            Err(error)
        }
    }
}

/// Unpacking is work, so it is done here and not where all connections are driven.
fn finished(received: Received, limit: usize, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
    let Received { mut answer, packed } = received;
    if packed {
        answer.body = body::unpack(&answer.body, limit, wait)?;
    }
    Ok(answer)
}
