//! Compression and decompression of bodies with gzip.

use std::io::{self, Read as _, Write as _};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use http::header::CONTENT_ENCODING;
use hyper::body::Bytes;

use super::body::BodyLimits;
use super::budget::{BudgetExceeded, Reservation};
use super::rejection::Rejection;
use super::response::{Response, ResponseExt as _};
use super::weight::weight;

/// Bytes that are decompressed per step.
const PART: usize = 16 << 10;

/// Maximum compression ratio of deflate: two bits repeat 258 bytes.
const MOST_COMPRESSED: u64 = 1032;

/// Decompresses a body within its limits. The result is added to `reservation`. If the size that the body declares is
/// possible, it is used to reject the body early, and as the capacity of the result.
///
/// # Errors
/// Fails if the body is not gzip, is too large, or the memory budget is exhausted. The messages are those of Go's reader.
pub fn decompress(
    body: &[u8],
    limits: BodyLimits,
    reservation: &mut Reservation,
) -> Result<Bytes, Rejection> {
    let malformed = |message: &str| Rejection::NotGzip(message.to_owned());
    let limit = limits.decompressed;
    if body.is_empty() {
        return Err(malformed("EOF"));
    }
    if !body.starts_with(&[0x1f, 0x8b]) {
        let is_short = body.len() < 10;
        return Err(malformed(if is_short {
            "unexpected EOF"
        } else {
            "gzip: invalid header"
        }));
    }
    let declared_size = size_in_trailer(body);
    if declared_size.is_some_and(|size| size > limit as u64) {
        return Err(limits.decompressed_too_large());
    }
    let mut out = Vec::new();
    // one large block: the allocator returns it to the system whichever thread frees it
    let capacity = declared_size.and_then(|size| usize::try_from(size).ok());
    out.try_reserve_exact(capacity.unwrap_or(0))
        .map_err(|_| Rejection::Busy)?;
    let mut reader = MultiGzDecoder::new(body).take(limit as u64 + 1);
    let mut part = [0; PART];
    loop {
        match reader.read(&mut part) {
            Ok(0) => return Ok(out.into()),
            Ok(count) if out.len() + count > limit => return Err(limits.decompressed_too_large()),
            Ok(count) => {
                let decompressed = part.get(..count).unwrap_or_default();
                reservation
                    .add(count)
                    .map_err(|BudgetExceeded| Rejection::Busy)?;
                out.extend_from_slice(decompressed);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(malformed("unexpected EOF"));
            }
            Err(error) => {
                let message = error.to_string();
                return Err(malformed(match message.as_str() {
                    text if text.contains("checksum") => "gzip: invalid checksum",
                    text if text.contains("header") => "gzip: invalid header",
                    text => text,
                }));
            }
        }
    }
}

/// Returns the size that the end of a body declares, at most 4 GiB. Returns `None` if the body cannot contain so much, because its
/// end is missing then.
fn size_in_trailer(body: &[u8]) -> Option<u64> {
    let size = u64::from(u32::from_le_bytes(*body.last_chunk()?));
    let max_size = (body.len() as u64).saturating_mul(MOST_COMPRESSED);
    (size <= max_size).then_some(size)
}

/// Compresses the body of a response, at a level from 0 to 9. It takes long if the body is large.
pub fn compress(response: Response, level: u32) -> Response {
    let body = Vec::with_capacity(response.body().len() / 4);
    let mut encoder = GzEncoder::new(body, Compression::new(level));
    let result = encoder.write_all(response.body());
    // writing to a vector does not fail
    let Ok(body) = result.and_then(|()| encoder.finish()) else {
        return response;
    };
    let response = response.map(|_| body.into());
    response.with_static(CONTENT_ENCODING, "gzip").varying()
}

/// Returns `true` if the value of an `Accept-Encoding` header accepts gzip by name, with a weight above 0.
pub fn accepts_gzip(header: &str) -> bool {
    header.split(',').any(|item| {
        let mut parts = item.split(';');
        let name = parts.next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case("gzip") && weight(parts).is_some_and(|weight| weight > 0.0)
    })
}

#[cfg(test)]
#[path = "../../../tests/server/unit/gzip.rs"]
mod tests;
