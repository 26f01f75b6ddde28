//! Errors: the only module that maps them to a status and a body.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};

use super::answer::Answer;
use super::body::Body;
use crate::error::{Refusal, Refused};

impl Refusal {
    fn status(&self) -> (StatusCode, &'static str) {
        match self.kind {
            Refused::Invalid => (StatusCode::BAD_REQUEST, "invalid_parameter"),
            Refused::Unknown => (StatusCode::UNAUTHORIZED, ""),
            Refused::Forbidden => (StatusCode::FORBIDDEN, "not_authorized"),
            Refused::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Refused::Method => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Refused::Conflict => (StatusCode::CONFLICT, "conflict"),
            Refused::Precondition => (StatusCode::PRECONDITION_FAILED, "precondition_failed"),
            Refused::Reference => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_reference"),
            Refused::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            Refused::Unavailable | Refused::Busy => {
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
            }
            Refused::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        }
    }

    /// Logs the details that the response omits.
    pub(super) fn log(&self, request: &str) {
        let is_failure = matches!(
            self.kind,
            Refused::Internal | Refused::Unavailable | Refused::Busy
        );
        if is_failure {
            tracing::error!(request, error = self.message, "a request failed");
        } else if !self.detail.is_empty() {
            tracing::warn!(
                request,
                error = self.detail,
                "the database rejected a request"
            );
        }
    }

    /// Returns the response of the error.
    pub(super) fn response(&self) -> Response<Body> {
        let (status, code) = self.status();
        let mut response = if self.kind == Refused::Unknown {
            let mut response = Response::new(Body::Whole(Bytes::from_static(b"Unauthorized")));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            response
        } else {
            // details of internal errors are logged, not sent to the client
            let message = match self.kind {
                Refused::Internal => "the service failed; its log says more",
                Refused::Unavailable => "the database is unavailable; retry later",
                Refused::Busy => "the database is busy with other writes; retry later",
                Refused::Method => "the path has no such method",
                _ => &self.message,
            };
            let body = serde_json::json!({ "code": code, "message": message });
            Answer::json(&body).response(true, false)
        };
        // the message lists the methods
        if self.kind == Refused::Method
            && let Ok(methods) = HeaderValue::from_str(&self.message)
        {
            response.headers_mut().insert(header::ALLOW, methods);
        }
        if matches!(self.kind, Refused::Unavailable | Refused::Busy) {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        *response.status_mut() = status;
        response
    }
}
