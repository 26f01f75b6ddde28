//! Metrics of checks.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::registry::Registry;
use solon_common::metrics::{CounterFamily, DurationFamily};

/// Durations of decisions and numbers of errors.
pub struct CheckCounts {
    durations: DurationFamily<HandlerLabel>,
    errors: CounterFamily<ErrorLabels>,
}

/// Label of the durations of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HandlerLabel {
    handler: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabels {
    reason: String,
}

impl CheckCounts {
    /// Creates metrics. `bounds` are the upper bounds of the buckets in seconds, in ascending order.
    pub fn new(bounds: &[f64]) -> Self {
        Self {
            durations: DurationFamily::durations(bounds),
            errors: CounterFamily::counters(),
        }
    }

    /// Counts a decision and its duration.
    pub fn decided(&self, took: Duration) {
        let handler = HandlerLabel { handler: "check" };
        self.durations
            .with(&handler, |histogram| histogram.observe(took));
    }

    /// Counts a request without a decision.
    pub fn failed(&self, reason: &str) {
        let reason = ErrorLabels {
            reason: reason.to_owned(),
        };
        self.errors.with(&reason, |counter| {
            counter.inc();
        });
    }

    /// Registers the metrics under the names of OPA's plugin.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "grpc_request_duration_seconds",
            "A histogram of duration for gRPC requests",
            self.durations.family(),
        );
        registry.register(
            "error_counter",
            "Checks without a decision",
            self.errors.family(),
        );
    }
}
