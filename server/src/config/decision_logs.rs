//! Options of decision logs: destinations, contents, uploads and the spool.

use std::path::PathBuf;
use std::time::Duration;

use super::LogExportOptions;

/// Destinations and contents of decision logs.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionLogOptions {
    /// Writes each event to standard error, as OPA's console does.
    pub console: bool,
    /// Name of the service that events are uploaded to.
    pub service: Option<String>,
    /// Path relative to the URL of the service.
    pub resource: String,
    /// Path of the document that lists the fields to remove from events.
    pub mask_decision: String,
    /// Path of the document that drops events if it is `true`.
    pub drop_decision: String,
    /// Request headers that are part of events.
    pub headers: Vec<String>,
    /// Records the results of nondeterministic built-in functions.
    pub nd_builtin_cache: bool,
    /// Times and limits of uploads.
    pub reporting: ReportingOptions,
    /// Writes each event to standard output.
    pub stdout: bool,
    /// Writes each event to a file.
    pub file: Option<LogFileOptions>,
    /// Writes each event to a SQLite file.
    pub sqlite: Option<LogDatabaseOptions>,
    /// Sends each event to a receiver of OTLP.
    pub otlp: Option<LogExportOptions>,
    /// Keeps events on disk until they are uploaded.
    pub spool: Option<SpoolOptions>,
}

/// A file with one event per line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFileOptions {
    /// Path of the file. Earlier files have the same path with a number.
    pub path: PathBuf,
    /// Size in bytes above which a new file is started.
    pub max_bytes: u64,
    /// Number of earlier files to keep.
    pub max_files: usize,
}

/// A SQLite file with one row per event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogDatabaseOptions {
    /// Path of the file, which is created if it does not exist.
    pub path: PathBuf,
    /// Number of the latest events to keep; 0 keeps all.
    pub max_events: u64,
}

/// A bounded spool on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolOptions {
    /// Folder of the segment files.
    pub directory: PathBuf,
    /// Maximum size of all segments in bytes.
    pub max_bytes: u64,
    /// Size in bytes above which a new segment is started.
    pub segment_bytes: u64,
    /// Time at which events are synchronized with the disk.
    pub fsync: Fsync,
    /// Handling of an event if the spool is full.
    pub when_full: WhenFull,
}

/// Time at which events of a spool are synchronized with the disk. No choice loses an event if the process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fsync {
    /// Before the response is sent. A power failure loses no event.
    Always,
    /// Every second. A power failure loses the events of up to a second.
    Interval,
    /// When the operating system writes them.
    Never,
}

/// Handling of an event if the spool is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The event is dropped and counted.
    Drop,
    /// The response to its request is 500.
    Reject,
}

/// Times and limits of uploads to a service.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportingOptions {
    /// Limit of the events that wait for an upload.
    pub buffer: BufferLimit,
    /// Maximum size of the body of an upload, in bytes after compression.
    pub upload_bytes: usize,
    /// Minimum delay between two uploads.
    pub min_delay: Duration,
    /// Maximum delay between two uploads.
    pub max_delay: Duration,
    /// Maximum number of events per second. Events beyond it are dropped.
    pub per_second: Option<f64>,
    /// Event that starts an upload.
    pub trigger: ReportingTrigger,
}

/// Limit of the events that wait for an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferLimit {
    /// Compressed size in bytes; `None` is unlimited, as in OPA.
    Bytes(Option<usize>),
    /// Number of events, of any size.
    Events(usize),
}

/// Event that starts an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportingTrigger {
    /// After a delay.
    Periodic,
    /// After a delay, and whenever a chunk is full.
    Immediate,
}
