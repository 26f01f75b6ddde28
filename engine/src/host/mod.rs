//! The host environment: every external effect of a policy goes through [`Host`].

mod cancel;
mod error;
mod fixed;
mod http;
mod offline;
mod runtime;
mod wait;

pub use cancel::Cancel;
pub use error::HostError;
pub use fixed::FixedHost;
pub use http::{HttpError, HttpErrorKind, HttpRequest, HttpResponse, Identity, Tls, Trust};
pub use offline::OfflineHost;
pub use runtime::runtime_of;
pub use wait::{Reply, Wait, WaitError};

use std::fmt;
use std::net::IpAddr;

use crate::value::Value;

/// The environment of an engine: clock, random source, network, environment variables, files.
///
/// Calls that may take long receive a [`Wait`] and must return when it ends, even if the work is not finished.
///
/// ```
/// use std::io::ErrorKind;
/// use std::sync::Arc;
/// use solon::host::HostError;
/// use solon::{Engine, Host, Request};
///
/// struct Noon;
///
/// impl Host for Noon {
///     fn now_ns(&self) -> i64 {
///         12 * 3600 * 1_000_000_000
///     }
///
///     fn fill_random(&self, _: &mut [u8]) -> Result<(), HostError> {
///         Err(HostError::new(ErrorKind::Unsupported, "no random source"))
///     }
/// }
///
/// let engine = Engine::builder().host(Arc::new(Noon)).build();
/// let query = engine.prepare_query("time.clock(time.now_ns()) = [12, 0, 0]")?;
/// assert_eq!(query.solutions(&Request::new())?.len(), 1);
/// # Ok::<(), solon::Error>(())
/// ```
pub trait Host: Send + Sync {
    /// Returns nanoseconds since the Unix epoch.
    fn now_ns(&self) -> i64;

    /// Fills a buffer with random bytes.
    ///
    /// # Errors
    /// The host has no random source, or it failed. The error ends the evaluation, and the content of the buffer is not used.
    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError>;

    /// Returns facts about the surrounding program (`opa.runtime`). Without an environment, `env` is empty.
    fn runtime(&self) -> Value {
        runtime_of([])
    }

    /// Returns the addresses of a name.
    ///
    /// # Errors
    /// If there are none. [`LookupError::NoNetwork`] ends the evaluation, as in the default implementation.
    fn addresses(&self, name: &str, wait: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        let _ = (name, wait);
        Err(LookupError::NoNetwork)
    }

    /// Sends a request and returns the response. Redirections are returned, not followed.
    ///
    /// # Errors
    /// If no response arrives within the limits of the request. [`HttpErrorKind::NoNetwork`] ends the evaluation, as
    /// in the default implementation: an undefined result could be mistaken for a decision.
    fn send(&self, request: &HttpRequest, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        let _ = (request, wait);
        Err(HttpError::new(HttpErrorKind::NoNetwork, NO_NETWORK))
    }

    /// Returns an environment variable, for the certificates that requests name.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Reads a file, for the certificates that requests name.
    ///
    /// # Errors
    /// The file cannot be read. The error of `http.send` contains the message. The default implementation has no files.
    fn file(&self, path: &str) -> Result<Vec<u8>, HostError> {
        let _ = path;
        Err(HostError::not_found())
    }
}

/// Error message if a policy uses the network of a host that has none.
pub(crate) const NO_NETWORK: &str =
    "the host of this engine has no network; `solon_host::SystemHost` has one";

/// The reason why a name has no addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupError {
    /// The name does not exist, or the resolver failed.
    Failed(String),
    /// The wait ended first.
    Over(WaitError),
    /// The host has no network, so that every name fails.
    NoNetwork,
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(message) => f.write_str(message),
            Self::Over(over) => over.fmt(f),
            Self::NoNetwork => f.write_str(NO_NETWORK),
        }
    }
}

impl std::error::Error for LookupError {}

impl From<WaitError> for LookupError {
    fn from(over: WaitError) -> Self {
        Self::Over(over)
    }
}
