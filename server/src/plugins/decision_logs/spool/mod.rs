//! Bounded spool on disk. Events are appended to it before their responses are sent, and are uploaded from it at least once.
//!
//! - `record`: the format of segments and of the cursor
//! - `reader`: reading events after the cursor

mod reader;
mod record;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use self::reader::{Reader, Segment};
use self::record::{Cursor, HEADER_BYTES, RECORD_BYTES, cursor_text, header, read_cursor, record};
use crate::config::{Fsync, SpoolOptions, WhenFull};
use solon_common::private_files;

/// An open spool. No other process can open it.
pub struct Spool {
    options: SpoolOptions,
    writer: Mutex<SpoolWriter>,
    /// Sequence number up to which events are synchronized. Under its lock one thread synchronizes for all waiting ones.
    synced: Mutex<u64>,
    reader: Mutex<Reader>,
    _lock: File,
}

/// Reason why an event was not appended.
#[derive(Debug)]
pub enum SpoolError {
    /// The spool is full. `true` if the decision must not be returned.
    Full(bool),
    /// The file cannot be written.
    Io(io::Error),
}

struct SpoolWriter {
    folder: PathBuf,
    /// All segments, from the oldest. The last one is written to.
    segments: Vec<Segment>,
    file: File,
    /// Sequence number of the next event.
    next: u64,
    /// `true` if the end of the last segment is unknown after a failed write.
    is_broken: bool,
    buffer: Vec<u8>,
}

/// Events of the spool that are being uploaded.
pub struct Batch {
    /// The events, each as JSON text.
    pub events: Vec<Vec<u8>>,
    end: Cursor,
}

/// Name of the lock file, which excludes other processes.
const LOCK: &str = "lock";
/// Name of the file with the position after the last uploaded event.
const CURSOR: &str = "cursor";

impl Spool {
    /// Opens a spool, or creates one. A record that is incomplete after a crash is removed.
    ///
    /// # Errors
    /// Fails if the folder cannot be read or written, or another process uses it.
    pub fn open(options: &SpoolOptions) -> Result<Self, String> {
        let folder = options.directory.clone();
        let failed =
            |error: io::Error| format!("decision_logs.spool: {}: {error}", folder.display());
        private_files::create_folder(&folder).map_err(failed)?;
        let lock =
            private_files::options(OpenOptions::new().write(true).create(true).truncate(false))
                .open(folder.join(LOCK))
                .map_err(failed)?;
        lock.try_lock().map_err(|_| {
            format!(
                "decision_logs.spool: {}: another process uses it",
                folder.display()
            )
        })?;
        let mut segments = Vec::new();
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if let Some(first) = segment_number(&path) {
                segments.push(Segment::scan(path, first).map_err(failed)?);
            }
        }
        segments.sort_by_key(|segment| segment.first);
        let cursor = fs::read(folder.join(CURSOR)).ok();
        let cursor = cursor
            .and_then(|text| read_cursor(&text))
            .unwrap_or_default();
        let next = segments
            .last()
            .map_or(cursor.next, Segment::end)
            .max(cursor.next);
        // each start creates a new segment, because the end of an old one may be damaged
        segments.retain(|segment| {
            let is_empty = segment.records == 0;
            if is_empty {
                let _ = fs::remove_file(&segment.path);
            }
            !is_empty
        });
        let (segment, file) = create(&folder, next).map_err(failed)?;
        segments.push(segment);
        Ok(Self {
            reader: Mutex::new(Reader::new(cursor)),
            writer: Mutex::new(SpoolWriter {
                folder,
                segments,
                file,
                next,
                is_broken: false,
                buffer: Vec::new(),
            }),
            synced: Mutex::new(next),
            options: options.clone(),
            _lock: lock,
        })
    }

    /// Returns `true` if `append` waits for the disk.
    pub fn may_block(&self) -> bool {
        self.options.fsync == Fsync::Always
    }

    /// Returns `true` if the client gets an error instead of a decision that the spool could not store.
    pub fn rejects(&self) -> bool {
        self.options.when_full == WhenFull::Reject
    }

    /// Returns the options that the spool was opened with.
    pub fn options(&self) -> &SpoolOptions {
        &self.options
    }

    /// Appends an event. When this returns, the event is in the file, and with `fsync: always` on the disk.
    ///
    /// # Errors
    /// Fails if the event is not in the spool.
    pub fn append(&self, event: &[u8]) -> Result<(), SpoolError> {
        let number = {
            let mut writer = self.writer.lock();
            if writer.bytes() + (event.len() + RECORD_BYTES) as u64 > self.options.max_bytes {
                return Err(SpoolError::Full(self.options.when_full == WhenFull::Reject));
            }
            writer
                .append(event, self.options.segment_bytes)
                .map_err(SpoolError::Io)?
        };
        if self.options.fsync == Fsync::Always {
            self.sync(number + 1).map_err(SpoolError::Io)?;
        }
        Ok(())
    }

    /// Synchronizes all events before a sequence number with the disk. Several waiting threads share one synchronization.
    fn sync(&self, end: u64) -> io::Result<()> {
        let mut synced = self.synced.lock();
        if *synced >= end {
            return Ok(());
        }
        let (file, next) = {
            let writer = self.writer.lock();
            (writer.file.try_clone()?, writer.next)
        };
        file.sync_data()?;
        *synced = next;
        Ok(())
    }

    /// Synchronizes all events, if the `fsync` policy is `interval`.
    ///
    /// # Errors
    /// Fails if the disk reports an error.
    pub fn sync_interval(&self) -> io::Result<()> {
        if self.options.fsync == Fsync::Interval {
            let next = self.writer.lock().next;
            self.sync(next)?;
        }
        Ok(())
    }

    /// Reads the oldest events that are not uploaded yet, up to a size. Returns `None` if there are none.
    ///
    /// # Errors
    /// Fails if a segment cannot be read.
    pub fn next(&self, bytes: usize) -> io::Result<Option<Batch>> {
        let segments = self.writer.lock().segments.clone();
        let mut reader = self.reader.lock();
        let (events, end) = reader.read(&segments, bytes)?;
        Ok((!events.is_empty()).then_some(Batch { events, end }))
    }

    /// Moves the cursor after uploaded events, and removes segments that are no longer needed.
    ///
    /// # Errors
    /// Fails if the cursor cannot be written. The events are uploaded again after a restart.
    pub fn remove_sent(&self, batch: &Batch) -> io::Result<()> {
        self.reader.lock().move_to(batch.end);
        let mut writer = self.writer.lock();
        let folder = writer.folder.clone();
        write_cursor(&folder, batch.end, self.options.fsync != Fsync::Never)?;
        writer.remove_before(batch.end.next);
        Ok(())
    }

    /// Returns the number of events that are not uploaded yet.
    pub fn len(&self) -> u64 {
        let next = self.writer.lock().next;
        next.saturating_sub(self.reader.lock().cursor().next)
    }

    /// Returns the size of all segments in bytes.
    pub fn bytes(&self) -> u64 {
        self.writer.lock().bytes()
    }
}

