//! `GET /v1/status`: how the instance is, for whoever asks, and for the log.

use std::sync::Arc;

use serde_json::{Value, json};

use super::ApiError;
use super::call::Call;
use super::metrics_page::registry;
use super::service::Service;
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, response};
use crate::json::Fields;
use crate::plugins::{Plugin, PluginState};
use crate::telemetry::messages;

/// `GET /v1/status`, where the configuration asks for a status.
pub fn get(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    if state.options.status.is_none() {
        return Err(ApiError::internal("status plugin not enabled"));
    }
    let mut answer = Fields::new(request.pretty());
    answer.typed("result", &status(state));
    Ok(response::json(Status::OK, answer.finish()))
}

/// Labels, plugins, bundles, and all that is counted.
fn status(state: &State) -> Value {
    let live = state.live.load();
    let labels = live.config.get("labels");
    let labels = labels.and_then(|labels| solon::from_value::<Value>(labels.borrow()).ok());
    let mut status = json!({
        "labels": labels.unwrap_or_else(|| json!({})),
        "metrics": {"prometheus": messages(&registry(state))},
        "plugins": state.plugins.plugins(),
    });
    if let Value::Object(fields) = &mut status
        && state.decision_logs.load().is_some()
    {
        let logs = match state.decision_logs.failure() {
            Some(message) => json!({"code": "decision_log_error", "message": message}),
            None => json!({}),
        };
        fields.insert("decision_logs".to_owned(), logs);
    }
    let bundles = state.plugins.bundles();
    if let Value::Object(fields) = &mut status
        && !bundles.is_empty()
    {
        fields.insert("bundles".to_owned(), json!(bundles));
    }
    status
}

/// The plugin that logs each change of the status, where that is asked for.
pub async fn log(service: Arc<Service>, plugin: Plugin) -> Result<(), String> {
    let state = service.state();
    let mut changes = state.plugins.changes();
    plugin.report(PluginState::Ok);
    if !state.options.status.is_some_and(|status| status.is_logged) {
        return Ok(());
    }
    loop {
        tokio::select! {
            () = plugin.stopped() => return Ok(()),
            changed = changes.changed() => if changed.is_err() { return Ok(()) },
        }
        let status = status(state).to_string();
        tracing::info!(r#type = "openpolicyagent.org/status", status, "Status Log");
    }
}
