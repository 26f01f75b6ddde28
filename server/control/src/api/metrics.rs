//! Metrics, with the names that dashboards of OPA Control Plane use.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use solon_common::metrics::{CounterFamily, DurationFamily, REQUEST_BUCKETS};

use crate::config::MetricsSettings;
use crate::db::Observer;
use crate::error::ApiError;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    code: u16,
    handler: String,
    method: String,
}

/// Upper bounds of the buckets for SQL statements, in seconds.
const STATEMENT_BUCKETS: [f64; 12] = [
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatementLabels {
    operation: &'static str,
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    operation: &'static str,
}

/// The counters and histograms of the service.
pub struct Metrics {
    registry: Registry,
    requests: DurationFamily<RequestLabels>,
    is_on: bool,
    statements: Statements,
}

#[derive(Clone)]
struct Statements {
    counts: Option<CounterFamily<StatementLabels>>,
    times: Option<DurationFamily<OperationLabels>>,
}

impl Metrics {
    /// Creates the metrics with all counters at zero.
    pub fn new(settings: &MetricsSettings) -> Self {
        let request_bounds = or_default(&settings.request_buckets, &REQUEST_BUCKETS);
        let requests = DurationFamily::durations(request_bounds);
        let mut registry = Registry::default();
        registry.register(
            "ocp_http_request_duration_seconds",
            "How long authenticated requests took",
            requests.family(),
        );
        let statement_bounds = or_default(&settings.statement_buckets, &STATEMENT_BUCKETS);
        let statements = Statements {
            counts: (!settings.without_statement_counts).then(CounterFamily::counters),
            times: (!settings.without_statement_times)
                .then(|| DurationFamily::durations(statement_bounds)),
        };
        if let Some(counts) = &statements.counts {
            let name = "ocp_database_query_count";
            registry.register(name, "Statements of the database", counts.family());
        }
        if let Some(times) = &statements.times {
            let name = "ocp_database_query_duration_seconds";
            registry.register(name, "How long statements took", times.family());
        }
        Self {
            registry,
            requests,
            is_on: !settings.without_requests,
            statements,
        }
    }

    /// Registers further metrics, which the endpoint returns after those of the API.
    pub fn register(&mut self, add: impl FnOnce(&mut Registry)) {
        add(&mut self.registry);
    }

    /// Records the duration of a request.
    pub fn observe(&self, handler: &str, method: &str, status: StatusCode, took: Duration) {
        if !self.is_on {
            return;
        }
        // unknown methods share one label because clients can invent any number of them
        let known_methods = ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"];
        let method = known_methods
            .into_iter()
            .find(|known_method| *known_method == method);
        let labels = RequestLabels {
            code: status.as_u16(),
            handler: handler.to_owned(),
            method: method.unwrap_or("other").to_ascii_lowercase(),
        };
        self.requests
            .with(&labels, |histogram| histogram.observe(took));
    }

    /// Returns the observer that counts the statements of a database.
    pub fn observer(&self) -> Observer {
        let Statements { counts, times } = self.statements.clone();
        Arc::new(move |operation, is_well, took| {
            if let Some(counts) = &counts {
                let state = if is_well { "SUCCESS" } else { "FAILED" };
                counts.with(&StatementLabels { operation, state }, |counter| {
                    counter.inc();
                });
            }
            if let Some(times) = &times {
                let labels = OperationLabels { operation };
                times.with(&labels, |histogram| histogram.observe(took));
            }
        })
    }

    /// Returns the metrics in the Prometheus text format.
    pub fn text(&self) -> Result<String, ApiError> {
        let mut text = String::new();
        encode(&mut text, &self.registry).map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(text)
    }
}

/// Returns the bounds that are configured or, if there are none, the default ones.
fn or_default<'b>(configured: &'b [f64], default: &'b [f64]) -> &'b [f64] {
    if configured.is_empty() {
        default
    } else {
        configured
    }
}
