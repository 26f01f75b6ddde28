//! Files that are loaded again when they change.
//!
//! Files are polled instead of watched by the kernel: notifications do not exist for network and FUSE mounts, get lost when their
//! queue is full, and follow a link's target but not the link. A poll would be needed in addition to them.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Shortest pause between two polls.
const PAUSE: Duration = Duration::from_millis(100);

/// Longest pause between two polls. A poll of many files takes a twentieth of the time at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Pause before a load that failed is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// Age from which on the time of a change tells two changes apart. Clocks of file systems are as coarse as 2 seconds.
const SETTLED: Duration = Duration::from_secs(3);

/// Deepest folder that is watched.
const DEPTH: usize = 64;

/// Most files and folders that are watched.
const MOST_ENTRIES: usize = 1 << 18;

/// Files and folders that are watched.
pub struct Watch {
    paths: Vec<PathBuf>,
    hasher: RandomState,
    last: Entries,
}

/// The state of files and folders, by path.
type Entries = BTreeMap<PathBuf, Entry>;

/// A file or folder.
#[derive(Clone, Debug)]
struct Entry {
    /// Device, inode and, of files, length, time of modification and time of change.
    identity: (u64, u64, Option<(u64, i128, i128)>),
    /// The digest of the content, if the file was read because it had just changed.
    digest: Option<u64>,
    /// `true` if the file may still change without another time of change.
    is_recent: bool,
}

impl Entry {
    /// `true` if nothing has changed since.
    fn is(&self, later: &Self) -> bool {
        let digests = self.digest.zip(later.digest);
        self.identity == later.identity && digests.is_none_or(|(a, b)| a == b)
    }
}

impl Watch {
    /// Takes note of files as they are. Must be called before they are read, so that no change is missed.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        let mut watch = Self {
            paths,
            hasher: RandomState::new(),
            last: Entries::new(),
        };
        watch.poll();
        watch
    }

    /// Calls `changed` each time that files change, from a thread of its own. If it returns `false`, it is called again after a
    /// while, with `true`.
    pub fn start(mut self, mut changed: impl FnMut(bool) -> bool + Send + 'static) {
        // the server runs even if the thread cannot be started
        let _ = std::thread::Builder::new()
            .name("watch".into())
            .spawn(move || {
                let mut failed: Option<Instant> = None;
                loop {
                    let start = Instant::now();
                    let has_changed = self.poll();
                    let pause = start.elapsed() * 20;
                    let again = failed.is_some_and(|since| since.elapsed() >= RETRY);
                    if has_changed || again {
                        let is_done = changed(!has_changed);
                        failed = (!is_done).then(Instant::now);
                    }
                    std::thread::sleep(pause.clamp(PAUSE, LONGEST_PAUSE));
                }
            });
    }

    /// Notes what there is now; `true` if that has changed.
    fn poll(&mut self) -> bool {
        let mut poll = Poll {
            last: &self.last,
            hasher: &self.hasher,
            now: SystemTime::now(),
            entries: Entries::new(),
            folders: BTreeMap::new(),
        };
        for path in &self.paths {
            poll.note(path, 0);
        }
        let entries = poll.entries;
        if entries.len() >= MOST_ENTRIES && self.last.len() < MOST_ENTRIES {
            tracing::error!(
                "More than {MOST_ENTRIES} files and folders are to be watched; changes of others are not noticed."
            );
        }
        let is_same = entries.len() == self.last.len()
            && self
                .last
                .iter()
                .zip(&entries)
                .all(|(old, new)| old.0 == new.0 && old.1.is(new.1));
        self.last = entries;
        !is_same
    }
}

struct Poll<'w> {
    last: &'w Entries,
    hasher: &'w RandomState,
    now: SystemTime,
    entries: Entries,
    /// Folders that were visited, by device and inode, with the least depth: links may lead to a folder more than once.
    folders: BTreeMap<(u64, u64), usize>,
}

impl Poll<'_> {
    /// Notes a file, or a folder with all that a load reads of it. Links are followed.
    fn note(&mut self, path: &Path, depth: usize) {
        let Ok(file) = std::fs::metadata(path) else {
            return;
        };
        if depth > DEPTH || self.entries.len() >= MOST_ENTRIES {
            return;
        }
        let node = (file.dev(), file.ino());
        if file.is_dir() {
            let identity = (node.0, node.1, None);
            self.entries.insert(
                path.to_owned(),
                Entry {
                    identity,
                    digest: None,
                    is_recent: false,
                },
            );
            if self.folders.get(&node).is_some_and(|least| *least <= depth) {
                return;
            }
            self.folders.insert(node, depth);
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
            names.sort();
            for name in names {
                self.note(&path.join(name), depth + 1);
            }
        } else if depth == 0 || is_loaded(path) {
            let changed = nanoseconds(file.ctime(), file.ctime_nsec());
            let times = (
                file.len(),
                nanoseconds(file.mtime(), file.mtime_nsec()),
                changed,
            );
            let is_recent = self.is_recent(changed);
            let last = self.last.get(path);
            let digest = if is_recent || last.is_some_and(|last| last.is_recent) {
                file.is_file().then(|| self.digest(path)).flatten()
            } else {
                last.and_then(|last| last.digest)
            };
            let entry = Entry {
                identity: (node.0, node.1, Some(times)),
                digest,
                is_recent,
            };
            self.entries.insert(path.to_owned(), entry);
        }
    }

    fn is_recent(&self, changed: i128) -> bool {
        let now = self.now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let settled = now.saturating_sub(SETTLED).as_nanos();
        i128::try_from(settled).is_ok_and(|settled| changed > settled)
    }

    /// The digest of a file's content, by a key of this process; `None` if it cannot be read.
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

fn nanoseconds(seconds: i64, rest: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}

/// `true` for files that a load of their folder reads.
fn is_loaded(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("rego" | "json" | "yaml" | "yml"))
}

/// The file or folder of a path of the command line, which may stand behind a place in `data`: `a.b:PATH`.
pub fn file_of(path: &str) -> PathBuf {
    let behind = path.split_once(':').map(|(_, behind)| behind);
    let plain = path.strip_prefix("file://").unwrap_or(path);
    match behind.filter(|_| !Path::new(plain).exists()) {
        Some(behind) => PathBuf::from(behind),
        None => PathBuf::from(plain),
    }
}
