//! What is counted, in the names that dashboards of the existing control plane know.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::config::MetricsSettings;
use crate::db::Observer;
use crate::error::Refusal;

/// Bounds of the buckets of requests, in seconds.
const REQUEST_BUCKETS: [f64; 10] = [1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 0.01, 0.1, 1.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    code: u16,
    handler: String,
    method: String,
}

/// Bounds of the buckets of statements, in seconds.
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

/// What a histogram is made with.
#[derive(Clone)]
struct Buckets(Vec<f64>);

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

/// What is counted.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Histogram, Buckets>,
    is_on: bool,
    statements: Statements,
}

/// What is counted of statements.
#[derive(Clone)]
struct Statements {
    counts: Option<Family<StatementLabels, Counter>>,
    times: Option<Family<OperationLabels, Histogram, Buckets>>,
}

impl Metrics {
    /// Nothing was counted yet.
    pub fn new(settings: &MetricsSettings) -> Self {
        let buckets = |chosen: &[f64], usual: &[f64]| {
            let bounds = if chosen.is_empty() { usual } else { chosen };
            Buckets(bounds.to_vec())
        };
        let request_buckets = buckets(&settings.request_buckets, &REQUEST_BUCKETS);
        let requests = Family::new_with_constructor(request_buckets);
        let mut registry = Registry::default();
        registry.register(
            "ocp_http_request_duration_seconds",
            "How long authenticated requests took",
            requests.clone(),
        );
        let statement_buckets = buckets(&settings.statement_buckets, &STATEMENT_BUCKETS);
        let statements = Statements {
            counts: (!settings.without_statement_counts).then(Family::default),
            times: (!settings.without_statement_times)
                .then(|| Family::new_with_constructor(statement_buckets)),
        };
        if let Some(counts) = &statements.counts {
            let name = "ocp_database_query_count";
            registry.register(name, "Statements of the database", counts.clone());
        }
        if let Some(times) = &statements.times {
            let name = "ocp_database_query_duration_seconds";
            registry.register(name, "How long statements took", times.clone());
        }
        Self {
            registry,
            requests,
            is_on: !settings.without_requests,
            statements,
        }
    }

    /// Notes how long a request took.
    pub fn observe(&self, handler: &str, method: &str, status: StatusCode, took: Duration) {
        if !self.is_on {
            return;
        }
        // methods that nobody knows are not told apart: anybody may invent them
        let known = ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"];
        let method = known.into_iter().find(|known| *known == method);
        let labels = RequestLabels {
            code: status.as_u16(),
            handler: handler.to_owned(),
            method: method.unwrap_or("other").to_ascii_lowercase(),
        };
        let histogram = self.requests.get_or_create(&labels);
        histogram.observe(took.as_secs_f64());
    }

    /// Who counts the statements of a database.
    pub fn observer(&self) -> Observer {
        let Statements { counts, times } = self.statements.clone();
        Arc::new(move |operation, is_well, took| {
            if let Some(counts) = &counts {
                let state = if is_well { "SUCCESS" } else { "FAILED" };
                counts
                    .get_or_create(&StatementLabels { operation, state })
                    .inc();
            }
            if let Some(times) = &times {
                let labels = OperationLabels { operation };
                times.get_or_create(&labels).observe(took.as_secs_f64());
            }
        })
    }

    /// The text that Prometheus reads.
    pub fn text(&self) -> Result<String, Refusal> {
        let mut text = String::new();
        encode(&mut text, &self.registry).map_err(|error| Refusal::internal(error.to_string()))?;
        Ok(text)
    }
}
