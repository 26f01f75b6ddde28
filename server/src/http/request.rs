//! Requests: data of the server in addition to [`http::Request`], and validation of their heads.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{
    AsHeaderName, CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HOST, HeaderName, HeaderValue,
    TRANSFER_ENCODING,
};
use http::{HeaderMap, Method, Uri, Version};
use hyper::body::Incoming;
use solon::{Cancel, Value};

use super::params::Params;
use super::rejection::Rejection;
use crate::net::{AllowedHosts, Certificates};
use crate::telemetry::{RequestSpan, is_traced};

/// A request with an unread body.
pub type IncomingRequest = http::Request<Incoming>;

/// A request with its whole body.
pub type BufferedRequest = http::Request<Bytes>;

/// Header with the id that a client gives a request.
pub static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The client of a connection.
#[derive(Default)]
pub struct Peer {
    /// Address with port. Empty for Unix sockets.
    pub address: String,
    /// Certificate chain of the client, its own first.
    pub certificates: Certificates,
    /// Parsed `certificates`. They are parsed at most once.
    pub certificates_read: OnceLock<Option<Value>>,
    /// `true` if only health and metrics are served.
    pub is_diagnostic: bool,
    /// `true` if the connection uses TLS.
    pub is_secure: bool,
    /// Address of the server that the client has connected to.
    pub local: Option<IpAddr>,
    /// Hosts that its requests may name; `None` allows all.
    pub hosts: Option<Arc<AllowedHosts>>,
    /// A host that `hosts` has accepted. Clients repeat it in each request of a connection.
    pub accepted_host: OnceLock<Box<str>>,
}

/// Data of a request that outlives its head. An extension of the request.
#[derive(Default)]
pub struct RequestInfo {
    /// Number within this process, from 1.
    pub id: u64,
    /// Id that the client gave the request.
    pub name: Option<HeaderValue>,
    pub method: Method,
    pub target: Uri,
    pub params: Params,
    /// The client, shared by the requests of a connection.
    pub peer: Arc<Peer>,
    /// Stops evaluations when the client has gone.
    pub cancel: Cancel,
    /// Time at which the head was read.
    pub received: Option<Instant>,
    /// End of the time that the request may take, `None` without a time limit.
    pub deadline: Option<Instant>,
    /// Length of the part of the path that belongs to its route, once the route is known.
    pub route_length: OnceLock<usize>,
}

impl RequestInfo {
    /// Collects the data of a request and adds it to the extensions.
    pub fn from_parts<B>(
        request: &mut http::Request<B>,
        id: u64,
        peer: Arc<Peer>,
        time_limit: Option<Duration>,
    ) -> Arc<Self> {
        let received = Instant::now();
        let info = Arc::new(Self {
            id,
            name: request.headers().get(&REQUEST_ID).cloned(),
            method: request.method().clone(),
            params: request.uri().query().map(Params::parse).unwrap_or_default(),
            target: request.uri().clone(),
            peer,
            cancel: Cancel::default(),
            received: Some(received),
            deadline: time_limit.and_then(|limit| received.checked_add(limit)),
            route_length: OnceLock::new(),
        });
        request.extensions_mut().insert(info.clone());
        info
    }

    /// Returns the id that the client gave the request, for logs, or `None` if it gave none.
    pub fn given_name(&self) -> Option<&str> {
        let name = self.name.as_ref()?.to_str().ok()?;
        (!name.is_empty()).then_some(name)
    }

    /// Returns the path as it was sent, not decoded and not normalized.
    pub fn path(&self) -> &str {
        self.target.path()
    }

    /// Returns the time at which the head was read.
    pub fn received(&self) -> Instant {
        self.received.unwrap_or_else(Instant::now)
    }

    /// Returns the rest of the time limit; `None` without one.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Returns `true` if the time limit has passed.
    pub fn is_late(&self) -> bool {
        self.time_left()
            .is_some_and(|remaining| remaining.is_zero())
    }
}

