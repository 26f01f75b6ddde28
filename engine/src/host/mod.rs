//! The one way out: every effect of a policy goes through [`Host`].

mod cancel;
mod fixed;
mod http;
mod offline;
mod runtime;
mod wait;

pub use cancel::Cancel;
pub use fixed::FixedHost;
pub use http::{HttpError, HttpErrorKind, HttpRequest, HttpResponse, Identity, Tls, Trust};
pub use offline::OfflineHost;
pub use runtime::runtime_of;
pub use wait::{Reply, Wait, WaitError};

use std::net::IpAddr;

use crate::value::Value;

/// What a policy may ask of the world.
///
/// Calls that may take long are given a [`Wait`] and return when it is over, whatever became of the work.
///
/// ```
/// use std::sync::Arc;
/// use solon::{Engine, Host, Request};
///
/// struct Noon;
///
/// impl Host for Noon {
///     fn now_ns(&self) -> i64 {
///         12 * 3600 * 1_000_000_000
///     }
///
///     fn fill_random(&self, _: &mut [u8]) -> Result<(), String> {
///         Err("there is no chance here".to_owned())
///     }
/// }
///
/// let engine = Engine::builder().host(Arc::new(Noon)).build();
/// let query = engine.prepare_query("time.clock(time.now_ns()) = [12, 0, 0]")?;
/// assert_eq!(query.solutions(&Request::new())?.len(), 1);
/// # Ok::<(), solon::Error>(())
/// ```
pub trait Host: Send + Sync {
    /// Nanoseconds since the Unix epoch.
    fn now_ns(&self) -> i64;

    /// Fills a buffer with random bytes.
    ///
    /// # Errors
    /// Why there are none; it ends the evaluation.
    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), String>;

    /// What the program around the engine tells of itself (`opa.runtime`). Without an environment, `env` is empty.
    fn runtime(&self) -> Value {
        runtime_of([])
    }

    /// The addresses of a name.
    ///
    /// # Errors
    /// When there are none. [`LookupError::NoNetwork`], unless a host has its own, ends the evaluation.
    fn addresses(&self, name: &str, wait: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        let _ = (name, wait);
        Err(LookupError::NoNetwork)
    }

    /// Sends one request and reads the answer; redirections are answers.
    ///
    /// # Errors
    /// When there is no answer, or none within the bounds of the request. [`HttpErrorKind::NoNetwork`], unless a host has
    /// its own, ends the evaluation: undefined would be an answer.
    fn send(&self, request: &HttpRequest, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        let _ = (request, wait);
        Err(HttpError::new(HttpErrorKind::NoNetwork, NO_NETWORK))
    }

    /// A variable of the environment, for the certificates that requests name.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// A file, for the certificates that requests name.
    ///
    /// # Errors
    /// Why it cannot be read: `no such file or directory`.
    fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        let _ = path;
        Err("no such file or directory".to_owned())
    }
}

/// What is said where a policy asks for the network of a host that has none.
pub(crate) const NO_NETWORK: &str =
    "the host of this engine has no network; `solon_host::SystemHost` has one";

/// Why a name has no addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupError {
    /// There is no such name, or the resolver failed.
    Failed(String),
    /// The wait was over first.
    Over(WaitError),
    /// The host has no network to ask.
    NoNetwork,
}

impl From<WaitError> for LookupError {
    fn from(over: WaitError) -> Self {
        Self::Over(over)
    }
}
