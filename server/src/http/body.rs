//! Reading bodies, within what all connections may hold.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::Version;
use hyper::body::{Body as _, Bytes, Frame, Incoming};

use super::budget::{Held, SMALL, Spent};
use super::pages::Buffer;
use super::wakes::poll_holding;

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// It is larger than one may be; how long it said it was.
    TooLarge(Option<u64>),
    /// All connections together hold too much.
    Full,
    /// Its client rested for too long.
    Slow,
    /// It ended too early, or was not sent as HTTP demands.
    Broken,
}

/// Refuses a body that declares itself as too large.
pub fn check_length(body: &Incoming, limit: usize) -> Result<(), BodyError> {
    match body.size_hint().exact() {
        Some(length) if length > limit as u64 => Err(BodyError::TooLarge(Some(length))),
        _ => Ok(()),
    }
}

/// Reads a body. More of it has to come within a time each.
pub async fn read_body(
    mut body: Incoming,
    version: Version,
    limit: usize,
    within: Duration,
    held: &mut Held,
) -> Result<Bytes, BodyError> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let declared = body.size_hint().exact().map(usize::try_from);
    let most = declared.and_then(Result::ok).unwrap_or(limit).min(limit);
    let mut whole = Buffer::default();
    let mut length = 0;
    let mut is_refused = false;
    loop {
        let data = match next(&mut body, version, within).await? {
            None if is_refused => return Err(BodyError::Full),
            None => return Ok(whole.finish()),
            // trailers are of no use
            Some(frame) => match frame.into_data() {
                Ok(data) => data,
                Err(_) => continue,
            },
        };
        length += data.len();
        if length > limit {
            return Err(BodyError::TooLarge(None));
        }
        // who is refused hears of it only behind what is still being sent
        if is_refused {
            continue;
        }
        if whole.is_empty() && body.is_end_stream() {
            if length > SMALL {
                held.add(length).map_err(|Spent| BodyError::Full)?;
            }
            return Ok(data);
        }
        if length > SMALL && held.grow(&mut whole, data.len(), most).is_err() {
            is_refused = true;
            whole = Buffer::default();
            held.give_back(usize::MAX);
            continue;
        }
        // copied, since small parts that are kept take far more than their bytes
        whole.push(&data).map_err(|Spent| BodyError::Full)?;
    }
}

/// The next part, most often without a timer: it is there already.
async fn next(
    body: &mut Incoming,
    version: Version,
    within: Duration,
) -> Result<Option<Frame<Bytes>>, BodyError> {
    let come = std::future::poll_fn(|cx| Poll::Ready(taken(body, version, cx))).await;
    let frame = match come {
        Poll::Ready(frame) => frame,
        // the future of a request has no room for what few need
        Poll::Pending => match Box::pin(tokio::time::timeout(within, body.frame())).await {
            Ok(frame) => frame,
            Err(_) => return Err(BodyError::Slow),
        },
    };
    frame.transpose().map_err(|_| BodyError::Broken)
}

/// What of a body is there already. hyper wakes the connection when that is taken, which is of use only where more has to come.
fn taken(
    body: &mut Incoming,
    version: Version,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
    let mut body = Pin::new(body);
    if version == Version::HTTP_2 {
        // the same wake tells the sender that there is room again
        return body.poll_frame(cx);
    }
    let take = |cx: &mut Context<'_>| {
        let frame = body.as_mut().poll_frame(cx);
        (frame, !body.is_end_stream())
    };
    poll_holding(cx, take, |(_, has_more)| *has_more).0
}
