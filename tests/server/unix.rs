//! Unix sockets of servers that start, run and stop concurrently.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::listen;

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("solon-unix-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Creates a stale socket that no process listens on.
fn leave(path: &Path) {
    drop(UnixListener::bind(path).unwrap());
    assert!(path.exists());
}

async fn error(path: &Path) -> (ErrorKind, String) {
    let error = listen(path, 0o700).await.map(drop).unwrap_err();
    (error.kind(), error.to_string())
}

#[tokio::test]
async fn a_socket_comes_and_goes_with_its_server() {
    let folder = Folder::new();
    let path = folder.0.join("s.sock");
    for mode in [0o700, 0o600, 0o666, 0o755, 0o777] {
        let (file, listener) = listen(&path, mode).await.unwrap();
        assert_eq!(file.path(), path);
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            mode
        );
        let client = UnixStream::connect(&path).unwrap();
        listener.accept().await.unwrap();
        drop((client, file, listener));
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
}

#[tokio::test]
async fn a_socket_without_a_server_is_replaced() {
    let folder = Folder::new();
    let path = folder.0.join("s.sock");
    leave(&path);
    let (_file, listener) = listen(&path, 0o700).await.unwrap();
    let _client = UnixStream::connect(&path).unwrap();
    listener.accept().await.unwrap();
    assert_eq!(folder.names(), ["s.sock"]);
}

#[tokio::test]
async fn the_socket_of_a_running_server_stays() {
    let folder = Folder::new();
    let path = folder.0.join("s.sock");
    let (file, listener) = listen(&path, 0o700).await.unwrap();
    let inode = fs::metadata(&path).unwrap().ino();
    for _ in 0..3 {
        let want = (
            ErrorKind::AddrInUse,
            "another process listens on this socket".to_owned(),
        );
        assert_eq!(error(&path).await, want);
    }
    assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
    assert_eq!(folder.names(), ["s.sock"]);
    let _client = UnixStream::connect(&path).unwrap();
    listener.accept().await.unwrap();
    drop((file, listener));
    assert!(listen(&path, 0o700).await.is_ok());
}

/// A server that accepts nothing for now, with a full queue.
#[tokio::test]
async fn the_socket_of_a_busy_server_stays() {
    let folder = Folder::new();
    let path = folder.0.join("s.sock");
    let (_file, _listener) = listen(&path, 0o700).await.unwrap();
    let mut clients = Vec::new();
    loop {
        match tokio::net::UnixStream::connect(&path).await {
            Ok(client) => clients.push(client),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                break;
            }
        }
    }
    assert_eq!(error(&path).await.0, ErrorKind::AddrInUse);
}

#[tokio::test]
async fn other_files_stay() {
    let folder = Folder::new();
    let file = folder.0.join("file");
    fs::write(&file, "kept").unwrap();
    let link = folder.0.join("link");
    std::os::unix::fs::symlink(folder.0.join("nowhere"), &link).unwrap();
    for path in [&file, &link, &folder.0] {
        let want = (
            ErrorKind::AlreadyExists,
            "the file is not a socket, and is not replaced".to_owned(),
        );
        assert_eq!(error(path).await, want, "{}", path.display());
    }
    assert_eq!(fs::read(&file).unwrap(), b"kept");
    // a socket of another type does not reject connections, so its process may still run
    let datagram = folder.0.join("datagram");
    let _open = UnixDatagram::bind(&datagram).unwrap();
    let (_, text) = error(&datagram).await;
    assert!(
        text.starts_with("cannot find out whether a process listens on the socket: "),
        "{text}"
    );
    let (kind, _) = error(&folder.0.join("none/s.sock")).await;
    assert_eq!(kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn a_server_that_stops_leaves_the_socket_of_another() {
    let folder = Folder::new();
    let path = folder.0.join("s.sock");
    let first = listen(&path, 0o700).await.unwrap();
    fs::remove_file(&path).unwrap();
    let (_file, listener) = listen(&path, 0o700).await.unwrap();
    drop(first);
    let _client = UnixStream::connect(&path).unwrap();
    listener.accept().await.unwrap();
    let second = folder.0.join("t.sock");
    let open = listen(&second, 0o700).await.unwrap();
    fs::remove_file(&second).unwrap();
    fs::write(&second, "kept").unwrap();
    drop(open);
    assert_eq!(fs::read(&second).unwrap(), b"kept");
}

/// Paths of sockets have at most 107 bytes.
#[tokio::test]
async fn a_path_may_be_as_long_as_an_address() {
    let folder = Folder::new();
    let room = 107 - folder.0.as_os_str().len() - 1;
    let path = folder.0.join("d".repeat(room - 2)).join("s");
    fs::create_dir(path.parent().unwrap()).unwrap();
    assert_eq!(path.as_os_str().len(), 107);
    let (file, listener) = listen(&path, 0o700).await.unwrap();
    assert_eq!(file.path(), path);
    let _client = UnixStream::connect(&path).unwrap();
    listener.accept().await.unwrap();
    let longer = path.with_file_name("ss");
    assert_eq!(error(&longer).await.0, ErrorKind::InvalidInput);
}

/// Another process that checks continuously sees only the requested permissions.
#[test]
fn other_permissions_are_never_visible() {
    let folder = Folder::new();
    let path = folder.0.join("s.sock");
    let ended = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while !ended.load(Ordering::Relaxed) {
                if let Ok(file) = fs::symlink_metadata(&path) {
                    seen.insert(file.permissions().mode() & 0o777);
                }
            }
            seen
        });
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(async {
                for _ in 0..500 {
                    drop(listen(&path, 0o600).await.unwrap());
                }
            });
        ended.store(true, Ordering::Relaxed);
        watcher.join().unwrap()
    });
    assert!(seen.iter().all(|mode| *mode == 0o600), "{seen:?}");
}

/// Of servers that start at the same time over a stale socket, one listens, and the others report why they do not.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_servers_that_start_at_once_listens() {
    let folder = Folder::new();
    for round in 0..100 {
        let path = folder.0.join(format!("{round}.sock"));
        leave(&path);
        let tasks: Vec<_> = (0..6)
            .map(|_| {
                let path = path.clone();
                tokio::spawn(async move { listen(&path, 0o700).await })
            })
            .collect();
        let mut open = Vec::new();
        for task in tasks {
            match task.await.unwrap() {
                Ok(listener) => open.push(listener),
                Err(error) => assert_eq!(error.kind(), ErrorKind::AddrInUse, "{error}"),
            }
        }
        assert_eq!(open.len(), 1, "round {round}");
        let _client = UnixStream::connect(&path).unwrap();
        open[0].1.accept().await.unwrap();
    }
    assert_eq!(folder.names().len(), 0, "{:?}", folder.names());
}
