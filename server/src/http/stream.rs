//! The bytes of a connection, watched: how long a client may rest, and how much of a head is read. No byte is changed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::budget::{Budget, Held, SMALL};
use crate::config::Bounds;

/// Most bytes that are read at a time.
const PART: usize = 32 << 10;

/// What a connection's stream and its requests tell one another.
#[derive(Debug)]
pub struct Flow {
    begun: AtomicUsize,
    open: AtomicUsize,
    /// When the connection began.
    since: Instant,
    /// When a request ended last, in nanoseconds since then.
    ended: AtomicU64,
}

/// A request that is being answered.
pub struct Open {
    flow: Arc<Flow>,
    ended: Option<Instant>,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            begun: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            since: Instant::now(),
            ended: AtomicU64::new(0),
        }
    }
}

impl Flow {
    /// Notes that a request was read, until what is returned is dropped.
    pub fn begin(self: &Arc<Self>) -> Open {
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.open.fetch_add(1, Ordering::Relaxed);
        Open {
            flow: self.clone(),
            ended: None,
        }
    }

    /// When a request ended last, or the connection began.
    fn ended(&self) -> Instant {
        let ended = Duration::from_nanos(self.ended.load(Ordering::Relaxed));
        self.since.checked_add(ended).unwrap_or(self.since)
    }
}

impl Open {
    /// The request is answered, at a time that the caller knows.
    pub fn end(mut self, now: Instant) {
        self.ended = Some(now);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let flow = &*self.flow;
        let ended = self.ended.unwrap_or_else(Instant::now);
        let ended = ended.saturating_duration_since(flow.since).as_nanos();
        let ended = u64::try_from(ended).unwrap_or(u64::MAX);
        flow.ended.store(ended, Ordering::Relaxed);
        flow.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A stream that is watched.
pub struct Watched<S> {
    inner: S,
    flow: Arc<Flow>,
    bounds: Arc<Bounds>,
    /// Whether the connection may speak HTTP/2.
    http2: bool,
    /// Fires at the earliest when something may be due.
    timer: Option<Pin<Box<Sleep>>>,
    /// Requests that were begun when bytes came last.
    begun: usize,
    /// When a head was first found to be incomplete; most come as a whole.
    head: Option<Instant>,
    /// Bytes of the head so far.
    head_bytes: usize,
    held: Held,
    /// When something came last over HTTP/2.
    came: Option<Instant>,
    /// When the client stopped taking what is written.
    stuck: Option<Instant>,
    /// The protocol, once the first bytes have come.
    protocol: Option<Protocol>,
}

/// What a connection speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Http1,
    Http2,
}

impl<S> Watched<S> {
    /// Watches a stream.
    pub fn new(
        inner: S,
        flow: Arc<Flow>,
        bounds: Arc<Bounds>,
        budget: &Budget,
        http2: bool,
    ) -> Self {
        Self {
            inner,
            flow,
            bounds,
            http2,
            timer: None,
            begun: 0,
            head: None,
            head_bytes: 0,
            held: budget.none(),
            came: None,
            stuck: None,
            protocol: None,
        }
    }

    /// Takes note of bytes that came.
    fn came(&mut self, count: usize) -> io::Result<()> {
        let begun = self.flow.begun.load(Ordering::Relaxed);
        if begun != self.begun {
            self.begun = begun;
            self.head = None;
            self.head_bytes = 0;
            if self.held.resize(0).is_err() {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
        }
        if self.flow.open.load(Ordering::Relaxed) > 0 {
            return Ok(());
        }
        if self.protocol == Some(Protocol::Http2) {
            self.came = Some(Instant::now());
            return Ok(());
        }
        self.head_bytes += count;
        // one that large is rare, and many of them are not to be had for nothing
        if self.head_bytes > SMALL && self.held.resize(self.head_bytes).is_err() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        Ok(())
    }

    /// When the connection has rested for too long, if it may.
    fn due(&mut self) -> Option<Instant> {
        if self.flow.open.load(Ordering::Relaxed) > 0 {
            return None;
        }
        if self.flow.begun.load(Ordering::Relaxed) != self.begun {
            self.begun = self.flow.begun.load(Ordering::Relaxed);
            self.head = None;
            self.head_bytes = 0;
        }
        if self.head_bytes > 0 {
            let began = *self.head.get_or_insert_with(Instant::now);
            return began.checked_add(self.bounds.head_within);
        }
        let ended = self.flow.ended();
        let rests = self.came.map_or(ended, |came| came.max(ended));
        rests.checked_add(self.bounds.idle)
    }

    /// Wakes the task when something is due; whether that is now.
    fn is_over(&mut self, due: Option<Instant>, cx: &mut Context<'_>) -> bool {
        let Some(due) = due else {
            return false;
        };
        let due = tokio::time::Instant::from_std(due);
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        // moving it later each time would cost more than waking once too often
        if timer.deadline() > due {
            timer.as_mut().reset(due);
        }
        while timer.as_mut().poll(cx).is_ready() {
            if tokio::time::Instant::now() >= due {
                return true;
            }
            timer.as_mut().reset(due);
        }
        false
    }
}

/// How connections over HTTP/2 begin.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Whether what came first begins as HTTP/2 does, as far as it came; the name of a method may begin with a letter of it.
fn is_preface(first: &[u8]) -> bool {
    first.starts_with(PREFACE) || first.len() >= 3 && PREFACE.starts_with(first)
}

/// Reads, but not much at a time: whoever reads makes the more room the more comes at once, and keeps it.
fn read_part<S: AsyncRead>(
    inner: Pin<&mut S>,
    cx: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    if buffer.remaining() <= PART {
        return inner.poll_read(cx, buffer);
    }
    let mut part = ReadBuf::new(buffer.initialize_unfilled_to(PART));
    let read = inner.poll_read(cx, &mut part);
    let count = part.filled().len();
    buffer.advance(count);
    read
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        match read_part(Pin::new(&mut this.inner), cx, buffer) {
            Poll::Ready(Ok(())) => {
                let count = buffer.filled().len() - before;
                if count == 0 {
                    return Poll::Ready(Ok(()));
                }
                if this.protocol.is_none() {
                    let new = buffer.filled().get(before..).unwrap_or_default();
                    let is_http2 = this.http2 && is_preface(new);
                    this.protocol = Some(if is_http2 {
                        Protocol::Http2
                    } else {
                        Protocol::Http1
                    });
                }
                Poll::Ready(this.came(count))
            }
            Poll::Ready(error) => Poll::Ready(error),
            Poll::Pending => {
                let due = this.due();
                if this.is_over(due, cx) {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                Poll::Pending
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> Watched<S> {
    /// Takes note of what came of writing.
    fn wrote<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stuck = None;
            return written;
        }
        let since = *self.stuck.get_or_insert_with(Instant::now);
        let due = since.checked_add(self.bounds.more_within);
        if self.is_over(due, cx) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let written = Pin::new(&mut this.inner).poll_write(cx, bytes);
        this.wrote(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let written = Pin::new(&mut this.inner).poll_write_vectored(cx, parts);
        this.wrote(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let flushed = Pin::new(&mut this.inner).poll_flush(cx);
        this.wrote(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::{PREFACE, is_preface};

    #[test]
    fn methods_may_begin_as_http2_does() {
        assert!(is_preface(PREFACE) && is_preface(&PREFACE[..3]));
        assert!(is_preface(&[PREFACE, b"more"].concat()));
        for other in ["P", "PR", "PRI / HTTP/1.1", "PRIX / HTTP/1.1\r\n", "PUT /"] {
            assert!(!is_preface(other.as_bytes()), "{other}");
        }
    }
}
