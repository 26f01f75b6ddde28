//! Connections of any kind, as hyper uses them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

/// A connection in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection that is ready for requests.
pub struct Stream {
    duplex: TokioIo<Box<dyn Duplex>>,
    /// `true` if both sides agreed on HTTP/2.
    is_http2: bool,
    /// `true` if the other side is a proxy that reads requests, which must name their whole URL.
    is_proxied: bool,
}

impl Stream {
    /// Returns a connection for HTTP/1 or HTTP/2, which does not use a proxy.
    pub fn new(duplex: impl Duplex + 'static, is_http2: bool) -> Self {
        Self {
            duplex: TokioIo::new(Box::new(duplex)),
            is_http2,
            is_proxied: false,
        }
    }

    /// Returns a connection to a proxy that reads requests and forwards them.
    pub fn to_proxy(duplex: impl Duplex + 'static) -> Self {
        Self {
            is_proxied: true,
            ..Self::new(duplex, false)
        }
    }

    fn duplex(self: Pin<&mut Self>) -> Pin<&mut TokioIo<Box<dyn Duplex>>> {
        Pin::new(&mut self.get_mut().duplex)
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.is_proxied);
        if self.is_http2 {
            connected.negotiated_h2()
        } else {
            connected
        }
    }
}

impl Read for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        self.duplex().poll_read(cx, buffer)
    }
}

impl Write for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.duplex().poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.duplex().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.duplex().poll_shutdown(cx)
    }
}
