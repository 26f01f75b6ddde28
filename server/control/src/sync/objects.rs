//! The private folder of a source: files named by their digests.
//!
//! No name of a file of a source becomes a name on this machine, so neither `..` nor case, length or reserved names have an effect.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use aws_lc_rs::digest::{SHA256, digest};
use solon_common::private_files;

use crate::limits;
use crate::tree::{Content, Tree};

/// Files by digest in the private folder of a source.
#[derive(Debug)]
pub struct Objects {
    folder: PathBuf,
    used: BTreeSet<String>,
}

impl Objects {
    /// Opens the files of a source and creates the folder, which only this user may read.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn open(source_folder: &Path) -> io::Result<Self> {
        let folder = source_folder.join("objects");
        private_files::create_folder(&folder)?;
        Ok(Self {
            folder,
            used: BTreeSet::new(),
        })
    }

    /// Stores bytes under their SHA-256 digest.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn store(&mut self, bytes: &[u8]) -> io::Result<Content> {
        let name = hex::encode(digest(&SHA256, bytes));
        match self.find(&name) {
            Some(content) => Ok(content),
            None => self.store_named(&name, bytes),
        }
    }

    /// Returns the file of a name and marks it as used. Returns `None` if it is not stored.
    pub fn find(&mut self, name: &str) -> Option<Content> {
        let path = self.folder.join(name);
        let file = fs::File::options().append(true).open(&path).ok()?;
        // a file is pruned by the time of its last use
        file.set_modified(SystemTime::now()).ok()?;
        self.used.insert(name.to_owned());
        Some(Content::File(path))
    }

    /// Marks the files of an earlier fetch as used. Returns `false` if one of them is missing.
    pub fn reuse(&mut self, tree: &Tree) -> bool {
        tree.files().all(|(_, content)| match content {
            Content::Inline(_) => true,
            Content::File(path) => path
                .file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| self.find(name).is_some()),
        })
    }

    /// Stores bytes under a name that depends on nothing but the bytes, such as the object id of Git.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn store_named(&mut self, name: &str, bytes: &[u8]) -> io::Result<Content> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let path = self.folder.join(name);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let partial = self
            .folder
            .join(format!("{name}.{}.{count}.part", std::process::id()));
        let written = fs::File::create_new(&partial)
            .and_then(|mut file| {
                file.write_all(bytes)?;
                // a name promises its bytes, after a crash of the machine as well
                file.sync_data()
            })
            .and_then(|()| fs::rename(&partial, &path));
        if let Err(error) = written {
            drop(fs::remove_file(&partial));
            return Err(error);
        }
        self.used.insert(name.to_owned());
        Ok(Content::File(path))
    }

    /// Removes files that no fetch has used for a day. Builds of earlier fetches may still read younger ones.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn prune(&self) -> io::Result<()> {
        let age = Duration::from_secs(limits::UNUSED_FILE_HOURS * 3600);
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let is_used = self
                .used
                .contains(entry.file_name().to_string_lossy().as_ref());
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let is_old = modified.is_ok_and(|time| time.elapsed().is_ok_and(|unused| unused > age));
            if !is_used && is_old {
                drop(fs::remove_file(entry.path()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::Objects;

    #[test]
    fn equal_files_are_stored_once_and_unused_ones_pruned() {
        let folder = std::env::temp_dir().join(format!("solon-objects-{}", std::process::id()));
        let mut objects = Objects::open(&folder).unwrap();
        let first = objects.store(b"a").unwrap();
        objects.store(b"a").unwrap();
        objects.store(b"b").unwrap();
        let count = || fs::read_dir(folder.join("objects")).unwrap().count();
        assert_eq!(first.read().unwrap().as_ref(), b"a");
        assert_eq!(count(), 2);
        let old = SystemTime::now() - Duration::from_hours(25);
        for entry in fs::read_dir(folder.join("objects")).unwrap() {
            let file = fs::File::options().append(true).open(entry.unwrap().path());
            file.unwrap().set_modified(old).unwrap();
        }
        let mut later = Objects::open(&folder).unwrap();
        later.store(b"a").unwrap();
        later.prune().unwrap();
        assert_eq!(count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(folder.join("objects"))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
