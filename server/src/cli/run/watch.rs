//! Reloading of files when they change.
//!
//! Files are polled instead of watched by the kernel, because kernel notifications have gaps:
//!
//! - they do not exist for network and FUSE mounts,
//! - they are lost when the queue is full,
//! - they follow the target of a symbolic link but not the link.
//!
//! Polling would be needed in addition to them.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Minimum pause between two polls.
const PAUSE: Duration = Duration::from_millis(100);

/// Maximum pause between two polls. The pause is twenty times the duration of the previous poll, within these limits.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Pause before a failed load is repeated.
const RETRY: Duration = Duration::from_secs(5);

/// Age from which on two changes have different times. The time resolution of file systems can be as low as 2 seconds.
const SETTLED: Duration = Duration::from_secs(3);

/// Watched files, with their last state.
pub struct Watch {
    /// Returns the files that a load would read now.
    files: Box<dyn Fn() -> Vec<PathBuf> + Send>,
    hasher: RandomState,
    last: Entries,
}

type Entries = BTreeMap<PathBuf, FileState>;

/// Device, inode, length, modification time and change time.
type FileVersion = (u64, u64, u64, i128, i128);

#[derive(Clone, Debug)]
struct FileState {
    identity: FileVersion,
    /// Digest of the content, if the file was read because it had just changed.
    digest: Option<u64>,
    /// `true` if the file may still change without a new change time.
    is_recent: bool,
}

impl FileState {
    /// Returns `true` if nothing has changed since.
    fn is_same_as(&self, later: &Self) -> bool {
        let digests = self.digest.zip(later.digest);
        self.identity == later.identity && digests.is_none_or(|(a, b)| a == b)
    }
}

impl Watch {
    /// Records the current state of the files that `files` returns. Must be called before they are read, so that no change is
    /// missed.
    pub fn new(files: impl Fn() -> Vec<PathBuf> + Send + 'static) -> Self {
        let mut watch = Self {
            files: Box::new(files),
            hasher: RandomState::new(),
            last: Entries::new(),
        };
        watch.poll();
        watch
    }

    /// Calls `on_change` each time files change, and for each message of `requests`, on a separate thread. If it returns `false`, it
    /// is called again after a pause, with `true`. If the thread cannot be started, an error is logged, and the server runs without
    /// noticing changes.
    pub fn start(
        mut self,
        requests: Receiver<()>,
        mut on_change: impl FnMut(bool) -> bool + Send + 'static,
    ) {
        let started = std::thread::Builder::new()
            .name("watch".into())
            .spawn(move || {
                let mut failed: Option<Instant> = None;
                let mut is_requested = false;
                loop {
                    let start = Instant::now();
                    let has_changed = self.poll() || is_requested;
                    let pause = start.elapsed() * 20;
                    let is_retry_due = failed.is_some_and(|since| since.elapsed() >= RETRY);
                    if has_changed || is_retry_due {
                        let is_done = on_change(!has_changed);
                        failed = (!is_done).then(Instant::now);
                    }
                    is_requested = wait(&requests, pause.clamp(PAUSE, LONGEST_PAUSE));
                }
            });
        if let Err(error) = started {
            tracing::error!(
                err = %error,
                "Files cannot be watched; the server does not notice their changes."
            );
        }
    }

    /// Records the current state. Returns `true` if it has changed.
    fn poll(&mut self) -> bool {
        let mut poll = Poll {
            last: &self.last,
            hasher: &self.hasher,
            now: SystemTime::now(),
            entries: Entries::new(),
        };
        for path in (self.files)() {
            poll.note(path);
        }
        let entries = poll.entries;
        let is_same = entries.len() == self.last.len()
            && self
                .last
                .iter()
                .zip(&entries)
                .all(|(old, new)| old.0 == new.0 && old.1.is_same_as(new.1));
        self.last = entries;
        !is_same
    }
}

