//! Counters of bundle downloads in `/metrics`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::status::BundleStatus;
use crate::config::Spelling;

/// Maximum number of series of failures. Further failures are counted with the message `other`, because services choose messages.
const FAILURES: usize = 256;

/// Counters of all bundles since the start.
#[derive(Default)]
pub struct BundleMetrics {
    loaded: Family<BundleLabels, Counter>,
    failed: Mutex<BTreeMap<FailureLabels, u64>>,
    durations: Mutex<StageDurations>,
}

/// Histograms of the duration of each stage of a download, in nanoseconds.
struct StageDurations {
    /// Upper bounds of the buckets, in ascending order.
    bounds: Vec<f64>,
    stages: BTreeMap<StageLabels, Histogram>,
}

impl Default for StageDurations {
    fn default() -> Self {
        Self::new(default_bounds())
    }
}

impl StageDurations {
    fn new(bounds: Vec<f64>) -> Self {
        Self {
            bounds,
            stages: BTreeMap::new(),
        }
    }
}

/// Returns the bounds of a configuration without `status.prometheus_config`: 1 µs, doubled 19 times.
fn default_bounds() -> Vec<f64> {
    exponential_buckets(1000.0, 2.0, 20).collect()
}

/// Labels of a stage of a download. `stage` is the public name of its timer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct StageLabels {
    name: String,
    stage: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BundleLabels {
    name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ActiveLabels {
    active_revision: String,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct FailureLabels {
    code: String,
    message: String,
    name: String,
}

#[derive(Debug)]
struct StageHistograms(Vec<(StageLabels, Histogram)>);

impl EncodeMetric for StageHistograms {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        for (labels, histogram) in &self.0 {
            histogram.encode(encoder.encode_family(labels)?)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

type TimeOf = fn(&BundleStatus) -> Option<SystemTime>;

type TimeGauge = Gauge<f64, AtomicU64>;

impl BundleMetrics {
    /// Replaces the bounds of the histograms, which removes earlier durations if the bounds differ. `None` sets the default.
    pub fn set_bounds(&self, bounds: Option<&[f64]>) {
        let bounds = bounds.map_or_else(default_bounds, <[f64]>::to_vec);
        let mut durations = self.durations.lock();
        if durations.bounds != bounds {
            *durations = StageDurations::new(bounds);
        }
    }

    /// Counts the end of a download, an unchanged bundle included.
    pub fn observe(&self, status: &BundleStatus) {
        let mut durations = self.durations.lock();
        for (stage, nanoseconds) in &status.metrics {
            let labels = StageLabels {
                name: status.name.clone(),
                stage: stage.clone(),
            };
            let bounds = durations.bounds.clone();
            let histogram = durations.stages.entry(labels);
            #[expect(
                clippy::cast_precision_loss,
                reason = "the sum of durations is a float"
            )]
            histogram
                .or_insert_with(|| Histogram::new(bounds))
                .observe(*nanoseconds as f64);
        }
        drop(durations);
        let Some(code) = &status.code else {
            let name = status.name.clone();
            self.loaded.get_or_create(&BundleLabels { name }).inc();
            return;
        };
        let mut failure = FailureLabels {
            code: code.clone(),
            message: status.message.clone().unwrap_or_default(),
            name: status.name.clone(),
        };
        let mut failed = self.failed.lock();
        if failed.len() >= FAILURES && !failed.contains_key(&failure) {
            "other".clone_into(&mut failure.message);
        }
        let count = failed.entry(failure).or_default();
        *count = count.saturating_add(1);
    }

    /// Registers the counters and the times of the bundles.
    pub fn register(
        &self,
        registry: &mut Registry,
        bundles: &BTreeMap<String, BundleStatus>,
        spelling: Spelling,
    ) {
        registry.register(
            "bundle_loaded_counter",
            "Counter for the bundle loaded",
            self.loaded.clone(),
        );
        let failed = Family::<FailureLabels, Counter>::default();
        for (failure, count) in &*self.failed.lock() {
            let message = spelling.message(&failure.message).into_owned();
            let labels = FailureLabels {
                message,
                ..failure.clone()
            };
            failed.get_or_create(&labels).inc_by(*count);
        }
        let help = "Counter for the failed bundle load";
        registry.register("bundle_failed_load_counter", help, failed);
        let durations = self.durations.lock();
        let stages = durations.stages.iter().map(|(labels, histogram)| {
            let labels = StageLabels {
                name: labels.name.clone(),
                stage: spelling.metric(&labels.stage).into_owned(),
            };
            (labels, histogram.clone())
        });
        let stages = StageHistograms(stages.collect());
        drop(durations);
        let help = "Histogram for the bundle loading duration by stage";
        registry.register("bundle_loading_duration_ns", help, stages);
        let times: [(&str, &str, TimeOf); 3] = [
            (
                "last_bundle_request",
                "Gauge for the last bundle request",
                |bundle| bundle.last_request,
            ),
            (
                "last_success_bundle_download",
                "Gauge for the last success bundle download",
                |bundle| bundle.last_successful_download,
            ),
            (
                "last_success_bundle_request",
                "Gauge for the last success bundle request",
                |bundle| bundle.last_successful_request,
            ),
        ];
        for (metric, help, time) in times {
            let family = Family::<BundleLabels, TimeGauge>::default();
            for bundle in bundles.values() {
                if let Some(time) = time(bundle) {
                    let name = bundle.name.clone();
                    family
                        .get_or_create(&BundleLabels { name })
                        .set(nanoseconds(time));
                }
            }
            registry.register(metric, help, family);
        }
        let activations = Family::<ActiveLabels, TimeGauge>::default();
        for bundle in bundles.values() {
            if let Some(time) = bundle.last_successful_activation {
                let labels = ActiveLabels {
                    active_revision: bundle.active_revision.clone().unwrap_or_default(),
                    name: bundle.name.clone(),
                };
                activations.get_or_create(&labels).set(nanoseconds(time));
            }
        }
        let help = "Gauge for the last success bundle activation";
        registry.register("last_success_bundle_activation", help, activations);
    }
}

/// Returns nanoseconds since 1970.
fn nanoseconds(time: SystemTime) -> f64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs_f64() * 1e9
}

#[cfg(test)]
mod tests {
    use super::{BundleMetrics, FAILURES};
    use crate::plugins::bundles::status::{BundleFailure, BundleStatus};

    #[test]
    fn the_number_of_series_is_limited() {
        let metrics = BundleMetrics::default();
        let mut status = BundleStatus::new("a");
        for number in 0..FAILURES + 10 {
            status.fail(&BundleFailure::new(format!("message {number}")));
            metrics.observe(&status);
            metrics.observe(&status);
        }
        let failed = metrics.failed.lock();
        assert_eq!(failed.len(), FAILURES + 1);
        let other_failures = failed.iter().find(|(labels, _)| labels.message == "other");
        assert_eq!(other_failures.map(|(_, count)| *count), Some(20));
    }
}
