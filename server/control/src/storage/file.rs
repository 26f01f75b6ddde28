//! Archives in files. A policy server or an HTTP server reads them while they are replaced.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use super::{Artefact, Published, overtaken, push_failed};
use crate::limits;
use crate::model::{Failure, Phase, Status};
use solon_common::atomic_file::{Permissions, TEMPORARY, replace_file};

/// A file that contains the archive of one bundle.
#[derive(Clone, Debug)]
pub struct FileTarget {
    path: PathBuf,
    record: PathBuf,
}

/// Suffix of the name of a record.
const RECORD: &str = ".solon";

/// First bytes of a gzip-compressed file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Facts about the archive in a file, stored next to it.
#[derive(Debug, Default, Deserialize, Serialize)]
struct FileRecord {
    digest: String,
    revision: String,
    fence: u64,
}

impl FileTarget {
    /// Opens a file. `private` is the folder of the database and the keys, in which no archive is written.
    ///
    /// # Errors
    /// The path has no file name, or is the name of a file of the service.
    pub fn open(path: PathBuf, private: &Path) -> Result<Self, Failure> {
        let failed = |message: &str| Failure {
            phase: Phase::Push,
            status: Status::ConfigError,
            message: format!("object storage: filesystem path {message}"),
        };
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| failed("has no file name"))?;
        if name.starts_with(TEMPORARY) || name.ends_with(RECORD) {
            return Err(failed("is the name of a file of the service"));
        }
        if is_inside(&path, private) {
            return Err(failed("is in the folder of the service's own data"));
        }
        let record = path.with_file_name(format!(".{name}{RECORD}"));
        Ok(Self { path, record })
    }

    /// Replaces the file unless it already contains the archive. Blocks.
    ///
    /// # Errors
    /// A publisher with a larger fencing token was faster, the file exists and is neither an archive nor written by the
    /// service, or it cannot be written.
    pub fn publish(&self, artefact: &Artefact<'_>, fence: u64) -> Result<Published, Failure> {
        let failed = |error: io::Error| push_failed(format!("cannot write the file: {error}"));
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        // the comparison of the tokens and the write are one step for processes of this machine
        let _lock = self.path.parent().and_then(lock_folder);
        let record = self.read_record();
        let known_fence = record.as_ref().map_or(0, |record| record.fence);
        if fence < known_fence {
            return Err(overtaken(fence, known_fence));
        }
        let existing = Existing::read(&self.path).map_err(failed)?;
        if let Existing::File { is_gzip, .. } = &existing
            && !is_gzip
            && record.is_none()
        {
            return Err(push_failed(
                "the file exists and is not an archive: remove it, or choose another path",
            ));
        }
        let is_stored =
            matches!(&existing, Existing::File { digest, .. } if *digest == artefact.digest);
        let is_recorded = record.is_some_and(|record| {
            record.digest == artefact.digest
                && record.revision == artefact.revision
                && record.fence == fence
        });
        if !is_recorded {
            // the token comes first: after a crash, an older publisher is rejected, and the file does not match the digest
            self.write_record(artefact, fence).map_err(failed)?;
        }
        if is_stored {
            return Ok(Published::Unchanged);
        }
        replace_file(&self.path, artefact.archive, Permissions::Default).map_err(failed)?;
        Ok(Published::Stored)
    }

    fn read_record(&self) -> Option<FileRecord> {
        let text = std::fs::read(&self.record).ok()?;
        let record = serde_json::from_slice(&text);
        if record.is_err() {
            tracing::warn!(
                file = %self.record.display(),
                "the record of a published file is damaged and is replaced"
            );
        }
        // a damaged record still shows that the service has written the file
        Some(record.unwrap_or_default())
    }

    fn write_record(&self, artefact: &Artefact<'_>, fence: u64) -> io::Result<()> {
        let record = FileRecord {
            digest: artefact.digest.to_owned(),
            revision: artefact.revision.to_owned(),
            fence,
        };
        let text = serde_json::to_vec(&record).map_err(io::Error::other)?;
        replace_file(&self.record, &text, Permissions::Private)
    }
}

/// Locks a folder until the returned file is closed, unless its file system has no locks.
fn lock_folder(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// The file before it is replaced.
enum Existing {
    Absent,
    File { digest: String, is_gzip: bool },
}

impl Existing {
    fn read(path: &Path) -> io::Result<Self> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Absent),
            Err(error) => return Err(error),
        };
        let mut context = Context::new(&SHA256);
        let mut piece = vec![0; limits::ARTIFACT_PIECE];
        let mut start = None;
        loop {
            let count = file.read(&mut piece)?;
            let bytes_read = piece.get(..count).unwrap_or_default();
            if bytes_read.is_empty() {
                break;
            }
            start.get_or_insert_with(|| bytes_read.starts_with(&GZIP));
            context.update(bytes_read);
        }
        Ok(Self::File {
            digest: hex::encode(context.finish()),
            is_gzip: start.unwrap_or(true),
        })
    }
}

/// Returns `true` if a path leads into a folder, through links as well. The path need not exist.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else {
        return false;
    };
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // of a new path, the nearest folder that exists decides
    let existing = absolute
        .ancestors()
        .skip(1)
        .find_map(|folder| folder.canonicalize().ok());
    existing.is_some_and(|existing| existing.starts_with(&folder)) || absolute.starts_with(&folder)
}

#[cfg(test)]
mod tests {
    use super::is_inside;

    #[test]
    fn paths_inside_of_a_folder() {
        let folder = std::env::temp_dir().join(format!("solon-inside-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("data/x")).unwrap();
        let data = folder.join("data");
        for (path, expected) in [
            ("data/b", true),
            ("data/x/b", true),
            ("data/new/folder/b", true),
            ("data2/b", false),
            ("b", false),
            ("new/b", false),
        ] {
            assert_eq!(is_inside(&folder.join(path), &data), expected, "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&data, folder.join("link")).unwrap();
            assert!(is_inside(&folder.join("link/b"), &data));
        }
        assert!(!is_inside(&folder.join("b"), &folder.join("absent")));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
