//! Connections of any kind as hyper uses them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

/// Something to read from and write to.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection.
pub struct Stream {
    duplex: TokioIo<Box<dyn Duplex>>,
    /// Whether both sides agreed on HTTP/2.
    http2: bool,
    /// Whether it ends at a proxy, which has to be told where requests go.
    proxied: bool,
}

impl Stream {
    /// A connection for HTTP/1, or for HTTP/2.
    pub fn new(duplex: impl Duplex + 'static, http2: bool) -> Self {
        Self {
            duplex: TokioIo::new(Box::new(duplex)),
            http2,
            proxied: false,
        }
    }

    /// A connection to a proxy that reads requests and passes them on.
    pub fn to_proxy(duplex: impl Duplex + 'static) -> Self {
        Self {
            proxied: true,
            ..Self::new(duplex, false)
        }
    }

    fn duplex(self: Pin<&mut Self>) -> Pin<&mut TokioIo<Box<dyn Duplex>>> {
        Pin::new(&mut self.get_mut().duplex)
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.proxied);
        if self.http2 {
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
