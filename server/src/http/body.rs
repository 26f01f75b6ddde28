//! Reading bodies within limits, a time-out and the memory budget of all connections.

use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use tower_http::timeout::{TimeoutBody, TimeoutError};

use super::budget::{Held, SMALL};
use super::rejection::Rejection;
use crate::config::Bounds;

/// Limits of one body, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimits {
    /// As it is sent.
    pub sent: usize,
    /// After decompression.
    pub decompressed: usize,
    /// `true` if the body is read to decide about the request: the limits are those of a client without permissions.
    pub is_for_authorization: bool,
}

impl BodyLimits {
    /// The limits of a request that the client may send.
    pub fn new(sent: usize, decompressed: usize) -> Self {
        Self {
            sent,
            decompressed,
            is_for_authorization: false,
        }
    }

    /// The same, and both at most `limit`.
    #[must_use]
    pub fn at_most(self, limit: usize) -> Self {
        Self {
            sent: self.sent.min(limit),
            decompressed: self.decompressed.min(limit),
            ..self
        }
    }

    /// The limits of a request whose body the authorization policy needs.
    #[must_use]
    pub fn for_authorization(self, bounds: &Bounds) -> Self {
        Self {
            is_for_authorization: true,
            ..self.at_most(bounds.authorization_body)
        }
    }

    /// Rejects a body whose declared length is larger.
    ///
    /// # Errors
    /// The rejection.
    pub fn check(self, body: &Incoming) -> Result<(), Rejection> {
        match body.size_hint().exact() {
            Some(length) if length > self.sent as u64 => Err(self.too_large(Some(length))),
            _ => Ok(()),
        }
    }

    fn too_large(self, declared: Option<u64>) -> Rejection {
        if self.is_for_authorization {
            return Rejection::TooLargeToAuthorize(self.sent);
        }
        Rejection::TooLarge {
            declared,
            limit: self.sent,
        }
    }

    /// The rejection of a body that decompresses to more.
    pub fn decompressed_too_large(self) -> Rejection {
        if self.is_for_authorization {
            return Rejection::TooLargeToAuthorize(self.decompressed);
        }
        Rejection::DecompressedTooLarge(self.decompressed)
    }
}

/// Returns the estimated memory of a large body after parsing, beyond its text. Small ones are not counted.
pub fn parsed_size(length: usize) -> usize {
    if length > SMALL {
        length.saturating_mul(4)
    } else {
        0
    }
}

/// Reads a body. Each part has to arrive within `within`.
///
/// # Errors
/// The body cannot be read, or is too large for its limit or the budget.
pub async fn read_body(
    body: Incoming,
    limits: BodyLimits,
    within: Duration,
    held: &mut Held,
) -> Result<Bytes, Rejection> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let declared = body.size_hint().lower();
    let body = Limited::new(TimeoutBody::new(within, body), limits.sent);
    let mut body = std::pin::pin!(body);
    let mut whole = Vec::new();
    let mut is_rejected = false;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if error.is::<LengthLimitError>() {
                limits.too_large(None)
            } else if error.is::<TimeoutError>() {
                Rejection::Slow
            } else {
                Rejection::Broken
            }
        })?;
        // trailers are ignored, and a client reads the response only after it has sent the body
        let Some(data) = frame.into_data().ok().filter(|_| !is_rejected) else {
            continue;
        };
        let length = whole.len() + data.len();
        if length > SMALL && held.resize(length).is_err() {
            is_rejected = true;
            whole = Vec::new();
            held.give_back(usize::MAX);
            continue;
        }
        if whole.is_empty() {
            if data.len() as u64 == declared {
                return Ok(data);
            }
            // in one piece: the allocator returns it to the system whichever thread frees it
            let capacity =
                usize::try_from(declared).map_or(limits.sent, |size| size.min(limits.sent));
            let reserved = whole.try_reserve_exact(capacity.max(length));
            reserved.map_err(|_| Rejection::Busy)?;
        }
        // copied: many small parts take far more memory than their bytes
        whole.extend_from_slice(&data);
    }
    if is_rejected {
        return Err(Rejection::Busy);
    }
    Ok(whole.into())
}
