//! Listeners and their connections.

use std::future::Future;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

use crate::config::INLINE_HEADERS;

use super::connection::{App, Connection, Peer, Service};
use super::graceful::{Shutdown, Stopped};
use super::hosts::AllowedHosts;
use super::listen::{Listener, Socket};
use super::stream::{Flow, Watched};
use super::tls::TlsState;

/// How long accepting rests when the process has no file handles left.
const REST: Duration = Duration::from_millis(50);
/// Connections to listeners for diagnosis, which others cannot take away.
const DIAGNOSTIC: usize = 64;
/// How often a peer that speaks HTTP/2 is asked whether it is still there.
const PING: Duration = Duration::from_mins(1);

/// How connections are served.
pub struct Serving<A> {
    /// What answers requests.
    pub service: Arc<Service<A>>,
    /// Whether HTTP/2 is spoken without encryption.
    pub h2c: bool,
    /// How long open requests may take to finish after `stop`.
    pub grace: Duration,
    /// How connections are protected, where they are.
    pub tls: Option<Arc<TlsState>>,
}

/// Serves until `stop` is there, then finishes what is open.
pub async fn serve<A: App>(
    listeners: Vec<Listener>,
    serving: Serving<A>,
    stop: impl Future<Output = ()>,
) {
    let (shutdown, stopped) = Shutdown::new();
    let room = Arc::new(Semaphore::new(serving.service.bounds.connections));
    let grace = serving.grace;
    let accepting: Vec<_> = listeners
        .into_iter()
        .map(|listener| {
            let connections = Connections {
                service: serving.service.clone(),
                stopped: stopped.clone(),
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
            tokio::spawn(accept(listener, connections))
        })
        .collect();
    drop(stopped);
    stop.await;
    shutdown.begin();
    for task in accepting {
        let _ = task.await;
    }
    // the listeners are gone, so that open connections are all that is waited for
    shutdown.end(grace).await;
}

/// What the connections of one listener share.
struct Connections<A> {
    service: Arc<Service<A>>,
    stopped: Stopped,
    h2c: bool,
    tls: Option<Arc<TlsState>>,
    is_diagnostic: bool,
    hosts: Option<Arc<AllowedHosts>>,
    room: Arc<Semaphore>,
}

async fn accept<A: App>(listener: Listener, connections: Connections<A>) {
    let mut stopped = connections.stopped.clone();
    loop {
        let accepted = tokio::select! {
            () = stopped.wait() => return,
            accepted = async {
                match &listener.socket {
                    Socket::Tcp(tcp) => tcp.accept().await.map(|(stream, peer)| {
                        // a small answer should not wait for the next packet; where that is refused, it waits
                        let _ = stream.set_nodelay(true);
                        let local = stream.local_addr().ok();
                        let local = local.map(|local| local.ip().to_canonical());
                        connections.begin(stream, peer.to_string(), local);
                    }),
                    Socket::Unix(_, unix) => unix.accept().await.map(|(stream, _)| connections.begin(stream, String::new(), None)),
                }
            } => accepted,
        };
        if accepted.is_err() {
            tokio::time::sleep(REST).await;
        }
    }
}

impl<A: App> Connections<A> {
    fn begin<S>(&self, mut stream: S, address: String, local: Option<IpAddr>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Ok(room) = self.room.clone().try_acquire_owned() else {
            let is_plain = self.tls.is_none();
            tokio::spawn(async move {
                // whoever speaks TLS would not understand it
                if is_plain {
                    let full = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
                    let _ = tokio::time::timeout(REST, stream.write_all(full)).await;
                }
            });
            return;
        };
        let Some(tls) = &self.tls else {
            let peer = self.peer(address, local);
            let peer = Arc::new(peer);
            let (h2c, stopped) = (self.h2c, self.stopped.clone());
            let service = self.service.clone();
            tokio::spawn(converse(stream, service, peer, h2c, stopped, room));
            return;
        };
        let acceptor = TlsAcceptor::from(tls.current());
        let stopped = self.stopped.clone();
        let service = self.service.clone();
        let mut peer = self.peer(address, local);
        tokio::spawn(async move {
            let within = service.bounds.head_within;
            let shaken = tokio::time::timeout(within, acceptor.accept(stream));
            // who does not agree has been told so
            let Ok(Ok(stream)) = shaken.await else { return };
            let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
            peer.certificates = certificates.iter().map(|one| one.to_vec()).collect();
            let peer = Arc::new(peer);
            converse(stream, service, peer, true, stopped, room).await;
        });
    }

    /// A peer that has shown no certificates.
    fn peer(&self, address: String, local: Option<IpAddr>) -> Peer {
        Peer {
            address,
            certificates: Vec::new(),
            certificates_read: OnceLock::new(),
            is_diagnostic: self.is_diagnostic,
            local,
            hosts: self.hosts.clone(),
        }
    }
}

/// Serves a connection to its end.
async fn converse<A: App, S>(
    stream: S,
    service: Arc<Service<A>>,
    peer: Arc<Peer>,
    http2: bool,
    stopped: Stopped,
    room: OwnedSemaphorePermit,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let bounds = service.bounds.clone();
    let flow = Arc::new(Flow::default());
    let watched = Watched::new(stream, flow.clone(), bounds.clone(), &service.budget, http2);
    let connection = Arc::new(Connection {
        service,
        peer,
        flow,
    });
    let answer = service_fn(move |request| connection.clone().respond(request));
    let io = TokioIo::new(watched);
    // one that breaks has nobody left to tell
    if http2 {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        let mut http1 = builder.http1();
        http1
            .timer(TokioTimer::new())
            .header_read_timeout(None)
            .max_buf_size(bounds.head.max(SMALLEST_HEAD));
        if bounds.headers != INLINE_HEADERS {
            http1.max_headers(bounds.headers);
        }
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(bounds.streams)
            .max_header_list_size(u32::try_from(bounds.head).unwrap_or(u32::MAX))
            .keep_alive_interval(PING);
        let connection = builder.serve_connection(io, answer);
        let _ = stopped.watch(connection).await;
    } else {
        let mut builder = http1::Builder::new();
        builder
            .header_read_timeout(None)
            .max_buf_size(bounds.head.max(SMALLEST_HEAD));
        if bounds.headers != INLINE_HEADERS {
            builder.max_headers(bounds.headers);
        }
        let connection = builder.serve_connection(io, answer);
        let _ = stopped.watch(connection).await;
    }
    drop(room);
}

/// Least that hyper reads a head into.
const SMALLEST_HEAD: usize = 8 << 10;
