//! Spans of requests: those that clients send, and those that this process sends.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, ContextGuard, KeyValue};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use parking_lot::Mutex;
use solon_outbound::observe::{ObserveExchanges, ObservedExchange};

use super::spans::tracing;

/// Facts of a request, for the attributes of its span.
pub struct SpanFacts<'a> {
    pub method: &'a str,
    /// Route: the path with a placeholder for variable segments.
    pub route: String,
    /// Path as it was sent, not decoded.
    pub path: &'a str,
    pub headers: &'a HeaderMap,
    pub host: &'a str,
    pub is_secure: bool,
    /// Address and port of the client; empty for sockets.
    pub peer: &'a str,
    /// Version of HTTP: `1.1` or `2`.
    pub version: &'static str,
    /// Size of the body in bytes, if it is known.
    pub body: Option<u64>,
}

/// Span of a request of a client. Clones share it.
#[derive(Clone)]
pub struct RequestSpan {
    context: Context,
    decision: Arc<Mutex<Option<String>>>,
}

impl RequestSpan {
    /// Begins a span, or returns `None` if tracing is off or the path is excluded. It continues the trace of the header
    /// `traceparent`.
    pub fn begin<'f>(path: &str, facts: impl FnOnce() -> SpanFacts<'f>) -> Option<Self> {
        let tracing = tracing()?;
        if tracing.excludes(path) {
            return None;
        }
        let facts = facts();
        let parent = TraceContextPropagator::new()
            .extract_with_context(&Context::new(), &ReceivedHeaders(facts.headers));
        let name = format!("{} {}", facts.method, facts.route);
        let builder = tracing.tracer.span_builder(name);
        let builder = builder
            .with_kind(SpanKind::Server)
            .with_attributes(attributes(&facts));
        let span = tracing.tracer.build_with_context(builder, &parent);
        Some(Self {
            context: parent.with_span(span),
            decision: Arc::default(),
        })
    }

    /// Begins the span of a check, within the trace of its headers. Returns `None` if requests are not traced.
    #[cfg(feature = "envoy")]
    pub fn begin_call(name: &'static str, headers: &HeaderMap) -> Option<Self> {
        let tracing = tracing()?;
        let parent = TraceContextPropagator::new()
            .extract_with_context(&Context::new(), &ReceivedHeaders(headers));
        let builder = tracing.tracer.span_builder(name);
        let builder = builder.with_kind(SpanKind::Server);
        let span = tracing.tracer.build_with_context(builder, &parent);
        Some(Self {
            context: parent.with_span(span),
            decision: Arc::default(),
        })
    }

    /// Makes the span the parent of requests that this thread sends, until the result is dropped.
    pub fn attach(&self) -> ContextGuard {
        self.context.clone().attach()
    }

    /// Returns the span in the format of the header `traceparent`.
    pub fn trace_parent(&self) -> String {
        InjectedHeaders::from_context(&self.context).trace_parent()
    }

    /// Returns the ids of the trace and of the span, in hexadecimal digits.
    pub fn ids(&self) -> (String, String) {
        let span = self.context.span();
        let context = span.span_context();
        (
            context.trace_id().to_string(),
            context.span_id().to_string(),
        )
    }

    /// Sets the id of the decision that the request has made.
    pub fn decided(&self, id: &str) {
        *self.decision.lock() = Some(id.to_owned());
    }

    /// Ends the span with a response. A status of 500 or more marks it as failed.
    pub fn end(&self, status: u16, body: usize) {
        let span = self.context.span();
        if let Some(id) = self.decision.lock().take() {
            span.set_attribute(KeyValue::new("opa.decision_id", id));
        }
        if body > 0 {
            span.set_attribute(KeyValue::new("http.response.body.size", number(body)));
        }
        span.set_attribute(KeyValue::new(STATUS_CODE, i64::from(status)));
        if status >= 500 {
            span.set_status(Status::error(""));
        }
        span.end();
    }

    /// Ends the span of a check. An error marks it as failed.
    #[cfg(feature = "envoy")]
    pub fn end_call(&self, error: Option<&str>) {
        let span = self.context.span();
        if let Some(id) = self.decision.lock().take() {
            span.set_attribute(KeyValue::new("opa.decision_id", id));
        }
        if let Some(error) = error {
            span.set_status(Status::error(error.to_owned()));
        }
        span.end();
    }
}

const STATUS_CODE: &str = "http.response.status_code";