/// Waits for a duration or until a request arrives. Returns `true` for a request.
fn wait(requests: &Receiver<()>, time: Duration) -> bool {
    match requests.recv_timeout(time) {
        Ok(()) => {
            // several pending requests count as one
            while requests.try_recv().is_ok() {}
            true
        }
        Err(RecvTimeoutError::Timeout) => false,
        Err(RecvTimeoutError::Disconnected) => {
            std::thread::sleep(time);
            false
        }
    }
}

struct Poll<'w> {
    last: &'w Entries,
    hasher: &'w RandomState,
    now: SystemTime,
    entries: Entries,
}

impl Poll<'_> {
    /// Records the state of a file, if it exists. Symbolic links are followed.
    fn note(&mut self, path: PathBuf) {
        let Ok(file) = std::fs::metadata(&path) else {
            return;
        };
        let identity = identity(&file);
        let (_, _, _, _, changed_ns) = identity;
        let is_recent = self.is_recent(changed_ns);
        let last = self.last.get(&path);
        let digest = if is_recent || last.is_some_and(|last| last.is_recent) {
            file.is_file().then(|| self.digest(&path)).flatten()
        } else {
            last.and_then(|last| last.digest)
        };
        let entry = FileState {
            identity,
            digest,
            is_recent,
        };
        self.entries.insert(path, entry);
    }

    fn is_recent(&self, changed_ns: i128) -> bool {
        let now = self.now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let settled_ns = now.saturating_sub(SETTLED).as_nanos();
        i128::try_from(settled_ns).is_ok_and(|settled_ns| changed_ns > settled_ns)
    }

    /// Returns the digest of a file's content with a key of this process, or `None` if it cannot be read.
    fn digest(&self, path: &Path) -> Option<u64> {
        let mut file = std::fs::File::open(path).ok()?;
        let mut hasher = self.hasher.build_hasher();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let length = file.read(&mut buffer).ok()?;
            if length == 0 {
                return Some(hasher.finish());
            }
            hasher.write(buffer.get(..length)?);
        }
    }
}

#[cfg(unix)]
fn identity(file: &Metadata) -> FileVersion {
    use std::os::unix::fs::MetadataExt as _;

    let modified = nanoseconds(file.mtime(), file.mtime_nsec());
    let changed_ns = nanoseconds(file.ctime(), file.ctime_nsec());
    (file.dev(), file.ino(), file.len(), modified, changed_ns)
}

/// Returns zeros for device, inode and change time, which the standard library does not provide on this system.
#[cfg(not(unix))]
fn identity(file: &Metadata) -> FileVersion {
    let modified = file.modified().ok();
    let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map_or(0, |time| i128::try_from(time.as_nanos()).unwrap_or(0));
    (0, 0, file.len(), modified, modified)
}

#[cfg(unix)]
fn nanoseconds(seconds: i64, rest: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use solon::bundle::Loader;
    use solon_host::SystemFiles;

    use super::Watch;

    #[test]
    fn only_files_that_a_load_reads_are_watched() {
        let folder = std::env::temp_dir().join(format!("solon-watch-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("d.json", "{}");
        let path = folder.to_str().unwrap().to_owned();
        let mut watch = Watch::new(move || {
            let loader = Loader::new(&SystemFiles).ignore(&["cache,*_test.rego".to_owned()]);
            loader.files(&[&*path])
        });
        assert!(!watch.poll());
        for text in ["1", "22"] {
            write("cache/d.json", text);
            write("sub/cache/x/d.json", text);
            write("p_test.rego", text);
            write("notes.txt", text);
            assert!(!watch.poll(), "{text}");
        }
        write("sub/d.json", "{}");
        assert!(watch.poll());
        write("sub/d.json", "[]");
        assert!(watch.poll());
        fs::remove_file(folder.join("d.json")).unwrap();
        assert!(watch.poll());
        assert!(!watch.poll());
        fs::remove_dir_all(folder).unwrap();
    }
}
