//! Bodies as gzip.

use std::io::{self, Read as _, Write as _};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use hyper::body::Bytes;

use super::budget::{Held, Spent};
use super::weight::weight;

/// Bytes that are unpacked at a time.
const PART: usize = 16 << 10;

/// Bytes that a byte of a packed body can stand for: two bits of deflate repeat 258 bytes at most.
const MOST_PACKED: u64 = 1032;

/// Why a body was not unpacked.
#[derive(Debug, PartialEq, Eq)]
pub enum GzipError {
    /// It is no gzip, or not all of it; in the words of Go's reader.
    Malformed(String),
    /// It unpacks to more than is read.
    TooLarge,
    /// All connections together hold too much.
    Full,
}

/// Unpacks a body to at most `limit` bytes. What it declares about its size is believed when that is too much and can be,
/// which spares unpacking it, and never when it is little. What comes out is added to what is `held`.
pub fn gunzip(body: &[u8], limit: usize, held: &mut Held) -> Result<Bytes, GzipError> {
    let malformed = |words: &str| GzipError::Malformed(words.to_owned());
    if body.is_empty() {
        return Err(malformed("EOF"));
    }
    if !body.starts_with(&[0x1f, 0x8b]) {
        let short = body.len() < 10;
        return Err(malformed(if short {
            "unexpected EOF"
        } else {
            "gzip: invalid header"
        }));
    }
    if declared(body).is_some_and(|size| size > limit as u64) {
        return Err(GzipError::TooLarge);
    }
    let mut out = Vec::new();
    let mut reader = MultiGzDecoder::new(body).take(limit as u64 + 1);
    let mut part = [0; PART];
    loop {
        match reader.read(&mut part) {
            Ok(0) => return Ok(out.into()),
            Ok(count) if out.len() + count > limit => return Err(GzipError::TooLarge),
            Ok(count) => {
                let read = part.get(..count).unwrap_or_default();
                held.append(&mut out, read, limit)
                    .map_err(|Spent| GzipError::Full)?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(malformed("unexpected EOF"));
            }
            Err(error) => {
                let words = error.to_string();
                return Err(malformed(match words.as_str() {
                    words if words.contains("checksum") => "gzip: invalid checksum",
                    words if words.contains("header") => "gzip: invalid header",
                    words => words,
                }));
            }
        }
    }
}

/// The size that the end of a body declares, at most 4 GiB, if so much can be in it: otherwise these bytes are something
/// else, since the end is missing.
fn declared(body: &[u8]) -> Option<u64> {
    let size = u64::from(u32::from_le_bytes(*body.last_chunk()?));
    let most = (body.len() as u64).saturating_mul(MOST_PACKED);
    (size <= most).then_some(size)
}

/// Packs a body by a level from 0 to 9; `None` where that fails, as writing to a vector never should.
pub fn gzip(body: &[u8], level: u32) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::new(level));
    encoder.write_all(body).ok()?;
    encoder.finish().ok()
}

/// Whether the value of an `Accept-Encoding` header takes gzip.
pub fn accepts_gzip(header: &str) -> bool {
    header.split(',').any(|item| {
        let mut parts = item.split(';');
        let name = parts.next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case("gzip") && weight(parts).is_some_and(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::{GzipError, accepts_gzip};
    use crate::http::budget::Budget;

    fn gunzip(body: &[u8], limit: usize) -> Result<Vec<u8>, GzipError> {
        let unpacked = super::gunzip(body, limit, &mut Budget::new(usize::MAX).none());
        unpacked.map(Vec::from)
    }

    fn gzip(body: &[u8]) -> Option<Vec<u8>> {
        super::gzip(body, 9)
    }

    #[test]
    fn what_comes_out_is_held() {
        let packed = gzip("solon ".repeat(10_000).as_bytes()).unwrap();
        let budget = Budget::new(100_000);
        let mut held = budget.none();
        assert!(super::gunzip(&packed, 70_000, &mut held).is_ok());
        assert!(
            (60_000..=70_000).contains(&budget.held()),
            "{}",
            budget.held()
        );
        let mut more = budget.none();
        assert_eq!(
            super::gunzip(&packed, 70_000, &mut more),
            Err(GzipError::Full)
        );
        drop((held, more));
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn both_ways() {
        let text = "solon ".repeat(1000);
        let packed = gzip(text.as_bytes()).unwrap();
        assert!(packed.len() < 200);
        assert_eq!(gunzip(&packed, 6000).unwrap(), text.as_bytes());
        assert_eq!(gunzip(&packed, 5999), Err(GzipError::TooLarge));
    }

    #[test]
    fn declared_sizes() {
        let mut packed = gzip("solon ".repeat(1000).as_bytes()).unwrap();
        let end = packed.len() - 4;
        // one that is too small ends nothing early: what is unpacked counts
        packed[end..].copy_from_slice(&[1, 0, 0, 0]);
        assert_eq!(gunzip(&packed, 5999), Err(GzipError::TooLarge));
        // one that is too large, and can be, is refused before anything is unpacked
        packed[end..].copy_from_slice(&6000_u32.to_le_bytes());
        packed[12..end].fill(0xff);
        assert_eq!(gunzip(&packed, 5999), Err(GzipError::TooLarge));
        let malformed = |body: &[u8]| matches!(gunzip(body, 5999), Err(GzipError::Malformed(_)));
        // so much cannot be in it
        packed[end..].copy_from_slice(&[0xff; 4]);
        assert!(malformed(&packed));
        packed.truncate(20);
        assert!(malformed(&packed));
    }

    #[test]
    fn malformed() {
        let words = |body: &[u8]| match gunzip(body, 1000) {
            Err(GzipError::Malformed(words)) => words,
            other => panic!("{other:?}"),
        };
        assert_eq!(words(b""), "EOF");
        assert_eq!(words(b"plain text here"), "gzip: invalid header");
        let packed = gzip(b"abc").unwrap();
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
