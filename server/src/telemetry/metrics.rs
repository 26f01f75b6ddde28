//! Timers, counters and histograms of one request, or of one run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use solon::SendMetrics;
use solon::trace::{Instruments, Statistics};

/// What was measured, by its published name; nothing where nobody asks for it.
pub struct Metrics(Option<RefCell<BTreeMap<String, Measured>>>);

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
        Self(asked.then(RefCell::default))
    }

    /// Whether anything is measured.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
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
        let Some(all) = &self.0 else { return };
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let mut all = all.borrow_mut();
        let timer = all
            .entry(format!("timer_{name}_ns"))
            .or_insert(Measured::Number(0));
        if let Measured::Number(sum) = timer {
            *sum = sum.saturating_add(took);
        }
    }

    /// Notes how long something took that began at `start` and ends now.
    pub fn since(&self, name: &str, start: Instant) {
        self.add(name, start.elapsed());
    }

    /// Notes a count.
    pub fn counter(&self, name: &str, count: u64) {
        if let Some(all) = &self.0 {
            let name = format!("counter_{name}");
            all.borrow_mut().insert(name, Measured::Number(count));
        }
    }

    /// Notes what was measured of a search.
    pub fn instruments(&self, instruments: &Instruments) {
        for (name, total, statistics) in instruments.times() {
            self.add(name, total);
            if let Some(all) = &self.0 {
                let name = format!("histogram_{name}");
                let histogram = Measured::Histogram(statistics);
                all.borrow_mut().insert(name, histogram);
            }
        }
        for (name, count) in instruments.counts() {
            self.counter(name, count);
        }
    }

    /// Notes what `http.send` did.
    pub fn sent(&self, sent: &SendMetrics) {
        if let Some((name, took)) = sent.timer() {
            self.add(name, took);
        }
        for (name, count) in sent.counters() {
            self.counter(name, count);
        }
    }

    /// Everything by name.
    pub fn all(&self) -> BTreeMap<String, Measured> {
        self.0
            .as_ref()
            .map(|all| all.borrow().clone())
            .unwrap_or_default()
    }
}
