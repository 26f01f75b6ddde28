//! Reading of request bodies, limited by size, time and the memory budget.

use std::error::Error;
use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use tokio::time::timeout;

use super::budget::{Reservation, SMALL};
use super::rejection::Rejection;
use crate::config::Bounds;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimits {
    pub sent: usize,
    /// Limit of the size after decompression.
    pub decompressed: usize,
    /// `true` if the body is read to authorize the request: the limits are those of a client without permissions.
    pub is_for_authorization: bool,
}

impl BodyLimits {
    /// Returns the limits of an authorized request.
    pub fn new(send_metrics: usize, decompressed: usize) -> Self {
        Self {
            sent: send_metrics,
            decompressed,
            is_for_authorization: false,
        }
    }

    /// Returns these limits, capped at `limit`.
    #[must_use]
    pub fn at_most(self, limit: usize) -> Self {
        Self {
            sent: self.sent.min(limit),
            decompressed: self.decompressed.min(limit),
            ..self
        }
    }

    /// Returns the limits of a request whose body the authorization policy needs.
    #[must_use]
    pub fn for_authorization(self, bounds: &Bounds) -> Self {
        Self {
            is_for_authorization: true,
            ..self.at_most(bounds.authorization_body)
        }
    }

    /// Checks the declared length of a body.
    ///
    /// # Errors
    /// Returns the rejection of a body whose declared length exceeds the limit.
    pub fn check(self, body: &Incoming) -> Result<(), Rejection> {
        match body.size_hint().exact() {
            Some(length) if length > self.sent as u64 => Err(self.too_large(Some(length))),
            _ => Ok(()),
        }
    }

    fn too_large(self, declared_length: Option<u64>) -> Rejection {
        if self.is_for_authorization {
            return Rejection::TooLargeToAuthorize(self.sent);
        }
        Rejection::TooLarge {
            declared: declared_length,
            limit: self.sent,
        }
    }

    /// Returns the rejection of a body that exceeds the limit after decompression.
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

/// Reads a body. Each part must arrive within `time_limit`.
///
/// # Errors
/// Fails if the body cannot be read, or exceeds its limit or the memory budget.
pub async fn read_body<B>(
    body: B,
    limits: BodyLimits,
    time_limit: Duration,
    reservation: &mut Reservation,
) -> Result<Bytes, Rejection>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let declared_length = body.size_hint().lower();
    let mut body = Limited::new(body, limits.sent);
    let mut bytes = Vec::new();
    let mut is_rejected = false;
    // most bodies arrive with their heads; a part that has arrived needs no timer
    while let Some(frame) = timeout(time_limit, body.frame())
        .await
        .map_err(|_| Rejection::Slow)?
    {
        let frame = frame.map_err(|error| {
            if error.is::<LengthLimitError>() {
                limits.too_large(None)
            } else {
                Rejection::Broken
            }
        })?;
        // trailers are ignored, and a client reads the response only after it has sent the body
        let Some(data) = frame.into_data().ok().filter(|_| !is_rejected) else {
            continue;
        };
        let length = bytes.len() + data.len();
        if length > SMALL && reservation.resize(length).is_err() {
            is_rejected = true;
            bytes = Vec::new();
            reservation.give_back(usize::MAX);
            continue;
        }
        if bytes.is_empty() {
            if data.len() as u64 == declared_length {
                return Ok(data);
            }
            // one large block: the allocator returns it to the system whichever thread frees it
            let capacity =
                usize::try_from(declared_length).map_or(limits.sent, |size| size.min(limits.sent));
            let reserved = bytes.try_reserve_exact(capacity.max(length));
            reserved.map_err(|_| Rejection::Busy)?;
        }
        // copied, because many small parts use far more memory than their bytes
        bytes.extend_from_slice(&data);
    }
    if is_rejected {
        return Err(Rejection::Busy);
    }
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::streamed::{ResponseBody, StreamedBody};
    use super::{BodyLimits, Rejection, read_body};
    use crate::http::Budget;

    const LIMIT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn each_part_has_the_time_limit() {
        for (pause, expected) in [
            (Duration::ZERO, Ok("abcd")),
            (LIMIT / 10 * 9, Ok("abcd")),
            (LIMIT / 10 * 11, Err(Rejection::Slow)),
        ] {
            for length in [4, 5] {
                let (sender, body) = StreamedBody::new(length);
                tokio::spawn(async move {
                    for piece in ["ab", "cd"] {
                        tokio::time::sleep(pause).await;
                        // the reader may have given up
                        let _ = sender.send(Ok(piece.into())).await;
                    }
                });
                let body = ResponseBody::streamed(body, None);
                let limits = BodyLimits::new(100, 100);
                let mut reservation = Budget::new(1 << 20).none();
                let read = read_body(body, limits, LIMIT, &mut reservation).await;
                let expected = match expected.clone() {
                    Ok(_) if length > 4 => Err(Rejection::Broken),
                    expected => expected.map(Into::into),
                };
                assert_eq!(read, expected, "{pause:?} {length}");
            }
        }
    }
}
