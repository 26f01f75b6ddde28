//! Responses: their envelopes and headers.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde::Serialize;
use solon_syntax::json::lay_out;

use super::body::Body;
use crate::limits;
use crate::storage::{ArchiveReader, LongPoll};

/// A response before it is formatted.
pub struct Answer {
    status: StatusCode,
    kind: &'static str,
    text: Vec<u8>,
    archive: Option<Archive>,
    etag: Option<String>,
}

struct Archive {
    reader: ArchiveReader,
    /// `Content-Range` if only a part is sent.
    range: Option<String>,
    waiting: Option<LongPoll>,
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
            archive: None,
            etag: None,
        }
    }

    /// Creates a response with an archive or, with a `Content-Range`, a part of it.
    pub fn archive(kind: &'static str, reader: ArchiveReader, range: Option<String>) -> Self {
        let status = if range.is_some() {
            StatusCode::PARTIAL_CONTENT
        } else {
            StatusCode::OK
        };
        Self {
            status,
            kind,
            archive: Some(Archive {
                reader,
                range,
                waiting: None,
            }),
            ..Self::text(Vec::new())
        }
    }

    /// Creates the response to a range outside of an archive of `size` bytes.
    pub fn unsatisfiable(size: u64, reader: ArchiveReader) -> Self {
        let range = Some(format!("bytes */{size}"));
        Self {
            status: StatusCode::RANGE_NOT_SATISFIABLE,
            ..Self::archive("application/gzip", reader, range)
        }
    }

    /// Sets what the client waits for if it has the archive already.
    #[must_use]
    pub fn waiting(mut self, long_poll: Option<LongPoll>) -> Self {
        if let Some(archive) = &mut self.archive {
            archive.waiting = long_poll;
        }
        self
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
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
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

    /// Returns the `ETag` of the state that the response reports, or `None` without one.
    pub fn tag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    /// Returns the HTTP response, pretty-printed if `is_pretty` is set. With `is_known`, the client has the state already and
    /// receives no body.
    pub fn response(mut self, is_pretty: bool, is_known: bool) -> Response<Body> {
        if is_known {
            self.status = StatusCode::NOT_MODIFIED;
        }
        let (kind, status) = (self.kind, self.status);
        let tag = self.etag.take();
        let archive = self.archive.take();
        let long_poll = archive.as_ref().and_then(|archive| archive.waiting.clone());
        let range = archive.as_ref().and_then(|archive| archive.range.clone());
        let is_archive = archive.is_some();
        let body = match archive {
            _ if is_known => Body::default(),
            Some(archive) => Body::Archive(archive.reader),
            None => Body::Whole(self.formatted(is_pretty)),
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        // responses depend on the caller's permissions, and some contain data that others may not see
        let caching = if is_archive {
            headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
            "private, no-cache"
        } else {
            "no-store"
        };
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
        let range = range.map(|range| HeaderValue::from_str(&range));
        if let Some(Ok(range)) = range
            && !is_known
        {
            headers.insert(header::CONTENT_RANGE, range);
        }
        let tag = tag.map(|tag| HeaderValue::from_str(&format!("\"{tag}\"")));
        if let Some(Ok(tag)) = tag {
            headers.insert(header::ETAG, tag);
        }
        if let Some(long_poll) = long_poll
            && is_known
        {
            response.extensions_mut().insert(long_poll);
        }
        response
    }

    /// Returns the text of the response.
    fn formatted(self, is_pretty: bool) -> Bytes {
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
        Bytes::from(text)
    }
}