/// Reads all valid events of a spool, including those that are confirmed but not removed yet. Another process may write it.
/// `each` returns `false` if no more events are needed.
///
/// # Errors
/// Fails if a segment cannot be read.
pub fn read_spool(folder: &Path, each: &mut dyn FnMut(Vec<u8>) -> bool) -> io::Result<()> {
    let mut segments = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        segments.extend(segment_number(&path).map(|first| (first, path)));
    }
    segments.sort_unstable();
    for (first, path) in segments {
        if !reader::read_segment(path, first, each)? {
            break;
        }
    }
    Ok(())
}

impl SpoolWriter {
    fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    fn append(&mut self, event: &[u8], segment_bytes: u64) -> io::Result<u64> {
        let is_full = self
            .segments
            .last()
            .is_none_or(|segment| segment.bytes >= segment_bytes);
        if is_full || self.is_broken {
            if !self.is_broken {
                self.file.sync_data()?;
            }
            let (segment, file) = create(&self.folder, self.next)?;
            self.segments.retain(|segment| segment.records > 0);
            self.segments.push(segment);
            self.file = file;
            self.is_broken = false;
        }
        self.buffer.clear();
        record(event, &mut self.buffer);
        if let Err(error) = self.file.write_all(&self.buffer) {
            // part of the record may be in the file; nothing can follow it
            self.is_broken = true;
            return Err(error);
        }
        if let Some(segment) = self.segments.last_mut() {
            segment.bytes += self.buffer.len() as u64;
            segment.records += 1;
        }
        let number = self.next;
        self.next += 1;
        // a single large event must not keep its memory
        self.buffer.shrink_to(64 << 10);
        Ok(number)
    }

    /// Removes segments that contain only events with smaller sequence numbers, except for the last segment.
    fn remove_before(&mut self, number: u64) {
        while self.segments.len() > 1
            && let Some(first) = self.segments.first()
            && first.end() <= number
        {
            // otherwise the file is removed at the next start, since the cursor is after it
            let _ = fs::remove_file(&first.path);
            self.segments.remove(0);
        }
    }
}

/// Creates the segment whose first event has a sequence number.
fn create(folder: &Path, first: u64) -> io::Result<(Segment, File)> {
    let path = folder.join(format!("{first:020}.log"));
    let mut file =
        private_files::options(OpenOptions::new().create(true).write(true).truncate(true))
            .open(&path)?;
    file.write_all(&header(first))?;
    file.sync_all()?;
    private_files::sync_folder(folder)?;
    let segment = Segment {
        path,
        first,
        bytes: HEADER_BYTES as u64,
        records: 0,
    };
    Ok((segment, file))
}

/// Returns the number in the name of a segment, or `None` if the file is not a segment.
fn segment_number(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?.strip_suffix(".log")?;
    (name.len() == 20).then(|| name.parse().ok()).flatten()
}

fn write_cursor(folder: &Path, cursor: Cursor, is_synced: bool) -> io::Result<()> {
    let new = folder.join("cursor.new");
    let mut file =
        private_files::options(OpenOptions::new().create(true).write(true).truncate(true))
            .open(&new)?;
    file.write_all(&cursor_text(cursor))?;
    if is_synced {
        file.sync_data()?;
    }
    fs::rename(&new, folder.join(CURSOR))
}

#[cfg(test)]
#[path = "../../../../../tests/server/unit/log_spool.rs"]
mod tests;
