//! What was measured, by the names that OPA publishes it under.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

use super::instruments::Instruments;
use super::statistics::Statistics;
use crate::builtins::SendMetrics;

/// Times and counts of compilations and evaluations by the names that OPA publishes them under. What is noted again is
/// added. Its JSON is an object: `{"timer_rego_query_eval_ns": …, "counter_…": …, "histogram_…": {…}}`, times in
/// nanoseconds.
///
/// ```
/// use std::time::Duration;
/// use solon::trace::Metrics;
///
/// let mut metrics = Metrics::default();
/// metrics.time("rego_query_eval", Duration::from_nanos(400));
/// metrics.time("rego_query_eval", Duration::from_nanos(200));
/// metrics.count("eval_op_base_cache_miss", 1);
/// let numbers: Vec<(&str, u64)> = metrics.numbers().collect();
/// assert_eq!(numbers, [("counter_eval_op_base_cache_miss", 1), ("timer_rego_query_eval_ns", 600)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Metrics(BTreeMap<String, Measured>);

/// One thing that was measured.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum Measured {
    /// Nanoseconds, or how often.
    Number(u64),
    /// The distribution of nanoseconds in the last evaluation.
    Histogram(Statistics),
}

impl Metrics {
    /// Notes how long something took, by its name without `timer_` and `_ns`.
    pub fn time(&mut self, name: &str, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.add(format!("timer_{name}_ns"), took);
    }

    /// Notes how long something took that began at `start` and ends now.
    pub fn since(&mut self, name: &str, start: Instant) {
        self.time(name, start.elapsed());
    }

    /// Notes how often something happened, by its name without `counter_`.
    pub fn count(&mut self, name: &str, times: u64) {
        self.add(format!("counter_{name}"), times);
    }

    fn add(&mut self, name: String, number: u64) {
        let measured = self.0.entry(name).or_insert(Measured::Number(0));
        if let Measured::Number(sum) = measured {
            *sum = sum.saturating_add(number);
        }
    }

    /// Notes what `http.send` did.
    pub fn sent(&mut self, sent: &SendMetrics) {
        if let Some((name, took)) = sent.timer() {
            self.time(name, took);
        }
        for (name, times) in sent.counters() {
            self.count(name, times);
        }
    }

    /// Notes what was measured of a search.
    pub fn instruments(&mut self, instruments: &Instruments) {
        for (name, total, statistics) in instruments.times() {
            self.time(name, total);
            let histogram = Measured::Histogram(statistics);
            self.0.insert(format!("histogram_{name}"), histogram);
        }
        for (name, times) in instruments.counts() {
            self.count(name, times);
        }
    }

    /// Times in nanoseconds and counts, ordered by name.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().filter_map(|(name, measured)| match measured {
            Measured::Number(number) => Some((&**name, *number)),
            Measured::Histogram(_) => None,
        })
    }

    /// How the times of a search were distributed, ordered by name.
    pub fn histograms(&self) -> impl Iterator<Item = (&str, &Statistics)> {
        self.0.iter().filter_map(|(name, measured)| match measured {
            Measured::Histogram(statistics) => Some((&**name, statistics)),
            Measured::Number(_) => None,
        })
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
