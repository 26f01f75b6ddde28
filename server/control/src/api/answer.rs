//! Responses: their envelopes and headers.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde::Serialize;
use solon_syntax::json::lay_out;

use crate::limits;

/// A response before it is formatted.
pub struct Answer {
    status: StatusCode,
    kind: &'static str,
    text: Vec<u8>,
    etag: Option<String>,
}

impl Answer {
    /// Creates a response with a value as JSON.
    pub fn json<T: Serialize>(value: &T) -> Self {
        // only maps with keys other than strings fail, and responses contain none
        Self::text(serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec()))
    }

    /// Creates a response from JSON text.
    pub fn text(text: Vec<u8>) -> Self {
        Self {
            status: StatusCode::OK,
            kind: "application/json",
            text,
            etag: None,
        }
    }

    /// Creates a response with text of another content type.
    pub fn plain(kind: &'static str, text: String) -> Self {
        Self {
            kind,
            ..Self::text(text.into_bytes())
        }
    }

    /// Creates the response of a successful write.
    pub fn done() -> Self {
        Self::text(b"{}".to_vec())
    }

    /// Creates a response with one item, given as JSON text.
    pub fn result(text: &str) -> Self {
        Self::text([b"{\"result\":", text.as_bytes(), b"}"].concat())
    }

    /// Creates a response with a page of items, each given as JSON text.
    pub fn page<T: AsRef<str>>(items: &[T], next: Option<&str>) -> Self {
        let length: usize = items.iter().map(|item| item.as_ref().len() + 1).sum();
        let mut text = Vec::with_capacity(length + 64);
        text.extend_from_slice(b"{\"result\":[");
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                text.push(b',');
            }
            text.extend_from_slice(item.as_ref().as_bytes());
        }
        text.extend_from_slice(b"],\"next_cursor\":");
        match next {
            // a cursor needs no escapes
            Some(next) => text.extend_from_slice(format!("\"{next}\"").as_bytes()),
            None => text.extend_from_slice(b"null"),
        }
        text.push(b'}');
        Self::text(text)
    }

    /// Sets the `ETag` of the state that the response reports.
    #[must_use]
    pub fn tagged(mut self, tag: String) -> Self {
        self.etag = Some(tag);
        self
    }

    /// Returns the `ETag` of the state that the response reports.
    pub fn tag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    /// Returns the HTTP response, pretty-printed if `is_pretty` is set.
    pub fn response(self, is_pretty: bool) -> Response<Bytes> {
        let is_json = self.kind == "application/json";
        let mut text = self.text;
        if is_pretty && is_json {
            let mut lines = Vec::new();
            // a text whose pretty-printed length exceeds the limit stays on one line
            if lay_out(&text, 0, &mut lines, limits::PRETTY, |byte, out| {
                out.push(byte);
            }) {
                text = lines;
            }
        }
        if is_json {
            text.push(b'\n');
        }
        let mut response = Response::new(Bytes::from(text));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        // responses depend on the caller's permissions, and some contain data that others may not see
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let tag = self
            .etag
            .map(|tag| HeaderValue::from_str(&format!("\"{tag}\"")));
        if let Some(Ok(tag)) = tag {
            headers.insert(header::ETAG, tag);
        }
        response
    }
}
