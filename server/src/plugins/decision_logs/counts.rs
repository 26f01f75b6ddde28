//! Numbers of events that were not logged, by reason.

use std::sync::atomic::{AtomicU64, Ordering};

/// Declares counters with their names in `/metrics` and `/v1/status`.
macro_rules! counts {
    ($($(#[doc = $doc:literal])+ $field:ident: $name:literal,)+) => {
        /// Counters of a decision log, for `/metrics`.
        #[derive(Debug, Default)]
        pub struct LogCounts {
            $($(#[doc = $doc])+ pub $field: Counter,)+
        }

        impl LogCounts {
            /// Returns each counter with its name and description.
            pub fn all(&self) -> Vec<(&'static str, &'static str, u64)> {
                vec![$(($name, concat!($($doc),+).trim_ascii(), self.$field.get()),)+]
            }
        }
    };
}

counts! {
    /// Decisions that were logged.
    logged: "solon_decision_logs_events_total",
    /// Decisions that the drop policy dropped.
    dropped_by_policy: "solon_decision_logs_dropped_by_policy_total",
    /// Decisions that were not logged because the drop policy failed.
    drop_failures: "solon_decision_logs_drop_failures_total",
    /// Decisions that were not logged because the mask policy failed.
    mask_failures: "solon_decision_logs_mask_failures_total",
    /// Events that were dropped because of `max_decisions_per_second`.
    dropped_rate: "decision_logs_dropped_rate_limit_exceeded_total",
    /// Events that were dropped because the buffer, limited by the number of events, was full.
    dropped_events: "decision_logs_dropped_buffer_size_limit_exceeded_total",
    /// Events that were dropped because the buffer, limited by size, was full.
    dropped_bytes: "decision_logs_dropped_buffer_size_limit_bytes_exceeded_total",
    /// Events that were uploaded without `nd_builtin_cache` because they were too large.
    nd_cache_dropped: "decision_logs_nd_builtin_cache_dropped_total",
    /// Events that were dropped because they were too large for an upload.
    encoding_failures: "decision_logs_encoding_failure_total",
    /// Events that were uploaded.
    uploaded: "solon_decision_logs_uploaded_total",
    /// Uploads that succeeded.
    chunks: "decision_logs_chunks_uploaded_total",
    /// Uploads that failed.
    upload_failures: "decision_logs_chunks_upload_failed_total",
    /// Events that were dropped because the spool was full.
    dropped_spool: "solon_decision_logs_dropped_spool_full_total",
    /// Events that could not be written to a file, standard output or the spool, or not sent over OTLP.
    write_failures: "solon_decision_logs_write_failures_total",
}

/// Reason why events were not logged or uploaded.
#[derive(Clone, Debug)]
pub struct LogFailure {
    pub message: String,
    /// Status of the response, if an upload was rejected.
    pub http_code: Option<u16>,
}

/// A counter that only grows. Its atomic operations are relaxed.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds 1, without a lock.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds a number, without a lock.
    pub fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
