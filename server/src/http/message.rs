//! A request and a response as handlers see them.

use std::sync::Arc;
use std::time::Instant;

use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Uri};
use solon::Cancel;

use super::{Params, Place};

pub use hyper::StatusCode as Status;

/// A whole request.
pub struct Request {
    /// Its number within this process, from 1.
    pub id: u64,
    /// `GET`, `POST`, …; case counts.
    pub method: Method,
    /// The target.
    pub target: Uri,
    /// How much of the path belongs to the route; the rest is the handler's.
    pub routed: usize,
    /// The query parameters.
    pub params: Params,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// Who sent it: an address with a port; empty when the socket knows none.
    pub client: Arc<str>,
    /// Stops evaluations once nobody waits for the answer.
    pub cancel: Cancel,
    /// Where this request is being answered.
    pub place: Place,
    /// When it was read.
    pub received: Instant,
}

impl Request {
    /// The path as it was sent, escapes and all.
    pub fn path(&self) -> &str {
        self.target.path()
    }

    /// What follows the route in the path, escapes and all, without the slash between.
    /// Nothing where the route is no part of it, which cannot be: the root would be another document.
    pub fn below(&self) -> Option<&str> {
        let rest = self.path().get(self.routed..)?;
        Some(rest.strip_prefix('/').unwrap_or(rest))
    }

    /// The text of a header; empty when it is missing or no text.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or("")
    }

    /// Whether the answer is to be formatted for humans.
    pub fn pretty(&self) -> bool {
        self.params.flag("pretty")
    }

    /// Whether the body is declared as YAML.
    pub fn is_yaml(&self) -> bool {
        self.header("content-type").contains("yaml")
    }
}

/// A whole response.
pub struct Response {
    /// The status.
    pub status: Status,
    /// The headers; the length is added when it is sent.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// A status without a body.
    pub fn empty(status: Status) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// JSON text with a line end already behind it.
    pub fn json(status: Status, body: Vec<u8>) -> Self {
        let json = HeaderValue::from_static("application/json");
        Self {
            status,
            headers: vec![(hyper::header::CONTENT_TYPE, json)],
            body,
        }
    }

    /// Text of another kind.
    pub fn text(status: Status, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let kind = HeaderValue::from_static(kind);
        Self {
            status,
            headers: vec![(hyper::header::CONTENT_TYPE, kind)],
            body: body.into(),
        }
    }

    /// Elsewhere. A place that cannot stand in a header is left out.
    pub fn redirect(status: Status, to: &str) -> Self {
        Self::empty(status).with("location", to)
    }

    /// With a header. A value that cannot stand in a header is left out.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((HeaderName::from_static(name), value));
        }
        self
    }
}
