//! Private copies of repositories: of which repository a copy is, and with which credentials it may be used.
//!
//! A source may be deleted, and another owner may then create a source of the same name. Invariant: commits of a copy are used only for
//! the address that they were fetched from, and only after this process has connected to the repository with the same credentials.
//! Otherwise a pinned commit would give the new owner files of a repository without its credentials.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use super::Repository;
use crate::limits;
use crate::list_digest::ListDigest;

/// Name of the file in a copy that contains the digest of the address.
const ORIGIN: &str = "solon-origin";

/// The access with which this process has connected to repositories: a digest of the address and the credentials, by the private
/// folder of the source.
#[derive(Debug, Default)]
pub struct CheckedAccess(Mutex<HashMap<PathBuf, String>>);

impl CheckedAccess {
    /// Returns `true` if this process has connected to the repository of a source with its credentials.
    pub fn contains(&self, repository: &Repository<'_>) -> bool {
        let checked = self.0.lock();
        let digest = checked.get(repository.folder);
        digest.is_some_and(|digest| *digest == access_digest(repository))
    }

    /// Records that this process has connected to the repository of a source with its credentials.
    pub fn insert(&self, repository: &Repository<'_>) {
        let mut checked = self.0.lock();
        if checked.len() >= limits::CHECKED_REPOSITORIES {
            // removed sources leave entries
            checked.clear();
        }
        checked.insert(repository.folder.to_owned(), access_digest(repository));
    }
}

/// The digest stays in memory, because the secret could be guessed from it.
fn access_digest(repository: &Repository<'_>) -> String {
    let mut digest = ListDigest::new();
    digest.add(repository.git.repo.as_bytes());
    if let Some(secret) = repository.secret {
        digest.add(&secret.to_json());
    }
    digest.finish()
}

fn origin(address: &str) -> String {
    let mut digest = ListDigest::new();
    digest.add(address.as_bytes());
    digest.finish()
}

/// Returns `true` if a copy is of the repository with an address. Returns `false` if its origin cannot be read.
pub fn is_copy_of(bare: &Path, address: &str) -> bool {
    fs::read_to_string(bare.join(ORIGIN)).is_ok_and(|text| text == origin(address))
}

/// Records the address of the repository of a new copy.
///
/// # Errors
/// The file cannot be written.
pub fn record_origin(bare: &Path, address: &str) -> io::Result<()> {
    fs::write(bare.join(ORIGIN), origin(address))
}
