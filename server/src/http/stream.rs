//! The bytes of a connection, watched: how long a client may rest, how much of a head is read, what hyper would not take or
//! would answer without a body.

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

/// Bytes of a head and a body that are written as one part.
const SMALL_ANSWER: usize = 512;

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

/// The answers that hyper gives for itself, which have no body, and what is sent instead.
#[derive(Debug)]
pub struct Broken {
    /// To what cannot be read.
    pub malformed: Vec<u8>,
    /// To what has too large a head.
    pub large_head: Vec<u8>,
    /// To a target that is too long.
    pub long_target: Vec<u8>,
}

/// A stream that is watched.
pub struct Watched<S> {
    inner: S,
    flow: Arc<Flow>,
    bounds: Arc<Bounds>,
    broken: Arc<Broken>,
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
    first: First,
    /// Bytes that were read and did not fit.
    ahead: Vec<u8>,
}

/// What is known of the first line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    /// It is being read.
    Line,
    /// It was HTTP/1.
    Read,
    /// The connection speaks HTTP/2.
    Http2,
}

impl<S> Watched<S> {
    /// Watches a stream.
    pub fn new(
        inner: S,
        flow: Arc<Flow>,
        bounds: Arc<Bounds>,
        budget: &Budget,
        broken: Arc<Broken>,
        http2: bool,
    ) -> Self {
        Self {
            inner,
            flow,
            bounds,
            broken,
            http2,
            timer: None,
            begun: 0,
            head: None,
            head_bytes: 0,
            held: budget.none(),
            came: None,
            stuck: None,
            first: First::Line,
            ahead: Vec::new(),
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
        if self.first == First::Http2 {
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

    /// Looks through the first line of a connection, and escapes what a target may not have unescaped, though clients
    /// send it.
    fn first_line(&mut self, buffer: &mut ReadBuf<'_>, before: usize) {
        let new = buffer.filled().get(before..).unwrap_or_default();
        if before == 0 && self.http2 && is_preface(new) {
            self.first = First::Http2;
            return;
        }
        let end = memchr::memchr(b'\n', new);
        if end.is_some() {
            self.first = First::Read;
        }
        let line = new.get(..end.unwrap_or(new.len())).unwrap_or(new);
        if !line.iter().any(|&byte| is_escaped(byte)) {
            return;
        }
        let mut text = Vec::with_capacity(new.len() + 64);
        for (at, &byte) in new.iter().enumerate() {
            if at < line.len() && is_escaped(byte) {
                text.extend_from_slice(format!("%{byte:02X}").as_bytes());
            } else {
                text.push(byte);
            }
        }
        buffer.set_filled(before);
        self.ahead = text;
        self.pour(buffer);
    }

    /// Gives what was read ahead.
    fn pour(&mut self, buffer: &mut ReadBuf<'_>) {
        let count = self.ahead.len().min(buffer.remaining());
        let rest = self.ahead.split_off(count);
        buffer.put_slice(&self.ahead);
        self.ahead = rest;
    }

    /// What is sent instead of an answer that hyper makes for itself.
    fn instead(&self, bytes: &[u8]) -> Option<Arc<Broken>> {
        let status = bytes.strip_prefix(b"HTTP/1.1 4")?;
        let own =
            status.starts_with(b"00 ") || status.starts_with(b"31 ") || status.starts_with(b"14 ");
        let bodiless = |bytes| memchr::memmem::find(bytes, b"content-length: 0\r\n").is_some();
        (own && bodiless(bytes)).then(|| self.broken.clone())
    }
}

/// How connections over HTTP/2 begin.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Whether what came first begins as HTTP/2 does, as far as it came; the name of a method may begin with a letter of it.
fn is_preface(first: &[u8]) -> bool {
    first.starts_with(PREFACE) || first.len() >= 3 && PREFACE.starts_with(first)
}

/// Parts as one, where that has room for them.
fn gathered<'w>(parts: &[io::IoSlice<'_>], whole: &'w mut [u8]) -> Option<&'w [u8]> {
    let mut length = 0;
    for part in parts {
        let end = length + part.len();
        whole.get_mut(length..end)?.copy_from_slice(part);
        length = end;
    }
    whole.get(..length)
}

/// Whether a byte stands in targets though it may not, so that the parser of targets refuses it.
fn is_escaped(byte: u8) -> bool {
    matches!(byte, b'"' | b'<' | b'>' | b'`')
}

impl Broken {
    fn of(&self, answer: &[u8]) -> &[u8] {
        match answer.get(9..12) {
            Some(b"431") => &self.large_head,
            Some(b"414") => &self.long_target,
            _ => &self.malformed,
        }
    }
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
        if !this.ahead.is_empty() {
            this.pour(buffer);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        match read_part(Pin::new(&mut this.inner), cx, buffer) {
            Poll::Ready(Ok(())) => {
                let count = buffer.filled().len() - before;
                if count == 0 {
                    return Poll::Ready(Ok(()));
                }
                if this.first == First::Line {
                    this.first_line(buffer, before);
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

    /// Writes another answer than hyper's own; what does not fit a socket that has room is lost with the connection.
    fn answer(
        &mut self,
        cx: &mut Context<'_>,
        broken: &Broken,
        bytes: &[u8],
        length: usize,
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, broken.of(bytes));
        let written = written.map_ok(|_| length);
        self.wrote(cx, written)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if let Some(broken) = this.instead(bytes) {
            return this.answer(cx, &broken, bytes, bytes.len());
        }
        let written = Pin::new(&mut this.inner).poll_write(cx, bytes);
        this.wrote(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let first = parts.first().map(|part| &**part).unwrap_or_default();
        if let Some(broken) = this.instead(first) {
            let length = parts.iter().map(|part| part.len()).sum();
            return this.answer(cx, &broken, first, length);
        }
        // a system call for one part takes less than copying the others to it
        let mut whole = [0; SMALL_ANSWER];
        let written = match gathered(parts, &mut whole) {
            Some(whole) => Pin::new(&mut this.inner).poll_write(cx, whole),
            None => Pin::new(&mut this.inner).poll_write_vectored(cx, parts),
        };
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
    use std::io::IoSlice;

    use super::{PREFACE, gathered, is_preface};

    #[test]
    fn methods_may_begin_as_http2_does() {
        assert!(is_preface(PREFACE) && is_preface(&PREFACE[..3]));
        assert!(is_preface(&[PREFACE, b"more"].concat()));
        for other in ["P", "PR", "PRI / HTTP/1.1", "PRIX / HTTP/1.1\r\n", "PUT /"] {
            assert!(!is_preface(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn parts_are_one_where_there_is_room() {
        let parts = [b"ab".as_slice(), b"", b"cde"].map(IoSlice::new);
        assert_eq!(gathered(&parts, &mut [0; 8]), Some(b"abcde".as_slice()));
        assert_eq!(gathered(&parts, &mut [0; 5]), Some(b"abcde".as_slice()));
        assert_eq!(gathered(&parts, &mut [0; 4]), None);
        assert_eq!(gathered(&[], &mut [0; 4]), Some(b"".as_slice()));
    }
}
