//! Requests that are rejected before or instead of the response of a handler, with status, code and message of each rejection.

use std::borrow::Cow;

use http::StatusCode;

use crate::execution::NotRun;
use crate::net::ForeignName;

/// Reason for a rejection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The body is larger than `limit` bytes. `from_declaration` is its declared length.
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
    /// The handler panicked.
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
    /// Returns status, code and message.
    pub fn describe(&self) -> (StatusCode, &'static str, Cow<'static, str>) {
        let of = |status, code, message: &'static str| (status, code, Cow::Borrowed(message));
        let with = |status, code, message: String| (status, code, Cow::Owned(message));
        match self {
            Self::TooLarge { declared, limit } => {
                let declared = declared.map(|length| format!("{length} bytes "));
                let message = format!(
                    "request body too large: {}exceeds limit of {limit} bytes",
                    declared.unwrap_or_default()
                );
                with(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
            }
            Self::DecompressedTooLarge(limit) => with(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                format!("request body too large: decompressed size exceeds limit of {limit} bytes"),
            ),
            Self::TooLargeToAuthorize(limit) => with(
                StatusCode::PAYLOAD_TOO_LARGE,
                "request_too_large",
                format!(
                    "request body too large: the authorization policy depends on `input.body`, which exceeds the limit of {limit} \
                     bytes (--max-authorization-body)"
                ),
            ),
            Self::NotGzip(message) => with(
                StatusCode::BAD_REQUEST,
                "invalid_parameter",
                format!("could not decompress the body: {message}"),
            ),
            Self::Slow => of(
                StatusCode::REQUEST_TIMEOUT,
                "request_timeout",
                "the body did not come in time",
            ),
            Self::Broken => of(
                StatusCode::BAD_REQUEST,
                "invalid_parameter",
                "the body is not what its head says",
            ),
            Self::Host(message) => of(StatusCode::BAD_REQUEST, "invalid_parameter", message),
            Self::Foreign(ForeignName::Host(host)) if host.is_empty() => of(
                StatusCode::FORBIDDEN,
                "host_not_allowed",
                "the request names no host, which a server without authentication requires",
            ),
            Self::Foreign(ForeignName::Host(host)) => with(
                StatusCode::FORBIDDEN,
                "host_not_allowed",
                format!(
                    "host `{host}` is not allowed: a server without authentication accepts it only with --allowed-host"
                ),
            ),
            Self::Foreign(ForeignName::Origin(origin)) => with(
                StatusCode::FORBIDDEN,
                "host_not_allowed",
                format!(
                    "origin `{origin}` is not allowed: a server without authentication accepts its host only with --allowed-host"
                ),
            ),
            Self::Expectation => of(
                StatusCode::EXPECTATION_FAILED,
                "expectation_failed",
                "only `100-continue` can be expected",
            ),
            Self::TransferEncoding => of(
                StatusCode::NOT_IMPLEMENTED,
                "not_implemented",
                "unsupported transfer encoding",
            ),
            Self::Busy => of(
                StatusCode::SERVICE_UNAVAILABLE,
                "unavailable",
                "too much is being done at once",
            ),
            Self::WaitingIo(limit) => with(
                StatusCode::SERVICE_UNAVAILABLE,
                "unavailable",
                format!(
                    "too many decisions wait for `http.send` or other host calls: at most {limit} may (--max-waiting-io)"
                ),
            ),
            Self::Late => of(
                StatusCode::SERVICE_UNAVAILABLE,
                "unavailable",
                "the request took too long",
            ),
            Self::Panicked => of(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal_error",
                "internal error: a panic",
            ),
        }
    }
}
