//! Facts of requests for their spans.

use std::sync::Arc;

use super::header::HOST;
use super::{HttpBody as _, IncomingRequest, RequestInfo};
use crate::telemetry::SpanFacts;

pub fn span_facts(request: &IncomingRequest, route: String) -> SpanFacts<'_> {
    let info = request.extensions().get::<Arc<RequestInfo>>();
    let peer = info.map(|info| &*info.peer);
    let host = request.headers().get(HOST);
    let host = host.and_then(|host| host.to_str().ok());
    let authority = || request.uri().authority().map(http::uri::Authority::as_str);
    SpanFacts {
        method: request.method().as_str(),
        route,
        path: request.uri().path(),
        headers: request.headers(),
        host: host.or_else(authority).unwrap_or_default(),
        is_secure: peer.is_some_and(|peer| peer.is_secure),
        peer: peer.map_or("", |peer| &peer.address),
        version: match request.version() {
            http::Version::HTTP_2 => "2",
            http::Version::HTTP_10 => "1.0",
            _ => "1.1",
        },
        body: request.body().size_hint().exact(),
    }
}
