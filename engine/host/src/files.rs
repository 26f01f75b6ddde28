//! Files of the system, for loading policies and bundles.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use solon::bundle::{FileError, FileKind, Files, Links};
use solon::host::HostError;

use crate::errno;

/// Files of the system that this process runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemFiles;

fn file_error(error: &io::Error) -> FileError {
    FileError::new(error.kind(), errno::text(error))
}

impl Files for SystemFiles {
    fn look(&self, path: &Path, links: Links) -> Result<FileKind, FileError> {
        let metadata = match links {
            Links::Followed => fs::metadata(path),
            Links::PassedOver => fs::symlink_metadata(path),
        };
        let kind = metadata.map_err(|error| file_error(&error))?.file_type();
        Ok(if kind.is_dir() {
            FileKind::Folder
        } else if kind.is_file() {
            FileKind::File
        } else {
            FileKind::Other
        })
    }

    fn names(&self, folder: &Path) -> Result<Vec<OsString>, FileError> {
        let entries = fs::read_dir(folder).map_err(|error| file_error(&error))?;
        let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
        names
            .collect::<io::Result<_>>()
            .map_err(|error| file_error(&error))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        fs::read(path).map_err(|error| file_error(&error))
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, FileError> {
        fs::canonicalize(path).map_err(|error| file_error(&error))
    }
}

/// Reads a regular file of at most `limit` bytes. Devices and pipes are rejected, because reading them may never end.
pub fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, HostError> {
    let problem = |error: io::Error| HostError::new(error.kind(), errno::text(&error));
    // checked before opening the file, because opening a pipe may already block
    let kind = fs::metadata(path).map_err(problem)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(HostError::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(problem)?;
    let length = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    let length = u64::try_from(length.map_err(problem)?).unwrap_or(u64::MAX);
    if length > limit {
        let message = format!("file is larger than {limit} bytes");
        return Err(HostError::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}
