//! `GET /metrics`: what is counted, in Prometheus' text form.

use super::ApiError;
use super::provenance::VERSION;
use super::state::State;
use crate::http::{Request, Response, Status};
use crate::telemetry::{
    Family, Kind, Sampled, dropped_lines, exposition, number, process_families, resident_bytes,
};

/// What text answers are.
const TEXT: &str = "text/plain; charset=utf-8";

/// `GET /metrics`
#[expect(clippy::unnecessary_wraps, reason = "every handler answers a result")]
pub fn get(state: &State, _: &Request<'_>) -> Result<Response, ApiError> {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let text = exposition(&families(state));
    Ok(Response::text(Status::OK, kind, text))
}

/// `GET /metrics/alloc_bytes`: the memory that the process holds, in bytes, or in larger units for people.
#[expect(clippy::unnecessary_wraps, reason = "every handler answers a result")]
pub fn memory(_: &State, request: &Request<'_>) -> Result<Response, ApiError> {
    let bytes = resident_bytes();
    let text = if request.pretty() {
        let units = ["B", "kB", "MB", "GB", "TB"];
        let (mut left, mut at) = (bytes, 0);
        while left >= 1000.0 && at + 1 < units.len() {
            (left, at) = (left / 1000.0, at + 1);
        }
        format!("{left:.1}{}\n", units.get(at).unwrap_or(&"B"))
    } else {
        format!("{bytes}\n")
    };
    Ok(Response::text(Status::OK, TEXT, text))
}

/// Everything that is counted, of the process and of the server.
pub fn families(state: &State) -> Vec<Family> {
    let count = |count: usize| number(u64::try_from(count).unwrap_or(u64::MAX));
    let mut families = process_families();
    families.extend(state.counts.families());
    for (name, help, value) in [
        (
            "solon_generation",
            "How many changes there were, of policy or of documents.",
            number(state.engine.generation()),
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
            number(dropped_lines()),
        ),
    ] {
        families.push(Family::single(name, help, value));
    }
    if let Some(transport) = state.transport.get() {
        let gauges = transport().into_iter();
        families
            .extend(gauges.map(|(name, help, value)| Family::single(name, help, number(value))));
    }
    if state.options.status.is_some_and(|status| status.is_counted) {
        families.extend(of_plugins(state));
    }
    families
}

/// What a configuration with `status.prometheus` counts beside.
fn of_plugins(state: &State) -> Vec<Family> {
    let spelling = state.options.spelling;
    let help = "Information about the environment.";
    let mut info = Family::new(Kind::Gauge, spelling.info(), help);
    let version = vec![("version", VERSION.to_owned())];
    info.add(version, Sampled::Number(1.0));
    let help = "Gauge for the plugin by status.";
    let mut plugins = Family::new(Kind::Gauge, "plugin_status_gauge", help);
    for (name, status) in state.plugins.plugins() {
        let labels = vec![("name", name), ("status", status.state.as_str().to_owned())];
        plugins.add(labels, Sampled::Number(1.0));
    }
    vec![info, plugins]
}
