//! The last activated snapshot of each bundle on disk, in OPA's layout: `bundles/NAME/bundle.tar.gz` below the directory of the
//! configuration. The files are archives as they were downloaded, so that signatures are verified again when they are read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::plugins::private_files;

/// Name of the archive.
const FILE: &str = "bundle.tar.gz";

/// Location of a persisted bundle.
#[derive(Clone, Debug)]
pub struct Persisted(PathBuf);

impl Persisted {
    /// Returns the location of the bundle with a name.
    pub fn bundle(directory: &Path, name: &str) -> Self {
        let folder = directory.join("bundles");
        Self(name.split('/').fold(folder, |path, step| path.join(step)))
    }

    /// Returns the location of the discovery bundle.
    pub fn discovery(directory: &Path) -> Self {
        Self(directory.join("discovery"))
    }

    /// Returns the archive, or `None` if there is none.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is not a regular file, or has more than `most` bytes.
    pub fn read(&self, most: u64) -> io::Result<Option<Vec<u8>>> {
        read_file(&self.0.join(FILE), most)
    }

    /// Replaces the archive. Only this user can read it. After a crash the old or the new archive exists.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&self, archive: &[u8]) -> io::Result<()> {
        private_files::create_folder(&self.0)?;
        let new = self.0.join(format!(".{FILE}.{}", std::process::id()));
        let written = write_file(&new, archive).and_then(|()| {
            fs::rename(&new, self.0.join(FILE))?;
            private_files::sync_folder(&self.0)
        });
        if written.is_err() {
            // an incomplete file is useless
            let _ = fs::remove_file(&new);
        }
        written
    }
}

/// Returns the bytes of a regular file, or `None` if it does not exist.
///
/// # Errors
/// Fails as [`Persisted::read`] does.
pub fn read_file(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata?,
    };
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    let read = File::open(path)?
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > most {
        return Err(io::Error::other(format!("larger than {most} bytes")));
    }
    Ok(Some(bytes))
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // a file of an earlier process may exist, with other permissions
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = private_files::options(&mut options).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
