//! `GET /metrics`: metrics in the Prometheus text format.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::prometheus_text::CONTENT_TYPE;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;

use super::ApiError;
use super::call::Call;
use super::provenance::VERSION;
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, response};
use crate::telemetry::{dropped_lines, exposition, register_process, resident_bytes};

/// Media type of text responses.
const TEXT: &str = "text/plain; charset=utf-8";

/// `GET /metrics`, in the text format of Prometheus.
#[expect(clippy::unnecessary_wraps, reason = "every handler answers a result")]
pub fn get(state: &State, _: &Call<'_>) -> Result<Response, ApiError> {
    let text = exposition(&registry(state));
    Ok(response::text(Status::OK, CONTENT_TYPE, text))
}

/// `GET /metrics/alloc_bytes`: the memory of the process, in bytes, or in larger units for humans.
#[expect(clippy::unnecessary_wraps, reason = "every handler answers a result")]
pub fn memory(_: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let bytes = resident_bytes();
    let text = if request.pretty() {
        let units = ["B", "kB", "MB", "GB", "TB"];
        #[expect(
            clippy::cast_precision_loss,
            reason = "one digit after the point is shown"
        )]
        let (mut value, mut unit_index) = (bytes as f64, 0);
        while value >= 1000.0 && unit_index + 1 < units.len() {
            (value, unit_index) = (value / 1000.0, unit_index + 1);
        }
        format!("{value:.1}{}\n", units.get(unit_index).unwrap_or(&"B"))
    } else {
        format!("{bytes}\n")
    };
    Ok(response::text(Status::OK, TEXT, text))
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct VersionLabels {
    version: &'static str,
}

/// Code of failures of decision logs.
pub const DECISION_LOG_ERROR: &str = "decision_log_error";

/// Labels of the result of the last upload of decision logs, which are empty after a success.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct UploadLabels {
    code: &'static str,
    http_code: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PluginLabels {
    name: String,
    status: &'static str,
}

/// Returns all metrics of the process and the server.
pub fn registry(state: &State) -> Registry {
    let mut registry = Registry::default();
    register_process(&mut registry);
    state.counts.register(&mut registry);
    if let Some(register) = state.service_metrics.get() {
        register(&mut registry);
    }
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    for (name, help, value) in [
        (
            "solon_generation",
            "How many changes there were, of policy or of documents.",
            state.engine.generation(),
        ),
        (
            "solon_prepared_documents",
            "Documents that are kept prepared.",
            count(state.documents.len()),
        ),
        (
            "solon_prepared_queries",
            "Queries that are kept prepared.",
            count(state.queries.len()),
        ),
        (
            "solon_log_lines_dropped_total",
            "Lines of the log that were dropped since it was not read fast enough.",
            dropped_lines(),
        ),
    ] {
        register(&mut registry, name, help, value);
    }
    if let Some(log) = &*state.decision_logs.load() {
        let name = "solon_decision_logs_waiting_events";
        register(
            &mut registry,
            name,
            "Events that wait for an upload.",
            log.waiting(),
        );
        if let Some(bytes) = log.spool_bytes() {
            let name = "solon_decision_logs_spool_bytes";
            register(&mut registry, name, "Size of the spool.", bytes);
        }
        for (name, help, value) in state.decision_logs.counts().all() {
            register(&mut registry, name, help, value);
        }
    }
    if let Some(transport) = state.transport.get() {
        for (name, help, value) in transport() {
            register(&mut registry, name, help, value);
        }
    }
    if state
        .live
        .load()
        .status
        .is_some_and(|status| status.is_counted)
    {
        register_plugins(&mut registry, state);
    }
    registry
}

/// Registers the current value: as a counter if its name ends with `_total`, otherwise as a gauge.
fn register(registry: &mut Registry, name: &str, help: &str, value: u64) {
    // the registry adds suffix and period
    let help = help.trim_end_matches('.');
    match name.strip_suffix("_total") {
        Some(name) => registry.register(name, help, ConstCounter::new(value)),
        None => registry.register(name, help, ConstGauge::new(value)),
    }
}

/// Registers the additional metrics of a configuration with `status.prometheus`.
fn register_plugins(registry: &mut Registry, state: &State) {
    let info = Family::<VersionLabels, Gauge>::default();
    info.get_or_create(&VersionLabels { version: VERSION })
        .set(1);
    let help = "Information about the environment";
    registry.register(state.options.spelling.info(), help, info);
    let plugins = Family::<PluginLabels, Gauge>::default();
    for (name, status) in state.plugins.plugins() {
        let status = status.state.as_str();
        plugins.get_or_create(&PluginLabels { name, status }).set(1);
    }
    let help = "Gauge for the plugin by status";
    registry.register("plugin_status_gauge", help, plugins);
    if let Some(log) = &*state.decision_logs.load() {
        let failure = state.decision_logs.failure();
        let http_code = failure.as_ref().and_then(|failure| failure.http_code);
        let uploads = Family::<UploadLabels, Gauge>::default();
        let labels = UploadLabels {
            code: failure.map_or("", |_| DECISION_LOG_ERROR),
            http_code: http_code.map_or_else(String::new, |code| code.to_string()),
        };
        uploads.get_or_create(&labels).set(1);
        let help = "Gauge for the last decision log upload by status";
        registry.register("decision_logs_status_gauge", help, uploads);
        if let Some((name, help, value)) = log.buffer_size() {
            register(registry, name, help, value);
        }
    }
    let bundles = state.plugins.bundles();
    let metrics = state.plugins.bundle_metrics();
    metrics.register(registry, &bundles, state.options.spelling);
}
