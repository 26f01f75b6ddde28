//! Files that are replaced as a whole: after a crash, a file has its old or its new content.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::private_files;

/// Permissions of a new file: the owner's only, or those of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permissions {
    /// Only the owner reads the file.
    Private,
    /// Permissions that the process gives new files.
    Default,
}

/// Replaces a file. Its content is on the disk when this returns, and so is its name. Blocks.
///
/// # Errors
/// The file cannot be written. The old content is intact then, and no other file is left.
pub fn replace_file(path: &Path, content: &[u8], permissions: Permissions) -> io::Result<()> {
    let temporary = temporary(path)?;
    let result = write(&temporary, content, permissions)
        .and_then(|()| std::fs::rename(&temporary, path))
        .and_then(|()| private_files::sync_folder(folder_of(path)));
    if result.is_err() {
        // the error of the write is reported, and a missing file is what is wanted
        let _ = std::fs::remove_file(&temporary);
    }
    result
}

/// Prefix of the names of temporary files.
pub const TEMPORARY: &str = ".solon-";

/// Returns the path of a temporary file in the same folder, because a file is renamed within a file system only.
fn temporary(path: &Path) -> io::Result<PathBuf> {
    Ok(path.with_file_name(format!("{TEMPORARY}{}.tmp", random_name()?)))
}

/// Returns a random name of 32 hexadecimal digits.
///
/// # Errors
/// The system has no random numbers.
pub fn random_name() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(hex::encode(bytes))
}

fn write(path: &Path, content: &[u8], permissions: Permissions) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    if permissions == Permissions::Private {
        private_files::options(&mut options);
    }
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::{Permissions, random_name, replace_file};

    #[test]
    fn files_are_replaced_or_unchanged() {
        let folder = std::env::temp_dir().join(format!("solon-atomic-{}", random_name().unwrap()));
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("b.tar.gz");
        replace_file(&path, b"one", Permissions::Private).unwrap();
        replace_file(&path, b"two", Permissions::Private).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        // a folder cannot be replaced by a file
        let folder_in_the_way = folder.join("taken");
        std::fs::create_dir_all(folder_in_the_way.join("x")).unwrap();
        assert!(replace_file(&folder_in_the_way, b"x", Permissions::Default).is_err());
        assert!(replace_file(&folder.join("absent/b"), b"x", Permissions::Default).is_err());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
