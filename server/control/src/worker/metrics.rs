//! Metrics of builds.

use std::sync::atomic::AtomicI64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use solon_common::metrics::{CounterFamily, DurationFamily};

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

/// Metrics of builds. Clones share them.
#[derive(Clone)]
pub struct BuildMetrics {
    counts: CounterFamily<ResultLabels>,
    times: DurationFamily<BundleLabels>,
    successes: Family<BundleLabels, Gauge<i64, AtomicI64>>,
}

impl Default for BuildMetrics {
    fn default() -> Self {
        Self {
            counts: CounterFamily::counters(),
            times: DurationFamily::durations(&BUILD_BUCKETS),
            successes: Family::default(),
        }
    }
}

impl BuildMetrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "ocp_bundle_build_count",
            "Builds of bundles by result",
            self.counts.family(),
        );
        registry.register(
            "ocp_bundle_build_duration_seconds",
            "Durations of successful builds",
            self.times.family(),
        );
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
        self.counts.with(&labels, |counter| {
            counter.inc();
        });
        if let Some(time) = time {
            let labels = BundleLabels { bundle };
            self.times
                .with(&labels, |histogram| histogram.observe(time));
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
