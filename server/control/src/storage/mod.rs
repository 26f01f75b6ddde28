//! Storage of built bundles: archives in the database, in files and in object stores.
//!
//! | module | contains |
//! |---|---|
//! | `target` | the storage of one bundle. |
//! | `file` | archives in files. |
//! | `object` | archives in object stores. |
//! | `artifacts` | archives in the database and, with SQLite, next to it. |
//! | `archive` | reading of stored archives, piece by piece. |
//! | `watch` | notification of waiting downloads. |

mod archive;
mod artifacts;
mod file;
mod object;
mod target;
mod watch;

pub use archive::ArchiveReader;
pub use artifacts::ArtifactStore;
pub use target::{StorageOptions, StorageTarget};
pub use watch::{LongPoll, PublicationWatch};

use crate::model::{Failure, Phase, Status};

/// An archive to publish.
#[derive(Clone, Copy, Debug)]
pub struct Artefact<'a> {
    /// The gzip-compressed archive.
    pub archive: &'a [u8],
    /// The revision of the manifest.
    pub revision: &'a str,
    /// SHA-256 digest of the archive in hexadecimal.
    pub digest: &'a str,
}

/// Result of publishing that has not failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// The storage already had this archive.
    Unchanged,
    /// The archive was written to the storage.
    Stored,
}

fn push_failed(message: impl Into<String>) -> Failure {
    Failure {
        phase: Phase::Push,
        status: Status::PushFailed,
        message: message.into(),
    }
}

/// Returns the failure of a publisher that another one has overtaken.
fn overtaken(fence: u64, stored_fence: u64) -> Failure {
    push_failed(format!(
        "another instance has published a newer build: its fencing token is {stored_fence}, this one is {fence}"
    ))
}
