//! Metrics of builds: results, durations and last successes.

use std::sync::atomic::AtomicI64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use solon_common::metrics::{CounterFamily, DurationFamily};

use super::git_metrics::GitMetrics;
use crate::config::MetricsSettings;
use crate::db::BuildState;

/// Upper bounds of the buckets for builds, in seconds.
const BUILD_BUCKETS: [f64; 10] = [0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 5.0, 10.0, 30.0, 60.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BundleLabels {
    bundle: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabels {
    bundle: String,
    state: &'static str,
}

/// Metrics of builds. Clones share them. Disabled ones are `None`.
#[derive(Clone)]
pub struct BuildMetrics {
    counts: Option<CounterFamily<ResultLabels>>,
    times: Option<DurationFamily<BundleLabels>>,
    successes: Family<BundleLabels, Gauge<i64, AtomicI64>>,
    /// Counts and durations of fetching repositories.
    pub git: GitMetrics,
}

impl Default for BuildMetrics {
    fn default() -> Self {
        Self::new(&MetricsSettings::default())
    }
}

impl BuildMetrics {
    /// Creates the metrics that the settings enable.
    pub fn new(settings: &MetricsSettings) -> Self {
        let bounds = if settings.build_buckets.is_empty() {
            &BUILD_BUCKETS[..]
        } else {
            &settings.build_buckets
        };
        Self {
            counts: (!settings.without_build_counts).then(CounterFamily::counters),
            times: (!settings.without_build_times).then(|| DurationFamily::durations(bounds)),
            successes: Family::default(),
            git: GitMetrics::new(settings),
        }
    }

    /// Registers the metrics that the settings enable. To be called once for each registry.
    pub fn register(&self, registry: &mut Registry) {
        if let Some(counts) = &self.counts {
            let help = "Builds of bundles by result";
            registry.register("ocp_bundle_build_count", help, counts.family());
        }
        if let Some(times) = &self.times {
            let help = "Durations of successful builds";
            registry.register("ocp_bundle_build_duration_seconds", help, times.family());
        }
        self.git.register(registry);
        registry.register(
            "solon_bundle_last_success_timestamp_seconds",
            "Time of the last success of each bundle",
            self.successes.clone(),
        );
    }

    /// Counts a build. `time` is its duration if it succeeded.
    pub fn count(&self, bundle: &str, state: &'static str, time: Option<Duration>) {
        let bundle = bundle.to_owned();
        let labels = ResultLabels {
            bundle: bundle.clone(),
            state,
        };
        if let Some(counts) = &self.counts {
            counts.with(&labels, |counter| {
                counter.inc();
            });
        }
        if let Some((times, time)) = self.times.as_ref().zip(time) {
            let labels = BundleLabels { bundle };
            times.with(&labels, |histogram| histogram.observe(time));
        }
    }

    /// Replaces the times of the last successes.
    pub fn set_successes(&self, states: &[BuildState]) {
        self.successes.clear();
        for state in states {
            if let Some(at) = state.succeeded_at {
                let bundle = state.name.clone();
                let gauge = self.successes.get_or_create_owned(&BundleLabels { bundle });
                gauge.set(at / 1_000_000);
            }
        }
    }
}
