//! HTTP requests and responses as plain data.

use std::sync::Arc;

use super::wait::WaitError;

/// A request of a policy, after its options were checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The method, in upper case.
    pub method: String,
    /// The URL as the policy gave it, without user and fragment.
    pub url: String,
    /// `true` for `https`.
    pub secure: bool,
    /// Name or address of the server, without brackets.
    pub host: String,
    /// The port of the URL, or that of its scheme.
    pub port: u16,
    /// The path and the query as they are sent.
    pub target: String,
    /// Unix socket to connect to instead of the server.
    pub socket: Option<String>,
    /// The headers, including `Host`. Names may be repeated.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body. `None` sends none.
    pub body: Option<Vec<u8>>,
    /// TLS settings, if they differ from the default.
    pub tls: Option<Arc<Tls>>,
    /// Maximum size of the response's body in bytes, after decompression.
    pub body_limit: usize,
}

/// TLS settings of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tls {
    /// Certificate authorities that may issue server certificates.
    pub trust: Trust,
    /// The client's certificate.
    pub identity: Option<Identity>,
    /// The name that the server's certificate must have. Default: that of the URL.
    pub server_name: Option<String>,
}

/// Certificate authorities that may issue server certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// These authorities, and those of the system if `system`.
    Authorities {
        /// The certificates of the authorities as DER.
        certificates: Vec<Vec<u8>>,
        /// `true` to trust those of the system, too.
        system: bool,
    },
    /// Any certificate is accepted.
    Anyone,
}

impl Default for Trust {
    fn default() -> Self {
        Self::Authorities {
            certificates: Vec::new(),
            system: true,
        }
    }
}

/// A certificate, its issuers, and its private key.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// The certificates as DER, the client's own first.
    pub certificates: Vec<Vec<u8>>,
    /// The private key as PEM.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // the key is secret
        f.debug_struct("Identity")
            .field("certificates", &self.certificates.len())
            .finish_non_exhaustive()
    }
}

/// A response, received completely.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpResponse {
    /// Status code of HTTP.
    pub status: u16,
    /// Reason phrase of the status line.
    pub reason: String,
    /// The headers, with names as received.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// Creates a response without headers and body.
    pub fn new(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    /// Sets the reason phrase of the status line.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// Sets the headers. Replaces earlier ones.
    #[must_use]
    pub fn headers(mut self, headers: Vec<(String, Vec<u8>)>) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the body. Replaces an earlier one.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}

/// Reason for a missing response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpError {
    /// The phase in which the request failed.
    pub kind: HttpErrorKind,
    /// Message, for example `dial tcp 127.0.0.1:1: connect: connection refused`.
    pub message: String,
}

/// The phase in which a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// Before anything was sent: the request is not valid.
    Setup,
    /// Before the response's headers were received.
    Network,
    /// While the response's body was received.
    Body,
    /// The wait ended before the headers were received.
    Over(WaitError),
    /// The wait ended before the body was received.
    OverInBody(WaitError),
    /// The host has no network. This ends the evaluation, even if the policy handles errors of requests.
    NoNetwork,
}

impl HttpError {
    /// Creates an error with a phase and a message.
    pub fn new(kind: HttpErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Creates an error of the network before the response's headers were received.
    pub fn network(message: impl Into<String>) -> Self {
        Self::new(HttpErrorKind::Network, message)
    }
}

impl From<WaitError> for HttpError {
    fn from(over: WaitError) -> Self {
        let message = match over {
            WaitError::TimedOut => "context deadline exceeded",
            WaitError::Cancelled => "context canceled",
            WaitError::Disconnected => "the client is gone",
        };
        Self::new(HttpErrorKind::Over(over), message)
    }
}
