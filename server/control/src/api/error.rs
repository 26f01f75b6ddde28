//! Errors: the only module that maps them to a status and a body.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};

use super::answer::Answer;
use super::body::Body;
use crate::error::{ApiError, ApiErrorKind};

impl ApiError {
    fn status(&self) -> (StatusCode, &'static str) {
        match self.kind {
            ApiErrorKind::Invalid => (StatusCode::BAD_REQUEST, "invalid_parameter"),
            ApiErrorKind::Unknown => (StatusCode::UNAUTHORIZED, ""),
            ApiErrorKind::Forbidden => (StatusCode::FORBIDDEN, "not_authorized"),
            ApiErrorKind::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            ApiErrorKind::Method => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            ApiErrorKind::Conflict => (StatusCode::CONFLICT, "conflict"),
            ApiErrorKind::Precondition => (StatusCode::PRECONDITION_FAILED, "precondition_failed"),
            ApiErrorKind::Reference => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_reference"),
            ApiErrorKind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            ApiErrorKind::Unavailable | ApiErrorKind::Busy => {
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
            }
            ApiErrorKind::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        }
    }

    /// Logs the details that the response omits.
    pub(super) fn log(&self, request: &str) {
        let is_failure = matches!(
            self.kind,
            ApiErrorKind::Internal | ApiErrorKind::Unavailable | ApiErrorKind::Busy
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

    pub(super) fn response(&self) -> Response<Body> {
        let (status, code) = self.status();
        let mut response = if self.kind == ApiErrorKind::Unknown {
            let mut response = Response::new(Body::Whole(Bytes::from_static(b"Unauthorized")));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            response
        } else {
            // details of internal errors are logged, not sent to the client
            let message = match self.kind {
                ApiErrorKind::Internal => "the service failed; its log says more",
                ApiErrorKind::Unavailable => "the database is unavailable; retry later",
                ApiErrorKind::Busy => "the database is busy with other writes; retry later",
                ApiErrorKind::Method => "the path has no such method",
                _ => &self.message,
            };
            let body = serde_json::json!({ "code": code, "message": message });
            Answer::json(&body).response(true, false)
        };
        // the message lists the methods
        if self.kind == ApiErrorKind::Method
            && let Ok(methods) = HeaderValue::from_str(&self.message)
        {
            response.headers_mut().insert(header::ALLOW, methods);
        }
        if matches!(self.kind, ApiErrorKind::Unavailable | ApiErrorKind::Busy) {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        *response.status_mut() = status;
        response
    }
}
