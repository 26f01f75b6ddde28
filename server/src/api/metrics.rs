//! The metrics of one request.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::config::Spelling;

/// Timers and counters by their published names.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    values: BTreeMap<String, u64>,
}

impl Metrics {
    /// Notes how long something took.
    pub fn timer(&mut self, name: &str, took: Duration) {
        self.values.insert(
            format!("timer_{name}_ns"),
            u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
        );
    }

    /// Notes how long something took that began at `start` and ends now.
    pub fn since(&mut self, name: &str, start: Instant) {
        self.timer(name, start.elapsed());
    }

    /// Notes a count.
    pub fn counter(&mut self, name: &str, count: u64) {
        self.values.insert(format!("counter_{name}"), count);
    }

    /// Notes what `http.send` did.
    pub fn sent(&mut self, sent: &solon::SendMetrics) {
        if let Some((name, took)) = sent.timer() {
            self.timer(name, took);
        }
        for (name, count) in sent.counters() {
            self.counter(name, count);
        }
    }

    /// Names and values, as answers list them.
    pub fn spelled(&self, spelling: Spelling) -> BTreeMap<String, u64> {
        self.values
            .iter()
            .map(|(name, value)| (spelling.metric(name).into_owned(), *value))
            .collect()
    }
}
