//! Options of decision logs.

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
    /// When the program that embeds the server requests it.
    Manual,
}
