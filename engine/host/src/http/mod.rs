//! Requests of `http.send`: the client of `solon-outbound` on its own runtime, with a blocking interface.
//!
//! Requests without TLS options and Unix sockets share one connection pool; others have their own connection.

mod body;
mod exchange;
mod tls;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use solon::host::{HttpError, HttpErrorKind, HttpRequest, HttpResponse, Tls, Wait};
use solon_outbound::proxy::Proxies;
use solon_outbound::tls::ClientConfig;
use solon_outbound::{NetworkRules, Target, Transport};
use tokio::runtime::Runtime;

use exchange::Received;

/// Runtime that drives connections, and the connections that such requests share.
struct Shared {
    /// Process that they belong to. After a fork no thread drives them, and the child shares the sockets of the parent.
    process: u32,
    runtime: Runtime,
    tls: Arc<ClientConfig>,
    /// One pool for each set of rules in use, so that a connection without restrictions never serves a restricted request. There
    /// are few, because the rules of a host do not change.
    pools: Mutex<Vec<(Arc<NetworkRules>, Transport)>>,
}

static SHARED: ArcSwapOption<Shared> = ArcSwapOption::const_empty();

impl Shared {
    /// Returns the instance of this process. After a fork, the child gets its own.
    ///
    /// # Errors
    /// The TLS configuration or the thread cannot be created.
    fn of_process() -> Result<Arc<Self>, String> {
        let process = std::process::id();
        let mut current = SHARED.load_full();
        loop {
            match current {
                Some(shared) if shared.process == process => return Ok(shared),
                other => {
                    let new = Arc::new(Self::new(process)?);
                    let before = SHARED.compare_and_swap(&other, Some(new));
                    let is_first = match (&*before, &other) {
                        (Some(before), Some(other)) => Arc::ptr_eq(before, other),
                        (None, None) => true,
                        _ => false,
                    };
                    if is_first {
                        // after a fork, dropping the client of the parent waits forever for threads that do not exist here.
                        std::mem::forget(other);
                    }
                    current = SHARED.load_full();
                }
            }
        }
    }

    fn new(process: u32) -> Result<Self, String> {
        let tls = tls::config(&Tls::default())?;
        // one thread is enough, because callers block
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("solon-http")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            process,
            runtime,
            tls,
            pools: Mutex::new(Vec::new()),
        })
    }

    /// Returns the connection pool for a set of rules, which is created on first use. Takes a lock.
    fn pool(&self, networks: &Arc<NetworkRules>) -> Transport {
        let mut pools = self.pools.lock();
        if let Some((_, pool)) = pools.iter().find(|(rules, _)| rules == networks) {
            return pool.clone();
        }
        let pool = transport(self.tls.clone(), None, None, networks, true);
        pools.push((networks.clone(), pool.clone()));
        pool
    }
}

fn transport(
    tls: Arc<ClientConfig>,
    server_name: Option<String>,
    socket: Option<String>,
    networks: &Arc<NetworkRules>,
    keeps_alive: bool,
) -> Transport {
    let target = Target {
        tls,
        server_name,
        socket,
        networks: networks.clone(),
        proxies: Proxies::system(),
        // the caller waits at most as long as the evaluation may take
        connect_timeout: None,
    };
    Transport::new(target, keeps_alive)
}

/// Returns `true` if a request has no TLS options and no Unix socket, so that its connection can be shared.
fn is_shared(request: &HttpRequest) -> bool {
    request.tls.is_none() && request.socket.is_none()
}

fn transport_for(
    request: &HttpRequest,
    shared: &Shared,
    networks: &Arc<NetworkRules>,
) -> Result<Transport, String> {
    if is_shared(request) {
        return Ok(shared.pool(networks));
    }
    let tls = request.tls.clone().unwrap_or_default();
    let config = tls::config(&tls)?;
    let (server_name, socket) = (tls.server_name.clone(), request.socket.clone());
    Ok(transport(config, server_name, socket, networks, false))
}

/// Sends a request over a connection to an allowed network, and waits for the response as long as `wait` allows.
pub fn send(
    request: &HttpRequest,
    networks: &Arc<NetworkRules>,
    wait: &Wait<'_>,
) -> Result<HttpResponse, HttpError> {
    let setup = |problem: String| HttpError::new(HttpErrorKind::Setup, problem);
    let shared = Shared::of_process().map_err(setup)?;
    let transport = transport_for(request, &shared, networks).map_err(setup)?;
    if let Some(wait_error) = wait.check_ended() {
        return Err(wait_error.into());
    }
    let answering = Arc::new(AtomicBool::new(false));
    let work = exchange::exchange(transport, request.clone(), answering.clone());
    let mut task = None;
    let outcome = wait.reply(|reply| {
        task = Some(shared.runtime.spawn(async move { reply.send(work.await) }));
    });
    match outcome {
        Ok(received) => finish(received?, request.body_limit, wait),
        Err(wait_error) => {
            if let Some(task) = task {
                task.abort();
            }
            let mut error = HttpError::from(wait_error);
            if answering.load(Ordering::Relaxed) {
                error.kind = HttpErrorKind::OverInBody(wait_error);
            }
            Err(error)
        }
    }
}

/// Decompresses the body. Called on the thread of the caller, because it would delay all connections on the runtime's thread.
fn finish(received: Received, limit: usize, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
    let Received {
        answer: mut response,
        packed,
    } = received;
    if packed {
        response.body = body::unpack(&response.body, limit, wait)?;
    }
    Ok(response)
}
