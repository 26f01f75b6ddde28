//! Errors of requests: kind, message and status.

use std::fmt;

use http::StatusCode;

/// The reason why a request has no response, or a response that is not usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// The step at which a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request or the configuration is not valid. Nothing was sent.
    Request,
    /// The credentials could not be read or obtained. Nothing was sent.
    Credentials,
    /// The name has no address, or the address, the socket or the proxy did not accept the connection.
    Connect,
    /// The rules for networks deny the address.
    Denied,
    /// The TLS handshake failed.
    Tls,
    /// The connection broke, or the server did not speak HTTP, before the head of the response was read.
    Exchange,
    /// A time-out expired.
    Timeout,
    /// The response is a redirect that is not followed.
    Redirect,
    /// The status of the response is not a success.
    Status(StatusCode),
    /// The connection broke within the body of the response.
    Body,
    /// The body of the response is larger than its bound.
    BodyTooLarge,
}

impl Error {
    /// Returns an error with a message: lower case, without a trailing period.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Returns the step that failed.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the message without the prefix that [`fmt::Display`] adds.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the status of a response that is not a success. `None` for every other kind of error.
    pub fn status(&self) -> Option<StatusCode> {
        match self.kind {
            ErrorKind::Status(status) => Some(status),
            _ => None,
        }
    }

    /// Returns `true` if the same request may succeed later without a change of the configuration: the connection failed, a time-out
    /// expired, or the status is 408, 425, 429 or 5xx.
    pub fn is_transient(&self) -> bool {
        match self.kind {
            ErrorKind::Connect | ErrorKind::Exchange | ErrorKind::Timeout | ErrorKind::Body => true,
            ErrorKind::Status(status) => {
                status.is_server_error() || [408, 425, 429].contains(&status.as_u16())
            }
            // files and token endpoints may be repaired at any time
            ErrorKind::Credentials => true,
            ErrorKind::Request
            | ErrorKind::Denied
            | ErrorKind::Tls
            | ErrorKind::Redirect
            | ErrorKind::BodyTooLarge => false,
        }
    }

    /// Adds the operation that failed before the message.
    #[must_use]
    pub fn within(mut self, operation: &str) -> Self {
        self.message = format!("{operation}: {}", self.message);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
