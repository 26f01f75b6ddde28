//! Bodies as gzip.

use std::io::{self, Read as _, Write as _};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use http::header::CONTENT_ENCODING;
use hyper::body::Bytes;

use super::body::BodyLimits;
use super::budget::{Held, Spent};
use super::rejection::Rejection;
use super::response::{Response, ResponseExt as _};
use super::weight::weight;

/// Bytes that are decompressed at a time.
const PART: usize = 16 << 10;

/// Largest ratio of deflate: two bits repeat 258 bytes.
const MOST_COMPRESSED: u64 = 1032;

/// Decompresses a body within its limits. The result is added to what is `held`. A size declared by the body is believed only if it is
/// possible and too large, which saves the work.
///
/// # Errors
/// The body is not gzip, too large, or the memory budget is exhausted. The messages are those of Go's reader.
pub fn decompress(body: &[u8], limits: BodyLimits, held: &mut Held) -> Result<Bytes, Rejection> {
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
    let declared = declared(body);
    if declared.is_some_and(|size| size > limit as u64) {
        return Err(limits.decompressed_too_large());
    }
    let mut out = Vec::new();
    // in one piece: the allocator returns it to the system whichever thread frees it
    let capacity = declared.and_then(|size| usize::try_from(size).ok());
    out.try_reserve_exact(capacity.unwrap_or(0))
        .map_err(|_| Rejection::Busy)?;
    let mut reader = MultiGzDecoder::new(body).take(limit as u64 + 1);
    let mut part = [0; PART];
    loop {
        match reader.read(&mut part) {
            Ok(0) => return Ok(out.into()),
            Ok(count) if out.len() + count > limit => return Err(limits.decompressed_too_large()),
            Ok(count) => {
                let read = part.get(..count).unwrap_or_default();
                held.add(count).map_err(|Spent| Rejection::Busy)?;
                out.extend_from_slice(read);
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

/// Size that the end of a body declares, at most 4 GiB. `None` if the body cannot contain so much: its end is missing then.
fn declared(body: &[u8]) -> Option<u64> {
    let size = u64::from(u32::from_le_bytes(*body.last_chunk()?));
    let most = (body.len() as u64).saturating_mul(MOST_COMPRESSED);
    (size <= most).then_some(size)
}

/// Compresses the body of a response, at a level from 0 to 9. It takes long if the body is large.
pub fn compress(response: Response, level: u32) -> Response {
    let body = Vec::with_capacity(response.body().len() / 4);
    let mut encoder = GzEncoder::new(body, Compression::new(level));
    let written = encoder.write_all(response.body());
    // writing to a vector does not fail
    let Ok(body) = written.and_then(|()| encoder.finish()) else {
        return response;
    };
    let response = response.map(|_| body.into());
    response.with_static(CONTENT_ENCODING, "gzip").varying()
}

/// Returns `true` if the value of an `Accept-Encoding` header accepts gzip.
pub fn accepts_gzip(header: &str) -> bool {
    header.split(',').any(|item| {
        let mut parts = item.split(';');
        let name = parts.next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case("gzip") && weight(parts).is_some_and(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::{BodyLimits, Rejection, accepts_gzip, compress, decompress};
    use crate::http::budget::Budget;
    use crate::http::response::json;

    fn limits(decompressed: usize) -> BodyLimits {
        BodyLimits::new(0, decompressed)
    }

    fn gunzip(body: &[u8], limit: usize) -> Result<Vec<u8>, Rejection> {
        let mut held = Budget::new(usize::MAX).none();
        decompress(body, limits(limit), &mut held).map(Vec::from)
    }

    fn gzip(body: &[u8]) -> Vec<u8> {
        let response = compress(json(StatusCode::OK, body.to_vec()), 9);
        assert_eq!(response.headers()["content-encoding"], "gzip");
        response.into_body().into()
    }

    const TOO_LARGE: Rejection = Rejection::DecompressedTooLarge(5999);

    #[test]
    fn what_comes_out_is_held() {
        let packed = gzip("solon ".repeat(10_000).as_bytes());
        let budget = Budget::new(100_000);
        let mut held = budget.none();
        assert!(decompress(&packed, limits(70_000), &mut held).is_ok());
        assert!(
            (60_000..=70_000).contains(&budget.held()),
            "{}",
            budget.held()
        );
        let mut more = budget.none();
        assert_eq!(
            decompress(&packed, limits(70_000), &mut more),
            Err(Rejection::Busy)
        );
        drop((held, more));
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn both_ways() {
        let text = "solon ".repeat(1000);
        let packed = gzip(text.as_bytes());
        assert!(packed.len() < 200);
        assert_eq!(gunzip(&packed, 6000).unwrap(), text.as_bytes());
        assert_eq!(gunzip(&packed, 5999), Err(TOO_LARGE));
    }

    #[test]
    fn declared_sizes() {
        let mut packed = gzip("solon ".repeat(1000).as_bytes());
        let end = packed.len() - 4;
        // one that is too small ends nothing early: what is unpacked counts
        packed[end..].copy_from_slice(&[1, 0, 0, 0]);
        assert_eq!(gunzip(&packed, 5999), Err(TOO_LARGE));
        // one that is too large, and can be, is refused before anything is unpacked
        packed[end..].copy_from_slice(&6000_u32.to_le_bytes());
        packed[12..end].fill(0xff);
        assert_eq!(gunzip(&packed, 5999), Err(TOO_LARGE));
        let malformed = |body: &[u8]| matches!(gunzip(body, 5999), Err(Rejection::NotGzip(_)));
        // so much cannot be in it
        packed[end..].copy_from_slice(&[0xff; 4]);
        assert!(malformed(&packed));
        packed.truncate(20);
        assert!(malformed(&packed));
    }

    #[test]
    fn malformed() {
        let words = |body: &[u8]| match gunzip(body, 1000) {
            Err(Rejection::NotGzip(words)) => words,
            other => panic!("{other:?}"),
        };
        assert_eq!(words(b""), "EOF");
        assert_eq!(words(b"plain text here"), "gzip: invalid header");
        let packed = gzip(b"abc");
        assert_eq!(words(&packed[..packed.len() - 3]), "unexpected EOF");
        let mut other = packed.clone();
        let checksum = packed.len() - 8;
        other[checksum] ^= 1;
        assert_eq!(words(&other), "gzip: invalid checksum");
    }

    #[test]
    fn accepted() {
        for yes in ["gzip", "GZIP", "br, gzip;q=0.5", "deflate,gzip"] {
            assert!(accepts_gzip(yes), "{yes}");
        }
        for no in [
            "",
            "*",
            "x-gzip",
            "gzip;q=0",
            "br",
            "gzip; q=0.0",
            "gzip;q=x",
            "gzip;Q=0",
            "gzip;x=1;q=0",
        ] {
            assert!(!accepts_gzip(no), "{no}");
        }
    }
}
