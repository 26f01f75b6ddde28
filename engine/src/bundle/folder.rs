//! Folders that are bundles: which files belong to them, and reading of those.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use solon_syntax::parallel;

use super::directory::Ignore;
use super::{BundleFile, FileKind, Files, Links, LoadError};
use crate::limits::{self, BundleLimits};

/// A file of a folder before it is read.
pub struct FolderFile {
    /// Path within the bundle, with a leading slash.
    pub path: String,
    pub location: PathBuf,
}

/// Returns the files of a folder at any depth, in order of their names. Links are followed if they lead to entries of the folder, or
/// all links with `follow_links`. Names that begin with `..` are skipped: mounted volumes store versions of their files below
/// such names, and link to the current one.
///
/// # Errors
/// A folder cannot be listed, folders are nested too deeply, or there are more files or longer paths than `limits` allows.
pub fn list(
    files: &dyn Files,
    folder: &Path,
    ignore: &Ignore,
    limits: &BundleLimits,
    follow_links: bool,
) -> Result<Vec<FolderFile>, LoadError> {
    let root = files.canonical(folder);
    let root =
        root.map_err(|error| LoadError::system("lstat", &folder.to_string_lossy(), &error))?;
    let mut lister = Lister {
        files,
        ignore,
        limits,
        follow_links,
        root,
        listed: Vec::new(),
    };
    lister.folder(folder, "", 0)?;
    Ok(lister.listed)
}

/// Reads the listed files into memory, on all processors. They stay in order.
///
/// # Errors
/// A file cannot be read, or the files exceed `limits`.
pub fn read(
    files: &dyn Files,
    files_in_folder: &[FolderFile],
    limits: &BundleLimits,
) -> Result<Vec<BundleFile>, LoadError> {
    let total = AtomicU64::new(0);
    let too_many_bytes = || {
        LoadError::content(format!(
            "the files are larger than {} bytes",
            limits.total_bytes
        ))
    };
    let read = |file: &FolderFile| {
        // other threads may have read too much
        if total.load(Ordering::Relaxed) > limits.total_bytes {
            return Err(too_many_bytes());
        }
        let name = file.location.to_string_lossy();
        let bytes = files.read(&file.location);
        let bytes = bytes.map_err(|error| LoadError::system("open", &name, &error))?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > limits.file_bytes {
            return Err(LoadError::content(format!(
                "bundle file {} size ({size} bytes) exceeds configured size_limit_bytes ({} bytes)",
                file.path, limits.file_bytes
            )));
        }
        let before = total.fetch_add(size, Ordering::Relaxed);
        if before.saturating_add(size) > limits.total_bytes {
            return Err(too_many_bytes());
        }
        let path = file.path.clone();
        Ok(BundleFile { path, bytes })
    };
    let files_read = parallel::map(files_in_folder, |_| parallel::FILE_BYTES, read);
    files_read.into_iter().collect()
}

struct Lister<'f> {
    files: &'f dyn Files,
    ignore: &'f Ignore,
    limits: &'f BundleLimits,
    follow_links: bool,
    /// Path of the folder, with links resolved.
    root: PathBuf,
    listed: Vec<FolderFile>,
}

impl Lister<'_> {
    fn folder(&mut self, folder: &Path, path: &str, depth: usize) -> Result<(), LoadError> {
        if depth > limits::NESTING {
            return Err(LoadError::content(format!(
                "folders are nested more than {} deep",
                limits::NESTING
            )));
        }
        let names = self.files.names(folder);
        let mut names =
            names.map_err(|error| LoadError::system("open", &folder.to_string_lossy(), &error))?;
        names.sort();
        for name in names {
            let location = if folder == Path::new(".") {
                PathBuf::from(&name)
            } else {
                folder.join(&name)
            };
            let name = name.to_string_lossy();
            if name.starts_with("..") || self.ignore.matches(&name) {
                continue;
            }
            let path = format!("{path}/{name}");
            match self.kind(&location, folder)? {
                Some(FileKind::Folder) => self.folder(&location, &path, depth + 1)?,
                Some(FileKind::File) => self.add(path, location)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the entry at a location. `None` for a link that leads out of the bundle, nowhere, or to one of its own parent folders.
    fn kind(&self, location: &Path, folder: &Path) -> Result<Option<FileKind>, LoadError> {
        let kind = self.files.look(location, Links::PassedOver);
        let kind =
            kind.map_err(|error| LoadError::system("stat", &location.to_string_lossy(), &error))?;
        if kind != FileKind::Other {
            return Ok(Some(kind));
        }
        let (Ok(target), Ok(folder)) =
            (self.files.canonical(location), self.files.canonical(folder))
        else {
            return Ok(None);
        };
        let is_near = self.follow_links || target.starts_with(&self.root);
        let is_inside = is_near && !folder.starts_with(&target);
        if !is_inside {
            return Ok(None);
        }
        Ok(self.files.look(location, Links::Followed).ok())
    }

    fn add(&mut self, path: String, location: PathBuf) -> Result<(), LoadError> {
        if self.listed.len() >= self.limits.entries {
            return Err(LoadError::content(format!(
                "more than {} files",
                self.limits.entries
            )));
        }
        if path.len() > self.limits.path_bytes {
            return Err(LoadError::content(format!(
                "a path is longer than {} bytes",
                self.limits.path_bytes
            )));
        }
        self.listed.push(FolderFile { path, location });
        Ok(())
    }
}
