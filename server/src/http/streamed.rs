//! Bodies of responses that are produced while they are sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::stream::OpenRequest;

/// Pieces that are produced before the client has received the previous ones.
const AHEAD: usize = 1;

/// A body that a task produces piece by piece. An extension of a response whose own body is empty.
///
/// Dropping the body ends the task at its next piece.
#[derive(Clone)]
pub struct StreamedBody {
    // extensions are cloneable, but a connection takes the body once
    pieces: Arc<Mutex<mpsc::Receiver<io::Result<Bytes>>>>,
    remaining: u64,
}

/// The sending end of a [`StreamedBody`].
pub type Pieces = mpsc::Sender<io::Result<Bytes>>;

impl StreamedBody {
    /// Creates a body of `length` bytes with its sending end. A piece that is an error aborts the connection, so that the
    /// client does not take a part for the whole.
    pub fn new(length: u64) -> (Pieces, Self) {
        let (sender, receiver) = mpsc::channel(AHEAD);
        let body = Self {
            pieces: Arc::new(Mutex::new(receiver)),
            remaining: length,
        };
        (sender, body)
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.remaining
    }
}

pub enum ResponseBody {
    Whole(Full<Bytes>),
    Streamed {
        body: StreamedBody,
        /// A connection that sends a body for a long time is not idle.
        _open: Option<OpenRequest>,
    },
}

impl ResponseBody {
    /// Creates a body of bytes in memory, whose length is known.
    pub fn in_memory(bytes: Bytes) -> Self {
        Self::Whole(Full::new(bytes))
    }

    /// Creates a body that is produced while it is sent. The request is open until the body is dropped.
    pub fn streamed(body: StreamedBody, open: Option<OpenRequest>) -> Self {
        Self::Streamed { body, _open: open }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let streamed = match self.get_mut() {
            Self::Whole(full) => {
                let frame = Pin::new(full).poll_frame(context);
                return frame.map(|frame| frame.map(|frame| frame.map_err(|never| match never {})));
            }
            Self::Streamed { body, .. } => body,
        };
        let received = streamed.pieces.lock().poll_recv(context);
        received.map(|piece| match piece {
            Some(Ok(bytes)) => {
                let length = bytes.len() as u64;
                streamed.remaining = streamed.remaining.saturating_sub(length);
                Some(Ok(Frame::data(bytes)))
            }
            Some(Err(error)) => Some(Err(error)),
            None if streamed.remaining > 0 => {
                streamed.remaining = 0;
                Some(Err(io::ErrorKind::UnexpectedEof.into()))
            }
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(full) => full.is_end_stream(),
            Self::Streamed { body, .. } => body.remaining == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(full) => full.size_hint(),
            Self::Streamed { body, .. } => SizeHint::with_exact(body.remaining),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::{ResponseBody, StreamedBody};

    #[tokio::test]
    async fn pieces_arrive_in_order_and_a_missing_rest_is_an_error() {
        let (sender, body) = StreamedBody::new(4);
        tokio::spawn(async move {
            for piece in ["ab", "cd"] {
                sender.send(Ok(piece.into())).await.unwrap();
            }
        });
        let collected = ResponseBody::streamed(body, None).collect().await.unwrap();
        assert_eq!(collected.to_bytes(), "abcd");

        let (sender, body) = StreamedBody::new(4);
        sender.try_send(Ok("ab".into())).unwrap();
        drop(sender);
        assert!(ResponseBody::streamed(body, None).collect().await.is_err());
    }
}
