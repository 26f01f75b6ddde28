//! Options of decision logs.

use std::path::PathBuf;
use std::time::Duration;

/// Where decisions are logged, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionLogOptions {
    /// Writes each event to standard error, as OPA's console does.
    pub console: bool,
    /// Name of the service that events are uploaded to.
    pub service: Option<String>,
    /// Path below the URL of the service.
    pub resource: String,
    /// Path of the document that lists what is removed from events.
    pub mask_decision: String,
    /// Path of the document that drops events where it is `true`.
    pub drop_decision: String,
    /// Headers of requests that are part of events.
    pub headers: Vec<String>,
    /// Records the results of nondeterministic built-in functions.
    pub nd_builtin_cache: bool,
    /// When and how events are uploaded.
    pub reporting: ReportingOptions,
    /// Writes each event to standard output.
    pub stdout: bool,
    /// Writes each event to a file.
    pub file: Option<LogFileOptions>,
    /// Writes each event to a SQLite file.
    pub sqlite: Option<LogDatabaseOptions>,
    /// Keeps events on disk until they are uploaded.
    pub spool: Option<SpoolOptions>,
}

/// A file with an event on each line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFileOptions {
    /// Path of the file.
    pub path: PathBuf,
    /// Size in bytes from which on another file is begun.
    pub max_bytes: u64,
    /// Number of earlier files that are kept.
    pub max_files: usize,
}

/// A SQLite file with a row for each event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogDatabaseOptions {
    /// Path of the file.
    pub path: PathBuf,
    /// Number of the latest events that are kept; 0 keeps all.
    pub max_events: u64,
}

/// A bounded spool on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolOptions {
    /// Folder of the spool.
    pub directory: PathBuf,
    /// Maximum size of all segments in bytes.
    pub max_bytes: u64,
    /// Size in bytes from which on another segment is begun.
    pub segment_bytes: u64,
    /// When events are synchronized with the disk.
    pub fsync: Fsync,
    /// What happens to an event if the spool is full.
    pub when_full: WhenFull,
}

/// When events of a spool are synchronized with the disk. None of these loses an event if the process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fsync {
    /// Before the response is sent. A power failure loses nothing.
    Always,
    /// Each second. A power failure loses the events of a second.
    Interval,
    /// When the operating system writes them.
    Never,
}

/// What happens to an event if the spool is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// It is dropped and counted.
    Drop,
    /// The response to its request is 500.
    Reject,
}

/// When events are uploaded to a service, and which wait for that.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportingOptions {
    /// What the buffer is limited by.
    pub buffer: BufferLimit,
    /// Maximum size of the body of an upload, in bytes after compression.
    pub upload_bytes: usize,
    /// Minimum delay between two uploads.
    pub min_delay: Duration,
    /// Maximum delay between two uploads.
    pub max_delay: Duration,
    /// Maximum number of events a second. Events beyond it are dropped.
    pub per_second: Option<f64>,
    /// When events are uploaded.
    pub trigger: ReportingTrigger,
}

/// Limit of the events that wait for an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferLimit {
    /// Compressed size in bytes; `None` is unlimited, as in OPA.
    Bytes(Option<usize>),
    /// Number of events.
    Events(usize),
}

/// When events are uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportingTrigger {
    /// After a delay.
    Periodic,
    /// After a delay, and whenever a chunk is full.
    Immediate,
}
