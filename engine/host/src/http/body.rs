//! Response bodies: limits on their size, and decompression.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use solon::host::{HttpError, HttpErrorKind, Wait};

/// Bytes that are decompressed between two checks of the clock.
const CHUNK: usize = 64 << 10;

fn failed(message: impl Into<String>) -> HttpError {
    HttpError::new(HttpErrorKind::Body, message)
}

fn too_large(limit: usize) -> HttpError {
    failed(format!("response body exceeds the limit of {limit} bytes"))
}

/// Returns `true` if the body is compressed with gzip alone. Other encodings are not decoded.
pub fn is_gzip(headers: &HeaderMap) -> bool {
    let encoding = headers.get(CONTENT_ENCODING);
    encoding.is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"gzip"))
}

/// Decompresses a body. Fails if the result exceeds `limit` or if `wait` ends.
pub fn unpack(packed: &[u8], limit: usize, wait: &Wait<'_>) -> Result<Vec<u8>, HttpError> {
    let mut bytes = Vec::new();
    if packed.is_empty() {
        return Ok(bytes);
    }
    let mut reader = MultiGzDecoder::new(packed);
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = reader
            .read(&mut chunk)
            .map_err(|problem| match problem.kind() {
                std::io::ErrorKind::UnexpectedEof => failed("unexpected EOF"),
                _ => failed("gzip: invalid header"),
            })?;
        let Some(part) = chunk.get(..length).filter(|part| !part.is_empty()) else {
            return Ok(bytes);
        };
        if bytes.len() + part.len() > limit {
            return Err(too_large(limit));
        }
        bytes.extend_from_slice(part);
        if let Some(wait_error) = wait.check_ended() {
            let mut error = HttpError::from(wait_error);
            error.kind = HttpErrorKind::OverInBody(wait_error);
            return Err(error);
        }
    }
}
