//! Connections of the gRPC service: TCP and Unix sockets, with TLS if there is a certificate.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tonic::transport::server::Connected;

use crate::config::Bounds;
use crate::net::{Listener, NewConnection, TlsState};

/// Connections that are accepted and not served yet.
const ACCEPTED: usize = 64;

/// Address of a client. Empty for Unix sockets.
#[derive(Clone)]
pub struct PeerAddress(pub Arc<str>);

pub struct CheckConnection {
    stream: Pin<Box<dyn Stream>>,
    peer: PeerAddress,
    _room: OwnedSemaphorePermit,
}

trait Stream: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}

/// Connections of all listeners. The listeners are closed when it is dropped.
pub struct Incoming {
    accepted: mpsc::Receiver<CheckConnection>,
    _accepting: JoinSet<()>,
}

impl Incoming {
    /// Accepts connections. It must be called within a tokio runtime.
    pub fn new(listeners: Vec<Listener>, tls: Option<&Arc<TlsState>>, bounds: &Bounds) -> Self {
        let (sender, accepted) = mpsc::channel(ACCEPTED);
        let room = Arc::new(Semaphore::new(bounds.connections));
        let mut accepting = JoinSet::new();
        for listener in listeners {
            let acceptor = Acceptor {
                tls: tls.filter(|_| listener.is_secure).cloned(),
                room: room.clone(),
                sender: sender.clone(),
                handshake: bounds.head_within,
            };
            accepting.spawn(acceptor.run(listener));
        }
        Self {
            accepted,
            _accepting: accepting,
        }
    }
}

impl futures_util::Stream for Incoming {
    type Item = io::Result<CheckConnection>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.accepted.poll_recv(cx).map(|next| next.map(Ok))
    }
}

struct Acceptor {
    tls: Option<Arc<TlsState>>,
    room: Arc<Semaphore>,
    sender: mpsc::Sender<CheckConnection>,
    /// Time limit of a TLS handshake.
    handshake: Duration,
}

impl Acceptor {
    async fn run(self, listener: Listener) {
        loop {
            // waits before it accepts: further clients wait in the queue of the socket
            let Ok(room) = self.room.clone().acquire_owned().await else {
                return;
            };
            match listener.accept().await {
                NewConnection::Tcp(stream, peer) => self.begin(stream, peer.to_string(), room),
                #[cfg(unix)]
                NewConnection::Unix(stream) => self.begin(stream, String::new(), room),
            }
        }
    }

    fn begin<S>(&self, stream: S, peer: String, room: OwnedSemaphorePermit)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, handshake) = (self.sender.clone(), self.handshake);
        let acceptor = self
            .tls
            .as_ref()
            .map(|tls| TlsAcceptor::from(tls.current()));
        let peer = PeerAddress(peer.into());
        tokio::spawn(async move {
            let stream: Pin<Box<dyn Stream>> = match acceptor {
                None => Box::pin(stream),
                Some(acceptor) => {
                    let accepted = tokio::time::timeout(handshake, acceptor.accept(stream));
                    // rustls has sent the alert
                    let Ok(Ok(stream)) = accepted.await else {
                        return;
                    };
                    Box::pin(stream)
                }
            };
            let connection = CheckConnection {
                stream,
                peer,
                _room: room,
            };
            // without a receiver the service has stopped
            let _ = sender.send(connection).await;
        });
    }
}

impl Connected for CheckConnection {
    type ConnectInfo = PeerAddress;

    fn connect_info(&self) -> PeerAddress {
        self.peer.clone()
    }
}

impl AsyncRead for CheckConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_read(cx, buffer)
    }
}

impl AsyncWrite for CheckConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(cx)
    }
}
