//! Bodies of answers.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use http_body_util::BodyExt;
use hyper::HeaderMap;
use hyper::body::Incoming;
use solon::host::{HttpError, HttpErrorKind, Wait};

use super::error;

/// Bytes that are unpacked between two looks at the clock.
const CHUNK: usize = 64 << 10;

fn failed(message: impl Into<String>) -> HttpError {
    HttpError::new(HttpErrorKind::Body, message)
}

fn too_large(limit: usize) -> HttpError {
    failed(format!("response body exceeds the limit of {limit} bytes"))
}

/// Whether a body is packed.
pub fn is_gzip(headers: &HeaderMap) -> bool {
    let encoding = headers.get(hyper::header::CONTENT_ENCODING);
    encoding.is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"gzip"))
}

/// The whole body, if it is not too large.
pub async fn read(mut body: Incoming, limit: usize) -> Result<Vec<u8>, HttpError> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|problem| failed(error::of_body(&problem)))?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > limit {
                return Err(too_large(limit));
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes)
}

/// A packed body, unpacked, if it is not too large then and does not take too long.
pub fn unpack(packed: &[u8], limit: usize, wait: &Wait<'_>) -> Result<Vec<u8>, HttpError> {
    let mut bytes = Vec::new();
    if packed.is_empty() {
        return Ok(bytes);
    }
    let mut reader = MultiGzDecoder::new(packed);
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = reader
            .read(&mut chunk)
            .map_err(|problem| match problem.kind() {
                std::io::ErrorKind::UnexpectedEof => failed("unexpected EOF"),
                _ => failed("gzip: invalid header"),
            })?;
        let Some(part) = chunk.get(..read).filter(|part| !part.is_empty()) else {
            return Ok(bytes);
        };
        if bytes.len() + part.len() > limit {
            return Err(too_large(limit));
        }
        bytes.extend_from_slice(part);
        if let Some(over) = wait.check_ended() {
            let mut error = HttpError::from(over);
            error.kind = HttpErrorKind::OverInBody(over);
            return Err(error);
        }
    }
}
