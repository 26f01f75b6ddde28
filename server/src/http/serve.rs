//! Listeners and their connections.

use std::future::Future;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::connection::{App, Connection, ConnectionService};
use super::request::Peer;
use super::stream::{ConnectionState, TimeoutStream};
use crate::net::{AllowedHosts, Listener, NewConnection, TlsState};

/// Time limit of the response to a connection beyond the maximum number.
const REJECTION: Duration = Duration::from_millis(50);
/// Connections to diagnostic listeners, which are limited separately.
const DIAGNOSTIC: usize = 64;
const PING: Duration = Duration::from_mins(1);
/// Number of headers that hyper accepts by default.
const HEADERS: usize = 100;
/// Minimum size of the head buffer that hyper accepts.
const SMALLEST_HEAD: usize = 8 << 10;

pub struct Serving<A> {
    pub service: Arc<ConnectionService<A>>,
    /// `true` if HTTP/2 without TLS is supported.
    pub h2c: bool,
    /// Time limit of open requests after `stop`.
    pub grace: Duration,
    pub tls: Option<Arc<TlsState>>,
}

/// Accepts connections until `stop` completes, then waits for open requests.
pub async fn serve<A: App>(
    listeners: Vec<Listener>,
    serving: Serving<A>,
    stop: impl Future<Output = ()>,
) {
    let graceful = Arc::new(GracefulShutdown::new());
    let room = Arc::new(Semaphore::new(serving.service.bounds.connections));
    let mut accepting = JoinSet::new();
    for listener in listeners {
        let connections = Connections {
            service: serving.service.clone(),
            graceful: graceful.clone(),
            h2c: serving.h2c,
            tls: serving.tls.clone().filter(|_| listener.is_secure),
            is_diagnostic: listener.is_diagnostic,
            hosts: listener.hosts.clone(),
            room: if listener.is_diagnostic {
                Arc::new(Semaphore::new(DIAGNOSTIC))
            } else {
                room.clone()
            },
        };
        accepting.spawn(accept(listener, connections));
    }
    stop.await;
    // closes the listeners
    accepting.shutdown().await;
    // the tasks had the other references
    if let Some(graceful) = Arc::into_inner(graceful) {
        let _ = tokio::time::timeout(serving.grace, graceful.shutdown()).await;
    }
}

/// State that the connections of one listener share.
struct Connections<A> {
    service: Arc<ConnectionService<A>>,
    graceful: Arc<GracefulShutdown>,
    h2c: bool,
    tls: Option<Arc<TlsState>>,
    is_diagnostic: bool,
    hosts: Option<Arc<AllowedHosts>>,
    room: Arc<Semaphore>,
}

async fn accept<A: App>(listener: Listener, connections: Connections<A>) {
    loop {
        match listener.accept().await {
            NewConnection::Tcp(stream, peer) => {
                let local = stream.local_addr().ok();
                let local = local.map(|local| local.ip().to_canonical());
                connections.begin(stream, peer.to_string(), local);
            }
            #[cfg(unix)]
            NewConnection::Unix(stream) => connections.begin(stream, String::new(), None),
        }
    }
}

impl<A: App> Connections<A> {
    fn begin<S>(&self, mut stream: S, address: String, local: Option<IpAddr>)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let Ok(room) = self.room.clone().try_acquire_owned() else {
            let is_plain = self.tls.is_none();
            tokio::spawn(async move {
                // a client that uses TLS could not read the response
                if is_plain {
                    let full = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
                    let _ = tokio::time::timeout(REJECTION, stream.write_all(full)).await;
                }
            });
            return;
        };
        let mut peer = self.peer(address, local);
        let (service, watcher) = (self.service.clone(), self.graceful.watcher());
        let Some(tls) = &self.tls else {
            let h2c = self.h2c;
            tokio::spawn(converse(stream, service, peer, h2c, watcher, room));
            return;
        };
        let acceptor = TlsAcceptor::from(tls.current());
        tokio::spawn(async move {
            let timeout = service.bounds.head_within;
            let handshake = tokio::time::timeout(timeout, acceptor.accept(stream));
            // rustls has sent the alert
            let Ok(Ok(stream)) = handshake.await else {
                return;
            };
            let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
            peer.certificates = certificates
                .iter()
                .map(|certificate| certificate.to_vec())
                .collect();
            converse(stream, service, peer, true, watcher, room).await;
        });
    }

    /// Returns a peer without certificates.
    fn peer(&self, address: String, local: Option<IpAddr>) -> Peer {
        Peer {
            address,
            certificates: Vec::new(),
            certificates_read: OnceLock::new(),
            accepted_host: OnceLock::new(),
            is_diagnostic: self.is_diagnostic,
            is_secure: self.tls.is_some(),
            local,
            hosts: self.hosts.clone(),
        }
    }
}

/// Serves a connection until it ends, and keeps the permit `room` for that time.
async fn converse<A: App, S>(
    stream: S,
    service: Arc<ConnectionService<A>>,
    peer: Peer,
    http2: bool,
    watcher: Watcher,
    room: OwnedSemaphorePermit,
) where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let bounds = service.bounds.clone();
    let state = Arc::<ConnectionState>::default();
    let stream = TimeoutStream::new(stream, state.clone(), bounds.clone(), &service.budget);
    let connection = Arc::new(Connection {
        service,
        peer: Arc::new(peer),
        state,
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    if !http2 {
        builder = builder.http1_only();
    }
    builder
        .http1()
        .timer(TokioTimer::new())
        // see `TimeoutStream`
        .header_read_timeout(None)
        .max_buf_size(bounds.head.max(SMALLEST_HEAD));
    if bounds.headers != HEADERS {
        // hyper fills a list of this length for each request, but not if it is the default
        builder.http1().max_headers(bounds.headers);
    }
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(bounds.streams)
        .max_header_list_size(u32::try_from(bounds.head).unwrap_or(u32::MAX))
        .keep_alive_interval(PING);
    let respond = service_fn(move |request| connection.clone().respond(request));
    let served = builder.serve_connection(TokioIo::new(stream), respond);
    // an error cannot be reported to a closed connection
    let _ = watcher.watch(served).await;
    drop(room);
}
