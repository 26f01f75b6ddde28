//! `GET /metrics`: what is counted, in Prometheus' text form.

use super::ApiError;
use super::state::State;
use crate::http::{Request, Response, Status};

/// `GET /metrics`
#[expect(clippy::unnecessary_wraps, reason = "every handler answers a result")]
pub fn get(state: &State, _: &Request<'_>) -> Result<Response, ApiError> {
    let kept = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let mut gauges = vec![
        (
            "solon_generation",
            "How many changes there were, of policy or of documents.",
            state.engine.generation(),
        ),
        (
            "solon_prepared_documents",
            "Documents that are kept prepared.",
            kept(state.documents.len()),
        ),
        (
            "solon_prepared_queries",
            "Queries that are kept prepared.",
            kept(state.queries.len()),
        ),
        (
            "solon_log_lines_dropped_total",
            "Lines of the log that were dropped since it was not read fast enough.",
            crate::telemetry::dropped_lines(),
        ),
    ];
    if let Some(transport) = state.transport.get() {
        gauges.extend(transport());
    }
    let text = state.counts.text(&gauges);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(Response::text(Status::OK, kind, text))
}
