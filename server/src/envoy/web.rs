//! The service over HTTP: the checked request itself, with its method, target, headers and body.
//!
//! Proxies distinguish only some statuses: Envoy takes 200 for allowed and 5xx for an error, which it may pass on, and nginx takes
//! each 2xx for allowed. Therefore, a denied request has always a status from 300 to 499.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use envoy_types::pb::envoy::service::auth::v3::attribute_context::{HttpRequest, Request};
use envoy_types::pb::envoy::service::auth::v3::{AttributeContext, CheckRequest};
use http::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use tracing::warn;

use super::authorizer::{Authorizer, Caller, CheckOutcome};
use super::decision::Decision;
use super::input;
use crate::config::Bounds;
use crate::http::{
    App, BodyLimits, Budget, HttpBody as _, IncomingRequest, Rejection, RequestInfo, Response,
    ResponseExt as _, Status, read_body, response,
};

/// Header with the names of headers that Envoy removes from an allowed request.
static REMOVED: HeaderName = HeaderName::from_static("x-envoy-auth-headers-to-remove");

/// Responds to checked requests.
pub struct Web {
    authorizer: Arc<Authorizer>,
    budget: Budget,
    limits: BodyLimits,
    /// Maximum pause while a body is sent.
    more_within: Duration,
    error_status: Status,
}

impl Web {
    /// Creates the service. `receive_limit` is the maximum size of a body in bytes.
    pub fn new(
        authorizer: Arc<Authorizer>,
        budget: Budget,
        bounds: &Bounds,
        receive_limit: usize,
        error_status: u16,
    ) -> Self {
        Self {
            authorizer,
            budget,
            limits: BodyLimits::new(receive_limit, receive_limit),
            more_within: bounds.more_within,
            error_status: denial(error_status),
        }
    }

    async fn answer(&self, request: IncomingRequest) -> Result<Response, Rejection> {
        let (head, body) = request.into_parts();
        let mut reservation = self.budget.none();
        let bytes = if body.is_end_stream() {
            Bytes::new()
        } else {
            self.limits.check(&body)?;
            read_body(body, self.limits, self.more_within, &mut reservation).await?
        };
        let address = head
            .extensions
            .get::<Arc<RequestInfo>>()
            .map_or_else(String::new, |info| info.peer.address.clone());
        let check = check(&head, &bytes);
        let input = input::of_check(&check, &self.authorizer.parsing).await;
        let caller = Caller {
            headers: head.headers,
            address,
            timeout: None,
        };
        Ok(match self.authorizer.check(caller, input).await {
            CheckOutcome::Decided {
                decision,
                is_overridden,
                ..
            } => of_decision(decision, is_overridden),
            CheckOutcome::Malformed(cause) => {
                let text = format!("request_parse_error: {cause}\n");
                response::text(Status::BAD_REQUEST, TEXT, text)
            }
            CheckOutcome::Failed(_) => response::empty(self.error_status),
        })
    }
}

impl App for Web {
    async fn respond(&self, request: IncomingRequest) -> Response {
        match self.answer(request).await {
            Ok(response) => response,
            Err(rejection) => self.reject(rejection).closing(),
        }
    }

    fn reject(&self, rejection: Rejection) -> Response {
        let (status, _, message) = rejection.describe();
        response::text(denial(status.as_u16()), TEXT, format!("{message}\n"))
    }

    fn responded(&self, _: &RequestInfo, _: &Response, _: Duration) {}
}

const TEXT: &str = "text/plain; charset=utf-8";

/// Returns a status that every proxy takes for a denial: the given one, or 403.
fn denial(status: u16) -> Status {
    Status::from_u16(status)
        .ok()
        .filter(|status| status.is_redirection() || status.is_client_error())
        .unwrap_or(Status::FORBIDDEN)
}

/// Returns a request over HTTP in the form of a check. Repeated headers are joined by commas.
fn check(head: &http::request::Parts, body: &[u8]) -> CheckRequest {
    let mut headers = HashMap::<String, String>::with_capacity(head.headers.len());
    for (name, value) in &head.headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        headers
            .entry(name.as_str().to_owned())
            .and_modify(|existing| {
                existing.push(',');
                existing.push_str(&value);
            })
            .or_insert_with(|| value.clone().into_owned());
    }
    let target = head.uri.path_and_query();
    let host = head.headers.get(HOST).map(HeaderValue::as_bytes);
    let (text, raw) = match std::str::from_utf8(body) {
        Ok(text) => (text.to_owned(), Vec::new()),
        Err(_) => (String::new(), body.to_vec()),
    };
    let http = HttpRequest {
        method: head.method.as_str().to_owned(),
        path: target.map_or_else(String::new, |target| target.as_str().to_owned()),
        host: String::from_utf8_lossy(host.unwrap_or_default()).into_owned(),
        headers,
        protocol: format!("{:?}", head.version),
        size: i64::try_from(body.len()).unwrap_or(i64::MAX),
        body: text,
        raw_body: raw,
        ..HttpRequest::default()
    };
    CheckRequest {
        attributes: Some(AttributeContext {
            request: Some(Request {
                http: Some(http),
                ..Request::default()
            }),
            ..AttributeContext::default()
        }),
    }
}

fn of_decision(decision: Decision, is_overridden: bool) -> Response {
    if is_overridden {
        return response::empty(Status::OK);
    }
    let (status, body) = if decision.is_allowed {
        (Status::OK, String::new())
    } else {
        let status = decision.http_status.map_or(Status::FORBIDDEN, denial);
        (status, decision.body.unwrap_or_default())
    };
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let mut pairs = decision.headers;
    pairs.extend(decision.response_headers_to_add);
    if !decision.request_headers_to_remove.is_empty() {
        let names = decision.request_headers_to_remove.join(", ");
        pairs.push((REMOVED.as_str().to_owned(), names));
    }
    for (name, value) in pairs {
        if !add_header(response.headers_mut(), &name, &value) {
            warn!(
                header = name,
                "A decision has an invalid header, so the request is denied."
            );
            return response::empty(Status::FORBIDDEN);
        }
    }
    response
}

/// Adds a header. Returns `false` if it is invalid, or belongs to the framing of the response.
fn add_header(headers: &mut HeaderMap, name: &str, value: &str) -> bool {
    const FRAMING: [&str; 3] = ["connection", "content-length", "transfer-encoding"];
    let name = HeaderName::from_bytes(name.as_bytes()).ok();
    let name = name.filter(|name| !FRAMING.contains(&name.as_str()));
    match (name, HeaderValue::from_str(value)) {
        (Some(name), Ok(value)) => {
            headers.append(name, value);
            true
        }
        _ => false,
    }
}
