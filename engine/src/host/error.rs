//! Errors of effects that are not requests.

use std::fmt;
use std::io;

/// The reason why [`Host::fill_random`](super::Host::fill_random) or [`Host::file`](super::Host::file) failed.
///
/// ```
/// use std::io::ErrorKind;
/// use solon::host::HostError;
///
/// let error = HostError::new(ErrorKind::PermissionDenied, "permission denied");
/// assert_eq!(error.kind(), ErrorKind::PermissionDenied);
/// assert_eq!(error.to_string(), "permission denied");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    kind: io::ErrorKind,
    message: String,
}

impl HostError {
    /// Creates an error with a message without the name of the file, such as `no such file or directory`. Errors of policies
    /// contain the message.
    pub fn new(kind: io::ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message }
    }

    /// Returns the kind of the error, for callers that handle some of them.
    pub fn kind(&self) -> io::ErrorKind {
        self.kind
    }

    /// Creates the error of a file that does not exist.
    pub(super) fn not_found() -> Self {
        Self::new(io::ErrorKind::NotFound, "no such file or directory")
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HostError {}
