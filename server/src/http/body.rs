//! Reading bodies, within the memory budget of all connections.

use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Bytes, Frame, Incoming};

use super::budget::{Held, SMALL, Spent};

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// It is larger than the limit. Contains the length that the client declared.
    TooLarge(Option<u64>),
    /// The memory budget is exhausted.
    Full,
    /// The client paused for too long.
    Slow,
    /// It ended early, or its framing is invalid.
    Broken,
}

/// Rejects a body whose declared length exceeds the limit.
pub fn check_length(body: &Incoming, limit: usize) -> Result<(), BodyError> {
    match body.size_hint().exact() {
        Some(length) if length > limit as u64 => Err(BodyError::TooLarge(Some(length))),
        _ => Ok(()),
    }
}

/// Reads a body. Each part has to arrive within `within`.
pub async fn read_body(
    mut body: Incoming,
    limit: usize,
    within: Duration,
    held: &mut Held,
) -> Result<Bytes, BodyError> {
    let mut whole = Vec::new();
    let mut length = 0;
    let mut is_rejected = false;
    while let Some(frame) = next(&mut body, within).await? {
        // trailers are ignored
        let Ok(data) = frame.into_data() else {
            continue;
        };
        length += data.len();
        if length > limit {
            return Err(BodyError::TooLarge(None));
        }
        // a client reads the response only after it has sent the body
        if is_rejected {
            continue;
        }
        if whole.is_empty() && body.is_end_stream() {
            if length > SMALL {
                held.add(length).map_err(|Spent| BodyError::Full)?;
            }
            return Ok(data);
        }
        if whole.is_empty() {
            // in one piece: the allocator returns it to the system whichever thread frees it
            let declared = body.size_hint().lower().try_into().unwrap_or(limit);
            let capacity = declared.saturating_add(length).min(limit);
            whole
                .try_reserve_exact(capacity)
                .map_err(|_| BodyError::Full)?;
        }
        // copied: many small parts take far more memory than their bytes
        if length > SMALL && held.resize(length).is_err() {
            is_rejected = true;
            whole = Vec::new();
            held.give_back(usize::MAX);
        } else {
            whole.extend_from_slice(&data);
        }
    }
    if is_rejected {
        return Err(BodyError::Full);
    }
    Ok(whole.into())
}

async fn next(body: &mut Incoming, within: Duration) -> Result<Option<Frame<Bytes>>, BodyError> {
    let frame = tokio::time::timeout(within, body.frame()).await;
    let frame = frame.map_err(|_| BodyError::Slow)?;
    frame.transpose().map_err(|_| BodyError::Broken)
}
