//! Counters of a server in `/metrics` and `/v1/status`.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use solon_common::metrics::{CounterFamily, DurationFamily};

use super::exposition::CANCELLATIONS;

pub struct ServerCounters {
    durations: DurationFamily<RequestLabels>,
    cancellations: CounterFamily<RequestLabels>,
    answered: Counter,
    misjudged: Counter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RequestLabels {
    /// Status of the response.
    pub code: u16,
    pub handler: &'static str,
    pub method: &'static str,
}

impl ServerCounters {
    /// Creates counters. `bounds` are the upper bounds of durations, in seconds and in ascending order.
    pub fn new(bounds: &[f64]) -> Self {
        Self {
            durations: DurationFamily::durations(bounds),
            cancellations: CounterFamily::counters(),
            answered: Counter::default(),
            misjudged: Counter::default(),
        }
    }

    /// Counts a request with a response and its duration.
    pub fn answered(&self, request: RequestLabels, took: Duration) {
        self.answered.inc();
        self.durations
            .with(&request, |histogram| histogram.observe(took));
    }

    /// Counts a request whose client disconnected before the response.
    pub fn cancelled(&self, request: RequestLabels) {
        self.cancellations.with(&request, |counter| {
            counter.inc();
        });
    }

    /// Counts a decision that was started on a reactor, but was too long for it.
    pub fn misjudged(&self) {
        self.misjudged.inc();
    }

    /// Registers all counters in the registry of one exposition.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            CANCELLATIONS,
            "Requests whose clients did not wait for the answer",
            self.cancellations.family(),
        );
        registry.register(
            "http_request_duration_seconds",
            "A histogram of duration for requests",
            self.durations.family(),
        );
        registry.register(
            "solon_requests",
            "Requests that were answered",
            self.answered.clone(),
        );
        registry.register(
            "solon_misjudged",
            "Decisions that took longer than they were thought to, and were made anew in the pool",
            self.misjudged.clone(),
        );
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prometheus_client::registry::Registry;

    use super::super::exposition::text;
    use super::{RequestLabels, ServerCounters};

    #[test]
    fn requests_are_counted_by_their_labels() {
        let counts = ServerCounters::new(&[1e-6, 0.01, 1.0]);
        let request = RequestLabels {
            code: 200,
            handler: "health",
            method: "get",
        };
        counts.answered(request, Duration::from_millis(5));
        counts.answered(request, Duration::from_secs(5));
        counts.cancelled(request);
        let mut registry = Registry::default();
        counts.register(&mut registry);
        let text = text(&registry);
        for expected in [
            "# HELP http_request_cancellations Requests whose clients did not wait for the answer.\n",
            "# TYPE http_request_cancellations counter\n",
            "http_request_cancellations{code=\"200\",handler=\"health\",method=\"get\"} 1\n",
            "# HELP http_request_duration_seconds A histogram of duration for requests.\n",
            "# TYPE http_request_duration_seconds histogram\n",
            "http_request_duration_seconds_bucket{code=\"200\",handler=\"health\",method=\"get\",le=\"1e-06\"} 0\n",
            "le=\"0.01\"} 1\n",
            "le=\"1\"} 1\n",
            "le=\"+Inf\"} 2\n",
            "http_request_duration_seconds_sum{code=\"200\",handler=\"health\",method=\"get\"} 5.005\n",
            "# TYPE solon_requests_total counter\nsolon_requests_total 2\n",
            "solon_misjudged_total 0\n",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
}
