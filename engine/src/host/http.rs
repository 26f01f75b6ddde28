//! Requests and answers of HTTP as plain data.

use std::sync::Arc;

use super::wait::WaitError;

/// One exchange that a policy asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: String,
    /// The address as the policy gave it, without user and fragment.
    pub url: String,
    /// Whether it goes through TLS.
    pub secure: bool,
    /// Name or address of the host, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path and the query as they go over the wire.
    pub target: String,
    /// Unix socket to go through instead of the host.
    pub socket: Option<String>,
    /// The headers, `Host` among them.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Option<Vec<u8>>,
    /// How TLS is set up, where it differs from what is usual.
    pub tls: Option<Arc<Tls>>,
    /// Most bytes of the answer's body, after decompression.
    pub body_limit: usize,
}

/// How TLS is set up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tls {
    /// Who is trusted to name servers.
    pub trust: Trust,
    /// Who the client is.
    pub identity: Option<Identity>,
    /// The name that the server must prove; that of the URL unless given.
    pub server_name: Option<String>,
}

/// Who is trusted to name servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// These authorities, as DER, and those of the system if `system`.
    Authorities {
        /// The certificates.
        certificates: Vec<Vec<u8>>,
        /// Whether those of the system count too.
        system: bool,
    },
    /// Whoever answers.
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

/// A certificate, those that vouch for it, and its key.
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
        // the key is a secret
        f.debug_struct("Identity")
            .field("certificates", &self.certificates.len())
            .finish_non_exhaustive()
    }
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpResponse {
    /// Its status.
    pub status: u16,
    /// The words behind the status.
    pub reason: String,
    /// The headers, names as they came.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// An answer without headers and body.
    pub fn new(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    /// With words behind the status.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// With headers.
    #[must_use]
    pub fn headers(mut self, headers: Vec<(String, Vec<u8>)>) -> Self {
        self.headers = headers;
        self
    }

    /// With a body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpError {
    /// At which point.
    pub kind: HttpErrorKind,
    /// In words: `dial tcp 127.0.0.1:1: connect: connection refused`.
    pub message: String,
}

/// At which point an exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// Before anything was sent, by what was asked for.
    Setup,
    /// On the way to the answer's headers.
    Network,
    /// In the answer's body.
    Body,
    /// The wait was over before the headers came.
    Over(WaitError),
    /// The wait was over before the body came.
    OverInBody(WaitError),
    /// The host has no network: the evaluation ends, whatever the policy does with errors.
    NoNetwork,
}

impl HttpError {
    /// With a point and a text.
    pub fn new(kind: HttpErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// On the way to the answer's headers.
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
