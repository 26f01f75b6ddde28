//! Why a store refuses.

use std::fmt;

use super::Path;

/// A refused read or write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// `storage_not_found_error`
    NotFound {
        /// The path.
        path: String,
    },
    /// `storage_invalid_patch_error`
    InvalidPatch {
        /// What is wrong.
        message: String,
    },
    /// `storage_write_conflict_error`
    Conflict {
        /// The path, or what collided.
        message: String,
    },
}

impl StoreError {
    pub(super) fn not_found(path: &Path) -> Self {
        Self::NotFound {
            path: path.to_string(),
        }
    }

    /// The published code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "storage_not_found_error",
            Self::InvalidPatch { .. } => "storage_invalid_patch_error",
            Self::Conflict { .. } => "storage_write_conflict_error",
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { path } => {
                write!(f, "{}: {path}: document does not exist", self.code())
            }
            Self::InvalidPatch { message } | Self::Conflict { message } => {
                write!(f, "{}: {message}", self.code())
            }
        }
    }
}

impl std::error::Error for StoreError {}
