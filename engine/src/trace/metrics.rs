//! Metrics under OPA's names.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

use super::instruments::Instruments;
use super::statistics::Statistics;
use crate::builtins::SendMetrics;

/// Times and counts of compilations and evaluations under OPA's names. Repeated measurements are added. The JSON form
/// is an object: `{"timer_rego_query_eval_ns": …, "counter_…": …, "histogram_…": {…}}`, with times in nanoseconds.
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

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum Measured {
    Number(u64),
    /// Distribution of nanoseconds in the last evaluation.
    Histogram(Statistics),
}

impl Metrics {
    /// Adds a time; `name` has no `timer_` prefix and no `_ns` suffix.
    pub fn time(&mut self, name: &str, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.add(["timer_", name, "_ns"].concat(), took);
    }

    /// Adds the time from `start` until now.
    pub fn since(&mut self, name: &str, start: Instant) {
        self.time(name, start.elapsed());
    }

    /// Adds to a counter; `name` has no `counter_` prefix.
    pub fn count(&mut self, name: &str, times: u64) {
        self.add(["counter_", name].concat(), times);
    }

    fn add(&mut self, name: String, number: u64) {
        let measured = self.0.entry(name).or_insert(Measured::Number(0));
        if let Measured::Number(sum) = measured {
            *sum = sum.saturating_add(number);
        }
    }

    /// Adds the measurements of `http.send`, under OPA's names.
    pub fn add_http_sends(&mut self, metrics_of_send: &SendMetrics) {
        if let Some((name, took)) = metrics_of_send.timer() {
            self.time(name, took);
        }
        for (name, times) in metrics_of_send.counters() {
            self.count(name, times);
        }
    }

    /// Adds the measurements of a search.
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

    /// Iterates over times in nanoseconds and counts, ordered by name.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().filter_map(|(name, measured)| match measured {
            Measured::Number(number) => Some((&**name, *number)),
            Measured::Histogram(_) => None,
        })
    }

    /// Iterates over the distributions of times, ordered by name.
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