/// Body as parsed for the authorization policy. An extension of a request.
#[derive(Clone)]
pub struct ParsedBody(pub Value);

/// Access to the data that handlers need.
pub trait RequestExt {
    /// Returns the server's data about the request.
    fn info(&self) -> &RequestInfo;
    /// Returns the path as it was sent, not decoded and not normalized.
    fn path(&self) -> &str;
    /// Returns the part of the path below its route, encoded and without the slash between them. Returns `None` if the route is not
    /// a prefix of the path, which is a bug: the root would be a different document.
    fn rest_of_path(&self) -> Option<&str>;
    /// Returns the body if the authorization policy has read it.
    fn parsed_body(&self) -> Option<&Value>;
    /// Returns the span of the request, or `None` if it is not traced.
    fn span(&self) -> Option<&RequestSpan>;
    /// Returns the text of a header; empty if it is missing or not text.
    fn header(&self, name: impl AsHeaderName) -> &str;
    /// Returns the query parameters, decoded.
    fn params(&self) -> &Params {
        &self.info().params
    }
    /// Returns `true` if the client requests indented JSON.
    fn pretty(&self) -> bool {
        self.params().flag("pretty")
    }
    /// Returns `true` if the body is declared as YAML.
    fn is_yaml(&self) -> bool {
        self.header(CONTENT_TYPE).contains("yaml")
    }
    /// Returns `true` if the body is compressed with gzip.
    fn is_compressed(&self) -> bool {
        self.header(CONTENT_ENCODING).contains("gzip")
    }
}

impl<B> RequestExt for http::Request<B> {
    fn info(&self) -> &RequestInfo {
        /// Used only by tests, which handle requests that were not created by [`RequestInfo::from_parts`].
        static NONE: LazyLock<RequestInfo> = LazyLock::new(RequestInfo::default);
        let info = self.extensions().get::<Arc<RequestInfo>>();
        info.map_or(&NONE, |info| &**info)
    }

    fn path(&self) -> &str {
        self.uri().path()
    }

    fn rest_of_path(&self) -> Option<&str> {
        let length = self.info().route_length.get()?;
        let rest = self.path().get(*length..)?;
        Some(rest.strip_prefix('/').unwrap_or(rest))
    }

    fn parsed_body(&self) -> Option<&Value> {
        self.extensions().get().map(|ParsedBody(value)| value)
    }

    fn span(&self) -> Option<&RequestSpan> {
        // without tracing the extensions are not searched
        is_traced().then(|| self.extensions().get()).flatten()
    }

    fn header(&self, name: impl AsHeaderName) -> &str {
        let value = self.headers().get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}

/// Checks requirements of HTTP for a head that hyper does not check.
///
/// # Errors
/// Fails if the request is rejected.
pub fn check_head(headers: &HeaderMap, version: Version) -> Result<(), Rejection> {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if version == Version::HTTP_11 => {
            return Err(Rejection::Host("missing required Host header"));
        }
        // a proxy may have used the other one
        (Some(_), Some(_)) => return Err(Rejection::Host("too many Host headers")),
        (Some(host), None) if !host.as_bytes().iter().all(|&byte| is_of_host(byte)) => {
            return Err(Rejection::Host("malformed Host header"));
        }
        _ => {}
    }
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    if let Some(coding) = codings.next()
        && (!coding.as_bytes().eq_ignore_ascii_case(b"chunked") || codings.next().is_some())
    {
        return Err(Rejection::TransferEncoding);
    }
    let expects = headers.get(EXPECT).map(HeaderValue::as_bytes);
    match expects {
        None | Some(b"") => Ok(()),
        Some(expects) if expects.eq_ignore_ascii_case(b"100-continue") => Ok(()),
        Some(_) => Err(Rejection::Expectation),
    }
}

/// Returns `true` if a byte is valid in a host or its port.
fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!$%&'()*+,-.:;=[]_~".contains(&byte)
}

#[cfg(test)]
#[path = "../../../tests/server/unit/request.rs"]
mod tests;
