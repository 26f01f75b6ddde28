//! Bodies of responses, read in chunks with limits on size and time.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};

use crate::error::{Error, ErrorKind};
use crate::message;

/// The body of a response, which arrives in chunks.
#[derive(Debug)]
pub struct BodyStream {
    body: Incoming,
    /// Maximum time until the next chunk.
    stall: Option<Duration>,
}

impl BodyStream {
    pub(crate) fn new(body: Incoming) -> Self {
        Self { body, stall: None }
    }

    /// Sets the maximum time until each chunk.
    #[cfg(feature = "services")]
    #[must_use]
    pub(crate) fn stall_timeout(mut self, stall: Duration) -> Self {
        self.stall = Some(stall);
        self
    }

    /// Returns the body for code that reads it as hyper does.
    #[cfg(feature = "objects")]
    pub(crate) fn into_body(
        self,
    ) -> impl hyper::body::Body<Data = Bytes, Error = Error> + Send + Sync + 'static {
        self.body
            .map_err(|error| Error::new(ErrorKind::Body, message::of_body(&error)))
    }

    /// Returns the length that the server declared, in bytes, or `None` if it declared none.
    pub fn declared_length(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// Returns the next chunk, or `None` at the end.
    ///
    /// # Errors
    /// The connection broke, or the server sent nothing for too long.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let frame = self.body.frame();
            let frame = match self.stall {
                None => frame.await,
                Some(stall) => tokio::time::timeout(stall, frame).await.map_err(|_| {
                    let text = format!(
                        "timeout: the response body stalled for {} seconds",
                        stall.as_secs()
                    );
                    Error::new(ErrorKind::Timeout, text)
                })?,
            };
            match frame {
                None => return Ok(None),
                Some(Err(error)) => {
                    return Err(Error::new(ErrorKind::Body, message::of_body(&error)));
                }
                Some(Ok(frame)) => {
                    // trailers have no meaning here
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    /// Reads the body up to its end.
    ///
    /// # Errors
    /// See [`Self::chunk`], or the body is larger than `max` bytes. A declared length that is larger fails before anything
    /// is read.
    pub async fn read_bounded(mut self, max: usize) -> Result<Bytes, Error> {
        let too_large = || {
            let text = format!("response body exceeds the limit of {max} bytes");
            Error::new(ErrorKind::BodyTooLarge, text)
        };
        if self
            .declared_length()
            .is_some_and(|length| usize::try_from(length).map_or(true, |length| length > max))
        {
            return Err(too_large());
        }
        let Some(first) = self.chunk().await? else {
            return Ok(Bytes::new());
        };
        if first.len() > max {
            return Err(too_large());
        }
        let mut buffer: Option<BytesMut> = None;
        while let Some(chunk) = self.chunk().await? {
            let buffer = buffer.get_or_insert_with(|| BytesMut::from(first.as_ref()));
            if buffer.len() + chunk.len() > max {
                return Err(too_large());
            }
            buffer.extend_from_slice(&chunk);
        }
        Ok(buffer.map_or(first, BytesMut::freeze))
    }
}
