//! Access to files, as an interface that the host program implements.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Kind of the entry at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file that can be read.
    File,
    /// A folder that can be listed.
    Folder,
    /// Any other entry: a socket, a device, or a link that was not followed.
    Other,
}

/// Treatment of symbolic links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// A link is followed to its file or folder.
    Followed,
    /// A link is [`FileKind::Other`].
    PassedOver,
}

/// The reason why a file or a folder cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    kind: io::ErrorKind,
    message: String,
}

impl FileError {
    /// Creates an error. The message does not name the file, such as `no such file or directory`.
    pub fn new(kind: io::ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message }
    }

    /// Returns the kind of the error, as the system reports it.
    pub fn kind(&self) -> io::ErrorKind {
        self.kind
    }

    fn not_found() -> Self {
        Self::new(io::ErrorKind::NotFound, "no such file or directory")
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FileError {}

/// Files and folders by path: those of the system, of an archive, of a commit. Loaders read several files at the same time.
pub trait Files: Sync {
    /// Returns the kind of the entry at a path.
    ///
    /// # Errors
    /// The path does not exist, or cannot be examined.
    fn look(&self, path: &Path, links: Links) -> Result<FileKind, FileError>;

    /// Returns the names of the entries of a folder, in any order.
    ///
    /// # Errors
    /// The path is not a folder, or cannot be listed.
    fn names(&self, folder: &Path) -> Result<Vec<OsString>, FileError>;

    /// Returns the bytes of a file.
    ///
    /// # Errors
    /// The file does not exist, or cannot be read.
    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError>;

    /// Returns the absolute path of an entry, with all links resolved. The default implementation returns the path unchanged, which
    /// is correct without links.
    ///
    /// # Errors
    /// The path does not exist, or cannot be read.
    fn canonical(&self, path: &Path) -> Result<PathBuf, FileError> {
        Ok(path.to_owned())
    }
}

/// Files in memory, by paths with slashes. Folders exist if they contain a file.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles(BTreeMap<PathBuf, Vec<u8>>);

impl MemoryFiles {
    /// Adds or replaces a file.
    pub fn insert(&mut self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) {
        self.0.insert(plain(path.as_ref()), bytes.into());
    }
}

impl<P: AsRef<Path>, B: Into<Vec<u8>>, const N: usize> From<[(P, B); N]> for MemoryFiles {
    fn from(files: [(P, B); N]) -> Self {
        let mut all = Self::default();
        for (path, bytes) in files {
            all.insert(path, bytes);
        }
        all
    }
}

/// Returns the path without `.` and without a leading slash, because there is one root.
fn plain(path: &Path) -> PathBuf {
    let steps = path.components();
    let steps = steps.filter(|step| !matches!(step, Component::CurDir | Component::RootDir));
    steps.collect()
}

impl Files for MemoryFiles {
    fn look(&self, path: &Path, _: Links) -> Result<FileKind, FileError> {
        let path = plain(path);
        if self.0.contains_key(&path) {
            return Ok(FileKind::File);
        }
        let first_below = self.0.range(path.clone()..).next();
        if first_below.is_some_and(|(file, _)| file.starts_with(&path)) {
            return Ok(FileKind::Folder);
        }
        Err(FileError::not_found())
    }

    fn names(&self, folder: &Path) -> Result<Vec<OsString>, FileError> {
        let folder = plain(folder);
        let files_below = self.0.range(folder.clone()..).map(|(file, _)| file);
        let files_below = files_below.take_while(|file| file.starts_with(&folder));
        let name = |file: &PathBuf| {
            let first = file.strip_prefix(&folder).ok()?.components().next()?;
            Some(first.as_os_str().to_owned())
        };
        let mut names: Vec<OsString> = files_below.filter_map(name).collect();
        names.dedup();
        if names.is_empty() {
            return Err(FileError::not_found());
        }
        Ok(names)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        let file = self.0.get(&plain(path));
        file.cloned().ok_or_else(FileError::not_found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_of_files_are_folders() {
        let files = MemoryFiles::from([("a/b.json", "1"), ("/a/c/d.json", "2"), ("ab", "3")]);
        let kind_of = |path: &str| files.look(Path::new(path), Links::Followed);
        assert_eq!(kind_of("a"), Ok(FileKind::Folder));
        assert_eq!(kind_of("."), Ok(FileKind::Folder));
        assert_eq!(kind_of("./a/b.json"), Ok(FileKind::File));
        assert_eq!(kind_of("/a/b.json"), Ok(FileKind::File));
        assert!(kind_of("a/b").is_err());
        assert_eq!(files.names(Path::new("a")).unwrap(), ["b.json", "c"]);
        assert_eq!(files.names(Path::new(".")).unwrap(), ["a", "ab"]);
        assert!(files.names(Path::new("ab")).is_err());
        assert_eq!(files.read(Path::new("a/c/d.json")).unwrap(), b"2");
        assert!(files.read(Path::new("a")).is_err());
    }
}
