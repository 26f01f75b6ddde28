//! The last activated snapshot of each bundle on disk, in OPA's layout: `bundles/NAME/bundle.tar.gz` below the directory of the
//! configuration. The files are archives as they were downloaded, so that signatures are verified again when they are read.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use solon_common::atomic_file::{self, Permissions};
use solon_common::private_files;

/// Name of the archive.
const FILE: &str = "bundle.tar.gz";

/// Location of a persisted bundle, a folder.
#[derive(Clone, Debug)]
pub struct Persisted(PathBuf);

impl Persisted {
    /// Returns the location of the bundle with a name. Each `/` of the name begins a folder.
    pub fn bundle(directory: &Path, name: &str) -> Self {
        let folder = directory.join("bundles");
        Self(name.split('/').fold(folder, |path, step| path.join(step)))
    }

    /// Returns the location of the discovery bundle in the folder.
    pub fn discovery(directory: &Path) -> Self {
        Self(directory.join("discovery"))
    }

    /// Returns the archive, or `None` if there is none.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is not a regular file, or has more than `max` bytes.
    pub fn read(&self, max: u64) -> io::Result<Option<Vec<u8>>> {
        read_file(&self.0.join(FILE), max)
    }

    /// Replaces the archive. Only this user can read it. After a crash the old or the new archive exists.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&self, archive: &[u8]) -> io::Result<()> {
        private_files::create_folder(&self.0)?;
        atomic_file::replace_file(&self.0.join(FILE), archive, Permissions::Private)
    }
}

/// Returns the bytes of a regular file, or `None` if it does not exist.
///
/// # Errors
/// Fails as [`Persisted::read`] does.
pub fn read_file(path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata?,
    };
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    let length = File::open(path)?
        .take(max.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if u64::try_from(length).unwrap_or(u64::MAX) > max {
        return Err(io::Error::other(format!("larger than {max} bytes")));
    }
    Ok(Some(bytes))
}
