//! Errors of operations, with messages for the client.

use std::fmt;

use crate::db::DbError;

/// The kind of an error, which decides the status and the code of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiErrorKind {
    /// The request is invalid, and fails again if it is repeated.
    Invalid,
    /// The key of the caller is missing or unknown, or has expired.
    Unknown,
    /// The caller lacks a permission.
    Forbidden,
    /// No item has this name.
    NotFound,
    /// The path does not support the method.
    Method,
    /// The item is in use, or another owner manages it.
    Conflict,
    /// The state does not match the precondition of the request.
    Precondition,
    /// A referenced item does not exist.
    Reference,
    /// The body, or a value of it, exceeds a limit.
    TooLarge,
    /// The database cannot be reached. A later attempt may succeed.
    Unavailable,
    /// A lock or a connection of the database was not free in time. A later attempt may succeed.
    Busy,
    /// An internal error. The client only learns that the log says more.
    Internal,
}

/// The error of an operation. Everything that the operation wrote is rolled back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// Decides the status and the code of the response.
    pub kind: ApiErrorKind,
    /// The message for the client. It contains no secret.
    pub message: String,
    /// The message of the database, only for the log because it may contain values of other clients. Empty if there is
    /// none.
    pub detail: String,
}

impl ApiError {
    /// Creates an error without a detail for the log.
    pub fn new(kind: ApiErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            detail: String::new(),
        }
    }

    /// Adds the name of the item that could not be written, such as `bundle "b"`, and the field, if the database rejected
    /// it.
    #[must_use]
    pub fn about(mut self, item: impl fmt::Display, field: &str) -> Self {
        if self.detail.is_empty() {
            return self;
        }
        match self.kind {
            ApiErrorKind::Conflict => self.message = format!("{item} {CONFLICT}"),
            ApiErrorKind::TooLarge => self.message = format!("{field} of {item} {TOO_LARGE}"),
            _ => {}
        }
        self
    }

    /// Creates an error for an invalid request, which has status 400.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ApiErrorKind::Invalid, message)
    }

    /// Creates an error for a missing item.
    pub fn not_found() -> Self {
        Self::new(ApiErrorKind::NotFound, "not found")
    }

    /// Creates an error for a missing permission.
    pub fn forbidden() -> Self {
        Self::new(ApiErrorKind::Forbidden, "not authorized")
    }

    /// Creates an internal error. `message` is for the log; the client does not get it.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ApiErrorKind::Internal, message)
    }
}

/// Message for an item that the database rejected because of a conflict.
const CONFLICT: &str = "conflicts with what is stored, such as another write at the same time; read it again and retry";

/// Message for a field that the database rejected as too large.
const TOO_LARGE: &str = "is larger than the database accepts";

impl From<DbError> for ApiError {
    fn from(error: DbError) -> Self {
        let (kind, message) = match &error {
            DbError::Unavailable(_) | DbError::NotReady(_) => {
                (ApiErrorKind::Unavailable, error.to_string())
            }
            DbError::Busy(_) => (ApiErrorKind::Busy, error.to_string()),
            DbError::Conflict(_) => (ApiErrorKind::Conflict, format!("the item {CONFLICT}")),
            DbError::TooLarge(_) => (ApiErrorKind::TooLarge, format!("the body {TOO_LARGE}")),
            _ => (ApiErrorKind::Internal, error.to_string()),
        };
        Self {
            kind,
            message,
            detail: error.to_string(),
        }
    }
}

impl From<jiff::Error> for ApiError {
    /// An internal error: timestamps outside of the calendar's range are never stored.
    fn from(error: jiff::Error) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<crate::model::Problems> for ApiError {
    fn from(problems: crate::model::Problems) -> Self {
        Self::invalid(problems.to_string())
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}
