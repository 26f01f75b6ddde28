//! Why something was not done, in the words of whoever asked for it.

use std::fmt;

use crate::db::DbError;

/// The kind of a refusal, which decides the status and the code of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The request is wrong.
    Invalid,
    /// Nobody is known by this key.
    Unknown,
    /// Whoever asks may not.
    Forbidden,
    /// There is nothing of that name.
    NotFound,
    /// The path has no such method.
    Method,
    /// It is in use, or somebody else's to change.
    Conflict,
    /// It is not as whoever asks believed.
    Precondition,
    /// It names what is not there.
    Reference,
    /// The body is too large.
    TooLarge,
    /// The database cannot be reached; later it may be otherwise.
    Unavailable,
    /// It is a fault of the service.
    Internal,
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its kind.
    pub kind: Refused,
    /// What is wrong.
    pub message: String,
}

impl Refusal {
    /// A refusal.
    pub fn new(kind: Refused, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// The request is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Refused::Invalid, message)
    }

    /// There is nothing of that name.
    pub fn not_found() -> Self {
        Self::new(Refused::NotFound, "not found")
    }

    /// Whoever asks may not.
    pub fn forbidden() -> Self {
        Self::new(Refused::Forbidden, "not authorized")
    }

    /// A fault of the service.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Refused::Internal, message)
    }
}

impl From<DbError> for Refusal {
    fn from(error: DbError) -> Self {
        let kind = match &error {
            DbError::Unavailable(_) => Refused::Unavailable,
            DbError::Conflict(_) => Refused::Conflict,
            DbError::TooLarge(_) => Refused::TooLarge,
            _ => Refused::Internal,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<jiff::Error> for Refusal {
    /// Times that no calendar has are never kept.
    fn from(error: jiff::Error) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<crate::model::Problems> for Refusal {
    fn from(problems: crate::model::Problems) -> Self {
        Self::invalid(problems.to_string())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
