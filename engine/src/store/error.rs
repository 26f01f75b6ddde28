//! Errors of a store, with the codes of OPA's storage.

use std::fmt;

use super::Path;

/// The reason why a read or a write was rejected. `Display` begins with the code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// `storage_not_found_error`: a document or an array element does not exist.
    NotFound {
        /// The path.
        path: String,
        /// Error of an array index on the path, or `None` if the document does not exist.
        index: Option<&'static str>,
    },
    /// `storage_invalid_patch_error`
    InvalidPatch {
        /// Description of the error, with the index of the operation in a patch.
        message: String,
    },
    /// `storage_internal_error`: the store itself failed.
    Internal {
        /// Description of the failure.
        message: String,
    },
    /// `storage_write_conflict_error`: a document and a rule would have the same path, or a parent is not an object.
    Conflict {
        /// The path, or the conflicting documents.
        message: String,
    },
}

impl StoreError {
    pub(super) fn not_found(path: &Path) -> Self {
        Self::NotFound {
            path: path.to_string(),
            index: None,
        }
    }

    pub(super) fn bad_index(path: &Path, index: &'static str) -> Self {
        Self::NotFound {
            path: path.to_string(),
            index: Some(index),
        }
    }

    pub(super) fn invalid_patch(message: impl Into<String>) -> Self {
        let message = message.into();
        Self::InvalidPatch { message }
    }

    /// Returns OPA's code, such as `storage_not_found_error`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "storage_not_found_error",
            Self::InvalidPatch { .. } => "storage_invalid_patch_error",
            Self::Conflict { .. } => "storage_write_conflict_error",
            Self::Internal { .. } => "storage_internal_error",
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { path, index } => {
                let problem = index.unwrap_or("document does not exist");
                write!(f, "{}: {path}: {problem}", self.code())
            }
            Self::InvalidPatch { message }
            | Self::Conflict { message }
            | Self::Internal { message } => {
                write!(f, "{}: {message}", self.code())
            }
        }
    }
}

impl std::error::Error for StoreError {}
