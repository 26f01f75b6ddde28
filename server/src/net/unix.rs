//! Unix sockets in the file system.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind};
#[cfg(target_os = "linux")]
use std::os::fd::AsFd as _;
use std::os::unix::fs::{
    FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::net::{UnixListener, UnixSocket, UnixStream};

use super::QUEUE;

/// Maximum time that a server waits for another one that is opening the same path.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Pause between two attempts to acquire the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// The file of a socket. It is removed when this value is dropped, unless another server has put its own socket there.
pub struct SocketFile {
    path: PathBuf,
    identity: SocketIdentity,
}

/// Device and inode of a file.
type SocketIdentity = (u64, u64);

fn identity(file: &Metadata) -> SocketIdentity {
    (file.dev(), file.ino())
}

impl SocketFile {
    /// Returns the path that clients connect to.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|file| identity(&file) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Lock that servers hold while they open a path, so that none of them mistakes another's socket for a stale one. The file of the
/// lock is next to the socket while it is held.
struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    async fn of_socket(socket: &Path) -> io::Result<Self> {
        let mut name = OsString::from(".");
        name.push(socket.file_name().unwrap_or_default());
        name.push(".lock");
        let path = socket.with_file_name(name);
        let started = Instant::now();
        loop {
            let file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .mode(0o600)
                .open(&path)?;
            match file.try_lock() {
                Ok(()) if is_file_of(&file, &path) => return Ok(Self { path, file }),
                // the server that held this lock has removed its file, so that others lock a new one
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
            if started.elapsed() >= LOCK_WAIT {
                let text = format!("another server holds the lock {}", path.display());
                return Err(io::Error::new(ErrorKind::AddrInUse, text));
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // before the lock is released, so that it is the file of this lock
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

fn is_file_of(file: &File, path: &Path) -> bool {
    let metadata = file.metadata().ok().zip(fs::symlink_metadata(path).ok());
    metadata.is_some_and(|(open, at_path)| identity(&open) == identity(&at_path))
}

/// Listens on a path with these permissions. A stale socket is replaced.
///
/// # Errors
/// Fails with `AddrInUse` if a process listens on the path, with `AlreadyExists` if the path is not a socket, or with an error of
/// the system.
pub async fn listen(path: &Path, mode: u32) -> io::Result<(SocketFile, UnixListener)> {
    // before a file is created next to it
    std::os::unix::net::SocketAddr::from_pathname(path)?;
    let _lock = Lock::of_socket(path).await?;
    remove_stale(path).await?;
    let socket = UnixSocket::new_stream()?;
    let permissions = Permissions::from_mode(mode);
    // on Linux the file gets the permissions of the socket, minus the umask
    #[cfg(target_os = "linux")]
    File::from(socket.as_fd().try_clone_to_owned()?).set_permissions(permissions.clone())?;
    socket.bind(path)?;
    // clients cannot connect until `listen`
    fs::set_permissions(path, permissions)?;
    let identity = identity(&fs::symlink_metadata(path)?);
    let path = path.to_owned();
    let file = SocketFile { path, identity };
    Ok((file, socket.listen(QUEUE)?))
}

/// Removes a socket that no process listens on.
async fn remove_stale(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(file) if file.file_type().is_socket() => {}
        Ok(_) => {
            return Err(io::Error::new(
                ErrorKind::AlreadyExists,
                "the file is not a socket, and is not replaced",
            ));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    let Err(error) = UnixStream::connect(path).await else {
        return Err(in_use());
    };
    match error.kind() {
        ErrorKind::ConnectionRefused => fs::remove_file(path),
        ErrorKind::NotFound => Ok(()),
        // the queue of connections is full
        ErrorKind::WouldBlock => Err(in_use()),
        kind => {
            let text = format!("cannot find out whether a process listens on the socket: {error}");
            Err(io::Error::new(kind, text))
        }
    }
}

fn in_use() -> io::Error {
    io::Error::new(
        ErrorKind::AddrInUse,
        "another process listens on this socket",
    )
}

#[cfg(test)]
#[path = "../../../tests/server/unix.rs"]
mod tests;
