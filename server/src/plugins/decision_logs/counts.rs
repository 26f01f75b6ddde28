//! Numbers of events that were not logged, by reason.

use std::sync::atomic::{AtomicU64, Ordering};

/// Declares counters with the names that `/metrics` and `/v1/status` show them by.
macro_rules! counts {
    ($($(#[doc = $doc:literal])+ $field:ident: $name:literal,)+) => {
        /// Counters of a decision log.
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
    /// Decisions that the drop policy left out.
    dropped_by_policy: "solon_decision_logs_dropped_by_policy_total",
    /// Decisions that were not logged because the drop policy failed.
    drop_failures: "solon_decision_logs_drop_failures_total",
    /// Decisions that were not logged because the mask policy failed.
    mask_failures: "solon_decision_logs_mask_failures_total",
}

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds 1.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds a number.
    pub fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    /// Returns the number.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
