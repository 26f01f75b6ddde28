//! Timeouts of a connection: for receiving the head of a request, between two requests, and for a client that does not read.
//!
//! hyper's own timer for heads also runs while a connection is idle, which may take much longer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::budget::{Budget, Reservation, SMALL};
use crate::config::Bounds;

/// Counts the requests of a connection.
#[derive(Debug, Default)]
pub struct ConnectionState {
    started: AtomicUsize,
    open: AtomicUsize,
}

/// A request that has no response yet.
pub struct OpenRequest(Arc<ConnectionState>);

impl ConnectionState {
    /// Counts a request until the returned value is dropped.
    pub fn start_request(self: &Arc<Self>) -> OpenRequest {
        self.started.fetch_add(1, Ordering::Relaxed);
        self.open.fetch_add(1, Ordering::Relaxed);
        OpenRequest(self.clone())
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A stream that fails with [`io::ErrorKind::TimedOut`] if its client pauses for too long.
pub struct TimeoutStream<S> {
    inner: S,
    state: Arc<ConnectionState>,
    bounds: Arc<Bounds>,
    timer: Option<Pin<Box<Sleep>>>,
    /// Value of `state.started` at the last poll.
    started: usize,
    /// Time since when the rest of a head is awaited. A head that arrives as a whole needs no clock.
    head_since: Option<Instant>,
    /// Bytes of the incomplete head. Large ones count against the memory budget.
    head_bytes: usize,
    reservation: Reservation,
    /// Time since when there has been neither a request nor a byte.
    idle_since: Option<Instant>,
    /// Time since when the client has not read the written data.
    stalled_since: Option<Instant>,
    /// `None` until the first bytes have arrived.
    is_http2: Option<bool>,
}

impl<S> TimeoutStream<S> {
    pub fn new(
        inner: S,
        state: Arc<ConnectionState>,
        bounds: Arc<Bounds>,
        budget: &Budget,
    ) -> Self {
        Self {
            inner,
            state,
            bounds,
            timer: None,
            started: 0,
            head_since: None,
            head_bytes: 0,
            reservation: budget.none(),
            idle_since: None,
            stalled_since: None,
            is_http2: None,
        }
    }

    /// Returns `true` if a request is open. Resets the state of the head if its request has started.
    fn has_request(&mut self) -> bool {
        let started = self.state.started.load(Ordering::Relaxed);
        if started != self.started {
            self.started = started;
            self.head_since = None;
            self.head_bytes = 0;
            self.idle_since = None;
            self.reservation.give_back(usize::MAX);
        }
        self.state.open.load(Ordering::Relaxed) > 0
    }

    fn on_read(&mut self, bytes: &[u8]) -> io::Result<()> {
        let is_http2 = *self.is_http2.get_or_insert_with(|| is_preface(bytes));
        self.idle_since = None;
        if bytes.is_empty() || self.has_request() || is_http2 {
            return Ok(());
        }
        self.head_bytes += bytes.len();
        if self.head_bytes > SMALL && self.reservation.resize(self.head_bytes).is_err() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        Ok(())
    }

    /// Returns the time at which a pending read fails.
    fn read_deadline(&mut self) -> Option<Instant> {
        if self.has_request() {
            return None;
        }
        if self.head_bytes > 0 {
            let since = *self.head_since.get_or_insert_with(Instant::now);
            return since.checked_add(self.bounds.head_within);
        }
        let since = *self.idle_since.get_or_insert_with(Instant::now);
        since.checked_add(self.bounds.idle)
    }

    /// Returns `true` if the deadline has passed. Otherwise the task is woken at the deadline.
    fn has_passed(&mut self, deadline: Option<Instant>, cx: &mut Context<'_>) -> bool {
        let Some(deadline) = deadline else {
            return false;
        };
        let sleep = || Box::pin(tokio::time::sleep_until(deadline));
        let timer = self.timer.get_or_insert_with(sleep);
        // letting the timer fire early and setting it again is cheaper than setting it at each poll
        if timer.deadline() > deadline || timer.is_elapsed() {
            timer.as_mut().reset(deadline);
        }
        while timer.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                return true;
            }
            timer.as_mut().reset(deadline);
        }
        false
    }

    fn on_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.stalled_since = None;
            return result;
        }
        let since = *self.stalled_since.get_or_insert_with(Instant::now);
        if self.has_passed(since.checked_add(self.bounds.more_within), cx) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }
}

/// First bytes of an HTTP/2 connection.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Returns `true` if the bytes begin like the HTTP/2 preface. A method may begin with the same letters.
fn is_preface(first: &[u8]) -> bool {
    first.starts_with(PREFACE) || first.len() >= 3 && PREFACE.starts_with(first)
}

impl<S: AsyncRead + Unpin> AsyncRead for TimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = &mut *self;
        let before = buffer.filled().len();
        match Pin::new(&mut stream.inner).poll_read(cx, buffer) {
            Poll::Ready(Ok(())) => {
                let bytes_read = buffer.filled().get(before..).unwrap_or_default();
                Poll::Ready(stream.on_read(bytes_read))
            }
            Poll::Ready(error) => Poll::Ready(error),
            Poll::Pending => {
                let deadline = stream.read_deadline();
                if stream.has_passed(deadline, cx) {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                Poll::Pending
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimeoutStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.on_write(cx, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.inner).poll_write_vectored(cx, parts);
        self.on_write(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.on_write(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
#[path = "../../../tests/server/unit/stream.rs"]
mod tests;
