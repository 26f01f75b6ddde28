//! Files that only the user of the process can read.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Restricts a new file to the user of the process.
pub fn options(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Restricts an existing file to the user of the process. On systems other than Unix it does nothing. Fails with the
/// error of the system.
pub fn protect(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Creates a folder and its parents, which only the user of the process can access; existing folders keep their
/// permissions. Fails with the error of the system.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Synchronizes the directory entries of a folder with the disk, so that a rename in it survives a crash. On systems
/// other than Unix it does nothing. Fails with the error of the system.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(path)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
