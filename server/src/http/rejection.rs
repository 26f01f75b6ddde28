//! Requests that are rejected before or instead of the response of a handler, with status, code and message of each rejection.

use std::borrow::Cow;

use http::StatusCode;

use crate::execution::NotRun;
use crate::net::ForeignName;

/// Reason for a rejection before a handler is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The body is larger than `limit` bytes. `declared` is the length that its header declares.
    TooLarge { declared: Option<u64>, limit: usize },
    /// The decompressed body is larger than this number of bytes.
    DecompressedTooLarge(usize),
    /// The body is larger than this number of bytes, the limit for the authorization policy.
    TooLargeToAuthorize(usize),
    /// The body is not valid gzip: the message of Go's reader.
    NotGzip(String),
    /// The body did not arrive in time.
    Slow,
    /// The framing of the body is invalid.
    Broken,
    /// The request has no `Host`, several, or an invalid one.
    Host(&'static str),
    /// The request names a host or an origin that is not allowed.
    Foreign(ForeignName),
    /// The request has an `Expect` header other than `100-continue`.
    Expectation,
    /// The transfer encoding is not `chunked`. A proxy may assume a different end of the body.
    TransferEncoding,
    /// The server is overloaded.
    Busy,
    /// More decisions than this number wait for host calls.
    WaitingIo(usize),
    /// The time limit of the request passed before its evaluation started.
    Late,
    /// The handler panicked. The log has the message.
    Panicked,
}

impl From<NotRun> for Rejection {
    fn from(error: NotRun) -> Self {
        match error {
            NotRun::Full => Self::Busy,
            NotRun::Late => Self::Late,
            NotRun::Panicked => Self::Panicked,
            NotRun::WaitingIo(limit) => Self::WaitingIo(limit),
        }
    }
}

impl Rejection {
    /// Returns status, code and message of the response.
    pub fn describe(&self) -> (StatusCode, &'static str, Cow<'static, str>) {
        let (status, code) = self.status_and_code();
        (status, code, self.message())
    }

    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::TooLarge { .. } | Self::DecompressedTooLarge(_) => {
                (StatusCode::PAYLOAD_TOO_LARGE, "too_large")
            }
            Self::TooLargeToAuthorize(_) => (StatusCode::PAYLOAD_TOO_LARGE, "request_too_large"),
            Self::NotGzip(_) | Self::Broken | Self::Host(_) => {
                (StatusCode::BAD_REQUEST, "invalid_parameter")
            }
            Self::Slow => (StatusCode::REQUEST_TIMEOUT, "request_timeout"),
            Self::Foreign(_) => (StatusCode::FORBIDDEN, "host_not_allowed"),
            Self::Expectation => (StatusCode::EXPECTATION_FAILED, "expectation_failed"),
            Self::TransferEncoding => (StatusCode::NOT_IMPLEMENTED, "not_implemented"),
            Self::Busy | Self::WaitingIo(_) | Self::Late => {
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
            }
            Self::Panicked => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        }
    }

    fn message(&self) -> Cow<'static, str> {
        let text = match self {
            Self::TooLarge {
                declared: declared_length,
                limit,
            } => {
                let length_text = declared_length.map(|length| format!("{length} bytes "));
                let length_text = length_text.unwrap_or_default();
                format!("request body too large: {length_text}exceeds limit of {limit} bytes")
            }
            Self::DecompressedTooLarge(limit) => {
                format!("request body too large: decompressed size exceeds limit of {limit} bytes")
            }
            Self::TooLargeToAuthorize(limit) => format!(
                "request body too large: the authorization policy depends on `input.body`, which exceeds the limit of {limit} \
                 bytes (--max-authorization-body)"
            ),
            Self::NotGzip(message) => format!("could not decompress the body: {message}"),
            Self::Foreign(ForeignName::Host(host)) if host.is_empty() => {
                return "the request names no host, which a server without authentication requires"
                    .into();
            }
            Self::Foreign(ForeignName::Host(host)) => format!(
                "host `{host}` is not allowed: a server without authentication accepts it only with --allowed-host"
            ),
            Self::Foreign(ForeignName::Origin(origin)) => format!(
                "origin `{origin}` is not allowed: a server without authentication accepts its host only with --allowed-host"
            ),
            Self::WaitingIo(limit) => format!(
                "too many decisions wait for `http.send` or other host calls: at most {limit} may (--max-waiting-io)"
            ),
            Self::Slow => return "the body did not come in time".into(),
            Self::Broken => return "the body is not what its head says".into(),
            Self::Host(message) => return (*message).into(),
            Self::Expectation => return "only `100-continue` can be expected".into(),
            Self::TransferEncoding => return "unsupported transfer encoding".into(),
            Self::Busy => return "too much is being done at once".into(),
            Self::Late => return "the request took too long".into(),
            Self::Panicked => return "internal error: a panic".into(),
        };
        text.into()
    }
}
