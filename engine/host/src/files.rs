//! The files of the system.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use solon::bundle::{FileError, FileKind, Files, Links};

use crate::errno;

/// The files of the system that this process runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemFiles;

fn refused(error: &io::Error) -> FileError {
    FileError::new(error.kind(), errno::text(error))
}

impl Files for SystemFiles {
    fn look(&self, path: &Path, links: Links) -> Result<FileKind, FileError> {
        let metadata = match links {
            Links::Followed => fs::metadata(path),
            Links::PassedOver => fs::symlink_metadata(path),
        };
        let kind = metadata.map_err(|error| refused(&error))?.file_type();
        Ok(if kind.is_dir() {
            FileKind::Folder
        } else if kind.is_file() {
            FileKind::File
        } else {
            FileKind::Other
        })
    }

    fn names(&self, folder: &Path) -> Result<Vec<OsString>, FileError> {
        let entries = fs::read_dir(folder).map_err(|error| refused(&error))?;
        let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
        names
            .collect::<io::Result<_>>()
            .map_err(|error| refused(&error))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        fs::read(path).map_err(|error| refused(&error))
    }
}
