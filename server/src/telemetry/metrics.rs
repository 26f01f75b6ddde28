//! Timers, counters and histograms of one request, or of one run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use solon::SendMetrics;
use solon::trace::{Instruments, Metrics as Engine, Statistics};

/// Measurements by their public names; empty if nothing is measured.
pub struct Metrics {
    all: Option<RefCell<Engine>>,
    /// `true` if the response contains the measurements. Decision logs measure each decision.
    pub is_shown: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Measurement {
    /// Nanoseconds, or a count.
    Number(u64),
    /// Distribution of nanoseconds.
    Histogram(Statistics),
}

impl Default for Metrics {
    fn default() -> Self {
        Self::when(true)
    }
}

impl Metrics {
    /// Creates metrics. If `enabled` is `false`, they record nothing and cost a branch.
    pub fn when(enabled: bool) -> Self {
        Self {
            all: enabled.then(RefCell::default),
            is_shown: enabled,
        }
    }

    /// Enables the metrics for a decision log, even if the response does not contain them.
    #[must_use]
    pub fn logged(self) -> Self {
        Self {
            all: Some(self.all.unwrap_or_default()),
            ..self
        }
    }

    /// Returns `true` if the metrics are enabled.
    pub fn is_on(&self) -> bool {
        self.all.is_some()
    }

    /// Returns the current time, if the metrics are enabled.
    pub fn start(&self) -> Option<Instant> {
        self.is_on().then(Instant::now)
    }

    /// Adds the time since `start`, if there is one.
    pub fn end(&self, name: &str, start: Option<Instant>) {
        if let Some(start) = start {
            self.since(name, start);
        }
    }

    /// Adds a duration. Several stages with one name are added up.
    pub fn add(&self, name: &str, took: Duration) {
        self.note(|all| all.time(name, took));
    }

    /// Adds the time since `start` to the timer `name`.
    pub fn since(&self, name: &str, start: Instant) {
        self.note(|all| all.since(name, start));
    }

    /// Adds a count to the counter `name`.
    pub fn counter(&self, name: &str, count: u64) {
        self.note(|all| all.count(name, count));
    }

    /// Adds the instrumentation of a traced evaluation.
    pub fn instruments(&self, instruments: &Instruments) {
        self.note(|all| all.instruments(instruments));
    }

    /// Adds the counters and timers of `http.send`.
    pub fn add_http_sends(&self, send_metrics: &SendMetrics) {
        self.note(|all| all.add_http_sends(send_metrics));
    }

    fn note(&self, record: impl FnOnce(&mut Engine)) {
        if let Some(all) = &self.all {
            record(&mut all.borrow_mut());
        }
    }

    /// Returns all measurements by name. The map is empty if the metrics are disabled.
    pub fn all(&self) -> BTreeMap<String, Measurement> {
        self.renamed(str::to_owned)
    }

    /// Returns all measurements by the names that `rename` returns. The map is empty if the metrics are disabled.
    pub fn renamed(&self, rename: impl Fn(&str) -> String) -> BTreeMap<String, Measurement> {
        let Some(all) = &self.all else {
            return BTreeMap::new();
        };
        let all = all.borrow();
        let numbers = all.numbers();
        let numbers = numbers.map(|(name, number)| (rename(name), Measurement::Number(number)));
        let histograms = all.histograms();
        let histograms = histograms
            .map(|(name, statistics)| (rename(name), Measurement::Histogram(*statistics)));
        numbers.chain(histograms).collect()
    }
}
