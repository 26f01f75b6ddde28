//! Compression and decompression of bodies, and their limits.

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
fn decompressed_bytes_are_reserved() {
    let packed = gzip("solon ".repeat(10_000).as_bytes());
    let budget = Budget::new(100_000);
    let mut held = budget.none();
    assert!(decompress(&packed, limits(70_000), &mut held).is_ok());
    assert!(
        (60_000..=70_000).contains(&budget.reserved()),
        "{}",
        budget.reserved()
    );
    let mut more = budget.none();
    assert_eq!(
        decompress(&packed, limits(70_000), &mut more),
        Err(Rejection::Busy)
    );
    drop((held, more));
    assert_eq!(budget.reserved(), 0);
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
    // a declared size that is too small has no effect: the decompressed bytes count
    packed[end..].copy_from_slice(&[1, 0, 0, 0]);
    assert_eq!(gunzip(&packed, 5999), Err(TOO_LARGE));
    // a declared size that is too large but possible is rejected before decompression
    packed[end..].copy_from_slice(&6000_u32.to_le_bytes());
    packed[12..end].fill(0xff);
    assert_eq!(gunzip(&packed, 5999), Err(TOO_LARGE));
    let malformed = |body: &[u8]| matches!(gunzip(body, 5999), Err(Rejection::NotGzip(_)));
    // such a compression ratio is impossible
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
