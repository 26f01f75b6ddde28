use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Spool, SpoolError};
use crate::config::{Fsync, SpoolOptions, WhenFull};

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("solon-spool-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn options(folder: &Path) -> SpoolOptions {
    SpoolOptions {
        directory: folder.to_owned(),
        max_bytes: 1 << 20,
        segment_bytes: 1000,
        fsync: Fsync::Never,
        when_full: WhenFull::Drop,
    }
}

fn event(number: u64) -> Vec<u8> {
    format!("{{\"decision_id\":\"{number:08}\"}}").into_bytes()
}

/// Returns all events from the cursor on, in batches of a size. They count as uploaded.
fn drain(spool: &Spool, bytes: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while let Some(batch) = spool.next(bytes).unwrap() {
        spool.remove_sent(&batch).unwrap();
        all.extend(batch.events);
    }
    all
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = entries.filter(|path| path.extension().is_some()).collect();
    all.sort();
    all
}

#[test]
fn events_are_read_in_their_order_and_removed_once_they_are_sent() {
    for bytes in [1, 100, 10_000] {
        let folder = Folder::new();
        let spool = Spool::open(&options(&folder.0)).unwrap();
        for number in 0..100 {
            spool.append(&event(number)).unwrap();
        }
        assert!(segments(&folder.0).len() > 3);
        assert_eq!(spool.len(), 100);
        let first = spool.next(bytes).unwrap().unwrap();
        // without a confirmation they are read again
        assert_eq!(spool.next(bytes).unwrap().unwrap().events, first.events);
        assert_eq!(
            drain(&spool, bytes),
            (0..100).map(event).collect::<Vec<_>>()
        );
        assert_eq!((spool.len(), segments(&folder.0).len()), (0, 1));
        spool.append(&event(100)).unwrap();
        assert_eq!(drain(&spool, bytes), [event(100)]);
    }
}

#[test]
fn a_spool_continues_after_a_restart() {
    let folder = Folder::new();
    let mut expected = Vec::new();
    for turn in 0..5 {
        let spool = Spool::open(&options(&folder.0)).unwrap();
        for number in 0..20 {
            let event = event(turn * 100 + number);
            spool.append(&event).unwrap();
            expected.push(event);
        }
        let batch = spool.next(200).unwrap().unwrap();
        spool.remove_sent(&batch).unwrap();
        assert_eq!(
            batch.events,
            expected.drain(..batch.events.len()).collect::<Vec<_>>()
        );
    }
    let spool = Spool::open(&options(&folder.0)).unwrap();
    assert_eq!(drain(&spool, 1000), expected);
}

#[test]
fn a_record_that_was_cut_is_not_read_and_what_follows_is() {
    let folder = Folder::new();
    let spool = Spool::open(&options(&folder.0)).unwrap();
    for number in 0..5 {
        spool.append(&event(number)).unwrap();
    }
    drop(spool);
    let path = segments(&folder.0).pop().unwrap();
    let whole = fs::read(&path).unwrap();
    for cut in 1..30 {
        fs::write(&path, &whole[..whole.len() - cut]).unwrap();
        let spool = Spool::open(&options(&folder.0)).unwrap();
        spool.append(&event(77)).unwrap();
        let mut events = Vec::new();
        while let Some(batch) = spool.next(1).unwrap() {
            spool.reader.lock().move_to(batch.end);
            events.extend(batch.events);
        }
        let expected: Vec<_> = (0..4).map(event).chain([event(77)]).collect();
        assert_eq!(events, expected, "{cut} bytes");
        drop(spool);
        for other in segments(&folder.0)
            .into_iter()
            .filter(|other| *other != path)
        {
            fs::remove_file(other).unwrap();
        }
    }
}

#[test]
fn a_full_spool_drops_or_rejects() {
    for when_full in [WhenFull::Drop, WhenFull::Reject] {
        let folder = Folder::new();
        let spool = Spool::open(&SpoolOptions {
            max_bytes: 2000,
            when_full,
            ..options(&folder.0)
        })
        .unwrap();
        let mut appended = 0;
        let error = loop {
            match spool.append(&event(appended)) {
                Ok(()) => appended += 1,
                Err(error) => break error,
            }
        };
        assert!(
            matches!(error, SpoolError::Full(rejects) if rejects == (when_full == WhenFull::Reject))
        );
        assert!(appended > 40 && spool.bytes() <= 2000);
        assert_eq!(drain(&spool, 500).len() as u64, appended);
        spool.append(&event(0)).unwrap();
    }
}

#[test]
fn one_process_uses_a_spool_and_others_cannot_read_it() {
    let folder = Folder::new();
    let spool = Spool::open(&options(&folder.0)).unwrap();
    let error = Spool::open(&options(&folder.0)).err().unwrap();
    assert!(error.ends_with("another process uses it"), "{error}");
    spool.append(&event(0)).unwrap();
    drain(&spool, 10);
    #[cfg(unix)]
    for entry in fs::read_dir(&folder.0).unwrap() {
        use std::os::unix::fs::PermissionsExt as _;
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", entry.path().display());
    }
}

/// A spool of an earlier version. Each new version of the format gets its own fixture.
#[test]
fn spools_of_earlier_versions_open() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/decision_logs/spool");
    for version in ["1"] {
        let source = fixtures.join(version);
        let folder = Folder::new();
        if std::env::var_os("BLESS").is_some() && !source.exists() {
            let spool = Spool::open(&options(&source)).unwrap();
            (0..60).for_each(|number| spool.append(&event(number)).unwrap());
            let batch = spool.next(500).unwrap().unwrap();
            spool.remove_sent(&batch).unwrap();
        }
        fs::create_dir_all(&folder.0).unwrap();
        for entry in fs::read_dir(&source).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, folder.0.join(path.file_name().unwrap())).unwrap();
        }
        let spool = Spool::open(&options(&folder.0)).unwrap();
        spool.append(&event(60)).unwrap();
        let events = drain(&spool, 100);
        let first = events.len() as u64;
        assert_eq!(events, (61 - first..61).map(event).collect::<Vec<_>>());
        assert!(first < 60 && first > 1);
    }
}
