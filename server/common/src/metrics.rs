//! Metrics of requests, on top of `prometheus-client`: a lock-free histogram, and families whose metrics are found without
//! a lock.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use hashbrown::HashMap;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// Upper bounds, in seconds, of the buckets of requests, unless configured.
pub const REQUEST_BUCKETS: [f64; 10] = [1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 0.01, 0.1, 1.0];

/// A histogram of durations. Unlike `prometheus_client`'s histogram, which takes a mutex, it consists of atomic counters. Clones share
/// them.
#[derive(Clone, Debug)]
pub struct DurationHistogram(Arc<Buckets>);

#[derive(Debug)]
struct Buckets {
    /// Upper bounds in seconds, in ascending order.
    bounds: Vec<f64>,
    /// Number of durations in each bucket. The last one, after those of `bounds`, has no upper bound.
    counts: Vec<AtomicU64>,
    nanoseconds: AtomicU64,
}

impl DurationHistogram {
    /// Creates an empty histogram. `bounds` are upper bounds in seconds, in ascending order.
    pub fn new(bounds: &[f64]) -> Self {
        Self(Arc::new(Buckets {
            bounds: bounds.to_vec(),
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            nanoseconds: AtomicU64::new(0),
        }))
    }

    /// Counts a duration in its bucket and in the sum. Lock-free.
    pub fn observe(&self, duration: Duration) {
        let Buckets {
            bounds,
            counts,
            nanoseconds,
        } = &*self.0;
        let seconds = duration.as_secs_f64();
        let bucket = bounds.partition_point(|upper_bound| *upper_bound < seconds);
        if let Some(count) = counts.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let added = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        nanoseconds.fetch_add(added, Ordering::Relaxed);
    }
}

impl TypedMetric for DurationHistogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for DurationHistogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let bounds = self.0.bounds.iter().copied().chain([f64::INFINITY]);
        let counts = self.0.counts.iter();
        let counts = counts.map(|count| count.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = Duration::from_nanos(self.0.nanoseconds.load(Ordering::Relaxed));
        encoder.encode_histogram::<NoLabelSet>(sum.as_secs_f64(), count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

/// Creates histograms with the same bounds, which they share.
#[derive(Clone, Debug)]
pub struct HistogramBounds(Arc<[f64]>);

impl MetricConstructor<DurationHistogram> for HistogramBounds {
    fn new_metric(&self) -> DurationHistogram {
        DurationHistogram::new(&self.0)
    }
}

/// A [`Family`] that finds metrics without a lock after the first use of their labels. Metrics are never removed, so the number of label
/// sets must be limited. Clones share the metrics.
#[derive(Clone)]
pub struct CachedFamily<L, M, C> {
    family: Family<L, M, C>,
    cache: Arc<ArcSwap<HashMap<L, M>>>,
}

/// A family of counters, one for each set of labels.
pub type CounterFamily<L> = CachedFamily<L, Counter, fn() -> Counter>;

/// A family of histograms of durations, one for each set of labels.
pub type DurationFamily<L> = CachedFamily<L, DurationHistogram, HistogramBounds>;

impl<L: Clone + Eq + Hash> CounterFamily<L> {
    /// Creates an empty family of counters.
    pub fn counters() -> Self {
        Self::new(Counter::default)
    }
}

impl<L: Clone + Eq + Hash> DurationFamily<L> {
    /// Creates an empty family of histograms. `bounds` are upper bounds in seconds, in ascending order.
    pub fn durations(bounds: &[f64]) -> Self {
        Self::new(HistogramBounds(bounds.into()))
    }
}

impl<L: Clone + Eq + Hash, M: Clone, C: Clone + MetricConstructor<M>> CachedFamily<L, M, C> {
    /// Creates an empty family whose metrics `constructor` creates.
    fn new(constructor: C) -> Self {
        Self {
            family: Family::new_with_constructor(constructor),
            cache: Arc::default(),
        }
    }

    /// Returns the family, to be registered. It shares its metrics.
    pub fn family(&self) -> Family<L, M, C> {
        self.family.clone()
    }

    /// Calls `update` with the metric that has these labels.
    pub fn with(&self, labels: &L, update: impl FnOnce(&M)) {
        if let Some(metric) = self.cache.load().get(labels) {
            return update(metric);
        }
        let metric = self.family.get_or_create(labels).clone();
        update(&metric);
        self.cache.rcu(|cache| {
            let mut cache = HashMap::clone(cache);
            cache.insert(labels.clone(), metric.clone());
            cache
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prometheus_client::encoding::prometheus_text::encode;
    use prometheus_client::registry::Registry;

    use super::{CounterFamily, DurationFamily, DurationHistogram};

    fn text(registry: &Registry) -> String {
        let mut text = String::new();
        encode(&mut text, registry).unwrap();
        text
    }

    #[test]
    fn durations_are_counted_in_buckets() {
        let mut registry = Registry::default();
        let histogram = DurationHistogram::new(&[1e-6, 0.01, 1.0]);
        registry.register("took", "How long", histogram.clone());
        histogram.observe(Duration::from_micros(1));
        histogram.observe(Duration::from_millis(5));
        histogram.observe(Duration::from_secs(5));
        assert_eq!(
            text(&registry),
            "# HELP took How long.\n# TYPE took histogram\n\
             took_bucket{le=\"1e-06\"} 1\ntook_bucket{le=\"0.01\"} 2\n\
             took_bucket{le=\"1\"} 2\ntook_bucket{le=\"+Inf\"} 3\n\
             took_sum 5.005001\ntook_count 3\n"
        );
    }

    #[test]
    fn each_label_set_has_one_metric() {
        let mut registry = Registry::default();
        let labels = |code: &str| vec![("code", code.to_owned())];
        let family = CounterFamily::counters();
        registry.register("answers", "Answers", family.family());
        assert_eq!(text(&registry), "");
        for code in ["200", "404", "200", "200"] {
            family.with(&labels(code), |counter| {
                counter.inc();
            });
        }
        let text = text(&registry);
        for line in ["{code=\"200\"} 3\n", "{code=\"404\"} 1\n"] {
            assert!(text.contains(&format!("answers_total{line}")), "{text}");
        }
        let histograms = DurationFamily::durations(&[1.0]);
        histograms.with(&labels("200"), |histogram| {
            histogram.observe(Duration::from_secs(2));
        });
        let mut registry = Registry::default();
        registry.register("took", "How long", histograms.family());
        assert!(self::text(&registry).contains("took_count{code=\"200\"} 1\n"));
    }
}