fn number(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// Splits an address into host and port. An IPv6 address loses its brackets; a port that is not a number stays part of the
/// host.
fn host_and_port(address: &str) -> (&str, Option<i64>) {
    let split = address.rsplit_once(':');
    let split = split.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    let (host, port) = split.map_or((address, None), |(host, port)| (host, Some(port)));
    (host.trim_matches(['[', ']']), port.map(i64::from))
}

fn attributes(facts: &SpanFacts<'_>) -> Vec<KeyValue> {
    let mut all = Vec::with_capacity(16);
    let (server, server_port) = host_and_port(facts.host);
    let (peer, peer_port) = host_and_port(facts.peer);
    let text = |name| {
        let value = facts.headers.get::<&str>(name);
        value
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    };
    let forwarded = text("x-forwarded-for");
    let forwarded = forwarded.split(',').next().unwrap_or_default().trim();
    let client = if forwarded.is_empty() {
        peer
    } else {
        forwarded
    };
    let scheme = if facts.is_secure { "https" } else { "http" };
    for (name, value) in [
        ("server.address", server),
        ("http.request.method", facts.method),
        ("url.scheme", scheme),
        ("network.peer.address", peer),
        ("user_agent.original", text("user-agent")),
        ("client.address", client),
        ("url.path", facts.path),
        ("network.protocol.version", facts.version),
        ("http.route", facts.route.as_str()),
    ] {
        if !value.is_empty() {
            all.push(KeyValue::new(name, value.to_owned()));
        }
    }
    let numbers = [
        ("server.port", server_port),
        ("network.peer.port", peer_port),
        (
            "http.request.body.size",
            facts
                .body
                .and_then(|size| i64::try_from(size).ok())
                .filter(|size| *size > 0),
        ),
    ];
    for (name, value) in numbers {
        if let Some(value) = value {
            all.push(KeyValue::new(name, value));
        }
    }
    all
}

/// Span of a request that this process sends. It ends when it is dropped.
pub struct ClientSpan(Context);

impl ClientSpan {
    /// Begins a span, or returns `None` if tracing is off. Its parent is the span that is attached to this thread, if there is one.
    pub fn begin(method: &str, url: &str) -> Option<Self> {
        let tracing = tracing()?;
        let uri: Uri = url.parse().unwrap_or_default();
        let is_secure = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let attributes = vec![
            KeyValue::new("http.request.method", method.to_owned()),
            KeyValue::new("url.full", without_user(url)),
            KeyValue::new("server.address", host.to_owned()),
            KeyValue::new("server.port", i64::from(port)),
        ];
        let builder = tracing.tracer.span_builder(format!("HTTP {method}"));
        let builder = builder
            .with_kind(SpanKind::Client)
            .with_attributes(attributes);
        let parent = Context::current();
        let span = tracing.tracer.build_with_context(builder, &parent);
        Some(Self(parent.with_span(span)))
    }

    /// Returns the headers that continue the trace.
    pub fn headers(&self) -> Vec<(String, String)> {
        InjectedHeaders::from_context(&self.0).0
    }

    /// Sets the status of the response. A status of 400 or more marks the span as failed.
    pub fn responded(&self, status: u16) {
        let span = self.0.span();
        span.set_attribute(KeyValue::new(STATUS_CODE, i64::from(status)));
        if status >= 400 {
            span.set_attribute(KeyValue::new("error.type", status.to_string()));
            span.set_status(Status::error(""));
        }
    }

    /// Sets the error of an exchange without a response.
    pub fn failed(&self, error: &str) {
        let span = self.0.span();
        span.set_attribute(KeyValue::new("error.type", "_OTHER"));
        span.set_status(Status::error(error.to_owned()));
    }
}

/// Returns a URL without user and password. Returns other texts unchanged.
fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// Traces the requests to services, without a parent.
#[derive(Debug)]
struct ServiceObserver;

/// Returns the observer of the clients of services. It costs an atomic load while tracing is off.
pub fn observer() -> Arc<dyn ObserveExchanges> {
    Arc::new(ServiceObserver)
}

impl ObserveExchanges for ServiceObserver {
    fn begin(
        &self,
        method: &str,
        url: &Uri,
        headers: &mut HeaderMap,
    ) -> Option<Box<dyn ObservedExchange>> {
        let span = ClientSpan::begin(method, &url.to_string())?;
        for (name, value) in span.headers() {
            let name = HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
                headers.insert(name, value);
            }
        }
        Some(Box::new(span))
    }
}

impl ObservedExchange for ClientSpan {
    fn end(self: Box<Self>, result: Result<u16, &str>) {
        match result {
            Ok(status) => self.responded(status),
            Err(error) => self.failed(error),
        }
    }
}

/// Headers that a trace is read from.
struct ReceivedHeaders<'a>(&'a HeaderMap);

impl Extractor for ReceivedHeaders<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}

/// Name of the header with the trace and the parent of a span.
pub(super) const PARENT: &str = "traceparent";

/// Headers that continue a trace.
pub(super) struct InjectedHeaders(pub Vec<(String, String)>);

impl InjectedHeaders {
    /// Returns the headers that continue a span.
    pub fn from_context(context: &Context) -> Self {
        let mut headers = Self(Vec::new());
        TraceContextPropagator::new().inject_context(context, &mut headers);
        headers
    }

    /// Returns the value of `traceparent`, or an empty text if there is none.
    pub fn trace_parent(&self) -> String {
        self.get(PARENT).unwrap_or_default().to_owned()
    }
}

impl Extractor for InjectedHeaders {
    fn get(&self, key: &str) -> Option<&str> {
        let field = self.0.iter().find(|(name, _)| name == key);
        field.map(|(_, value)| value.as_str())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }
}

impl Injector for InjectedHeaders {
    fn set(&mut self, key: &str, value: String) {
        // an empty `tracestate` is not sent
        if !value.is_empty() {
            self.0.push((key.to_owned(), value));
        }
    }
}
