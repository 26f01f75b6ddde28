//! Responses with complete bodies.

use std::fmt::Write as _;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, VARY};
use http::{Method, StatusCode};

/// A response before it is sent.
pub type Response = http::Response<Bytes>;

/// Returns a response without a body.
pub fn empty(status: StatusCode) -> Response {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}

pub fn text(status: StatusCode, media: &'static str, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.with_static(CONTENT_TYPE, media)
}

pub fn json(status: StatusCode, body: Vec<u8>) -> Response {
    text(status, "application/json", body)
}

/// Returns a response with a body of JSON text under another media type.
pub fn json_as(media: &str, status: StatusCode, body: Vec<u8>) -> Response {
    json(status, body).with(CONTENT_TYPE, media)
}

/// Returns a redirection. Bytes that are not ASCII are escaped as in Go: with lower-case digits.
pub fn redirect(status: StatusCode, to: &str) -> Response {
    let mut location = String::with_capacity(to.len());
    for byte in to.bytes() {
        if byte.is_ascii() {
            location.push(char::from(byte));
        } else {
            // writing to a string does not fail
            let _ = write!(location, "%{byte:02x}");
        }
    }
    empty(status).with(LOCATION, &location)
}

/// Modifications of responses.
pub trait ResponseExt: Sized {
    /// Adds or replaces a header, unless the value is not a valid header value.
    #[must_use]
    fn with(self, name: HeaderName, value: &str) -> Self;
    /// Adds or replaces a header.
    #[must_use]
    fn with_static(self, name: HeaderName, value: &'static str) -> Self;
    /// Declares that the response depends on `Accept-Encoding`.
    #[must_use]
    fn varying(self) -> Self {
        self.with_static(VARY, "Accept-Encoding")
    }
    /// Closes the connection after the response.
    #[must_use]
    fn closing(self) -> Self {
        self.with_static(CONNECTION, "close")
    }
    /// Prepares the response for a request with this method: for HEAD it has the length of the body, but not the body.
    #[must_use]
    fn to_method(self, method: &Method) -> Self;
}

impl ResponseExt for Response {
    fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers_mut().insert(name, value);
        }
        self
    }

    fn with_static(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers_mut()
            .insert(name, HeaderValue::from_static(value));
        self
    }

    fn to_method(mut self, method: &Method) -> Self {
        if method == Method::HEAD {
            let length = HeaderValue::from(self.body().len());
            let headers = self.headers_mut();
            headers
                .entry(http::header::CONTENT_LENGTH)
                .or_insert(length);
            // hyper would send it over HTTP/2
            *self.body_mut() = Bytes::new();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use http::{Method, StatusCode};

    use super::{ResponseExt as _, json, redirect};

    #[test]
    fn locations_are_ascii() {
        let response = redirect(StatusCode::MOVED_PERMANENTLY, "/v1/data/é%2F?a=b c");
        assert_eq!(response.headers()["location"], "/v1/data/%c3%a9%2F?a=b c");
    }

    #[test]
    fn heads_have_the_length_of_the_body() {
        let response = json(StatusCode::OK, b"{}\n".to_vec()).to_method(&Method::HEAD);
        assert_eq!(response.headers()["content-length"], "3");
        assert!(response.body().is_empty());
    }
}
