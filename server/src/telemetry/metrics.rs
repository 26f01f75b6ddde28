//! Timers, counters and histograms of one request, or of one run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use solon::SendMetrics;
use solon::trace::{Instruments, Metrics as Engine, Statistics};

/// What was measured, by its published name; nothing where nobody asks for it.
pub struct Metrics {
    all: Option<RefCell<Engine>>,
    /// `true` if the response contains the measurements. Decision logs measure each decision.
    pub is_shown: bool,
}

/// One thing that was measured.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Measured {
    /// Nanoseconds, or how often.
    Number(u64),
    /// The distribution of nanoseconds.
    Histogram(Statistics),
}

impl Default for Metrics {
    fn default() -> Self {
        Self::when(true)
    }
}

impl Metrics {
    /// Measures where that is asked for.
    pub fn when(asked: bool) -> Self {
        Self {
            all: asked.then(RefCell::default),
            is_shown: asked,
        }
    }

    /// Measures for a decision log, even if the response does not contain the measurements.
    #[must_use]
    pub fn logged(self) -> Self {
        Self {
            all: Some(self.all.unwrap_or_default()),
            ..self
        }
    }

    /// Whether anything is measured.
    pub fn is_on(&self) -> bool {
        self.all.is_some()
    }

    /// When something begins, if that is measured.
    pub fn start(&self) -> Option<Instant> {
        self.is_on().then(Instant::now)
    }

    /// Notes how long something took that began at `start`.
    pub fn end(&self, name: &str, start: Option<Instant>) {
        if let Some(start) = start {
            self.since(name, start);
        }
    }

    /// Notes how long something took; of several stages of one name all together.
    pub fn add(&self, name: &str, took: Duration) {
        self.note(|all| all.time(name, took));
    }

    /// Notes how long something took that began at `start` and ends now.
    pub fn since(&self, name: &str, start: Instant) {
        self.note(|all| all.since(name, start));
    }

    /// Notes a count.
    pub fn counter(&self, name: &str, count: u64) {
        self.note(|all| all.count(name, count));
    }

    /// Notes what was measured of a search.
    pub fn instruments(&self, instruments: &Instruments) {
        self.note(|all| all.instruments(instruments));
    }

    /// Notes what `http.send` did.
    pub fn sent(&self, sent: &SendMetrics) {
        self.note(|all| all.sent(sent));
    }

    fn note(&self, what: impl FnOnce(&mut Engine)) {
        if let Some(all) = &self.all {
            what(&mut all.borrow_mut());
        }
    }

    /// Everything by name.
    pub fn all(&self) -> BTreeMap<String, Measured> {
        let Some(all) = &self.all else {
            return BTreeMap::new();
        };
        let all = all.borrow();
        let numbers = all.numbers();
        let numbers = numbers.map(|(name, number)| (name.to_owned(), Measured::Number(number)));
        let histograms = all.histograms();
        let histograms =
            histograms.map(|(name, many)| (name.to_owned(), Measured::Histogram(*many)));
        numbers.chain(histograms).collect()
    }
}
