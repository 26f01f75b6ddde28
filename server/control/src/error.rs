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
    /// A lock or a connection of the database was not free in time; later it may be otherwise.
    Busy,
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
    /// The text of the database, for the log alone: it may contain values of other clients. Empty if there is none.
    pub detail: String,
}

impl Refusal {
    /// A refusal.
    pub fn new(kind: Refused, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            detail: String::new(),
        }
    }

    /// Names the item that could not be written, such as `bundle "b"`, and the field, if the database rejected it.
    #[must_use]
    pub fn about(mut self, item: impl fmt::Display, field: &str) -> Self {
        if self.detail.is_empty() {
            return self;
        }
        match self.kind {
            Refused::Conflict => self.message = format!("{item} {CONFLICT}"),
            Refused::TooLarge => self.message = format!("{field} of {item} {TOO_LARGE}"),
            _ => {}
        }
        self
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

/// What the message about an item says that the database rejected as conflicting.
const CONFLICT: &str = "conflicts with what is stored, such as another write at the same time; read it again and retry";

/// What the message about a field says that the database rejected as too large.
const TOO_LARGE: &str = "is larger than the database accepts";

impl From<DbError> for Refusal {
    fn from(error: DbError) -> Self {
        let (kind, message) = match &error {
            DbError::Unavailable(_) => (Refused::Unavailable, error.to_string()),
            DbError::Busy(_) => (Refused::Busy, error.to_string()),
            DbError::Conflict(_) => (Refused::Conflict, format!("the item {CONFLICT}")),
            DbError::TooLarge(_) => (Refused::TooLarge, format!("the body {TOO_LARGE}")),
            _ => (Refused::Internal, error.to_string()),
        };
        Self {
            kind,
            message,
            detail: error.to_string(),
        }
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
