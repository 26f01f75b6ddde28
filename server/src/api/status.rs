//! `GET /v1/status`: the status of the instance, for clients and for the log.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use solon_outbound::Client;
use tokio::sync::watch;

use super::ApiError;
use super::call::Call;
use super::metrics_page::{DECISION_LOG_ERROR, registry};
use super::service::RoutingService;
use super::state::State;
use crate::config::{PluginSettings, StatusSettings};
use crate::http::{RequestExt as _, Response, Status, response};
use crate::json::JsonFields;
use crate::plugins::{Plugin, PluginState, STATUS};
use crate::telemetry::messages;

/// `GET /v1/status`, if the configuration enables it.
pub fn get(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    if state.live.load().status.is_none() {
        return Err(ApiError::internal("status plugin not enabled"));
    }
    let mut body = JsonFields::new(request.pretty());
    body.typed("result", &status(state));
    Ok(response::json(Status::OK, body.finish()))
}

/// Returns labels, plugins, bundles, and all metrics.
fn status(state: &State) -> Value {
    let live = state.live.load();
    let labels = live.config.get("labels");
    let labels = labels.and_then(|labels| solon::from_value::<Value>(labels.borrow()).ok());
    let mut status = json!({
        "labels": labels.unwrap_or_else(|| json!({})),
        "metrics": {"prometheus": metrics(state)},
        "plugins": state.plugins.plugins(),
    });
    if let Value::Object(fields) = &mut status
        && state.decision_logs.load().is_some()
    {
        let logs = match state.decision_logs.failure() {
            Some(failure) => {
                let mut logs = json!({"code": DECISION_LOG_ERROR, "message": failure.message});
                if let (Value::Object(logs), Some(code)) = (&mut logs, failure.http_code) {
                    logs.insert("http_code".to_owned(), code.into());
                }
                logs
            }
            None => json!({}),
        };
        fields.insert("decision_logs".to_owned(), logs);
    }
    let spelling = state.options.spelling;
    let bundles: BTreeMap<_, _> = state
        .plugins
        .bundles()
        .into_iter()
        .map(|(name, bundle)| (name, bundle.spelled(spelling)))
        .collect();
    if let Value::Object(fields) = &mut status
        && !bundles.is_empty()
    {
        fields.insert("bundles".to_owned(), json!(bundles));
    }
    if let (Value::Object(fields), Some(discovery)) = (&mut status, state.plugins.discovery()) {
        fields.insert("discovery".to_owned(), json!(discovery.spelled(spelling)));
    }
    status
}

/// Returns the metrics of `/metrics`, and OPA's counters of decision logs as plain numbers. As in OPA, these are absent while they
/// are 0.
fn metrics(state: &State) -> Value {
    let mut metrics = messages(&registry(state));
    if let Value::Object(metrics) = &mut metrics
        && state.decision_logs.load().is_some()
    {
        for (name, _, value) in state.decision_logs.counts().all() {
            let name = name.strip_suffix("_total").unwrap_or(name);
            if value > 0 && name.starts_with("decision_logs_") {
                metrics.insert(format!("counter_{name}"), value.into());
            }
        }
    }
    metrics
}

/// Plugin that logs each change of the status and sends it to a service, as the settings say.
pub async fn log(
    service: Arc<RoutingService>,
    plugin: Plugin,
    settings: watch::Receiver<Arc<PluginSettings>>,
) -> Result<(), String> {
    let state = service.state();
    let mut changes = state.plugins.changes();
    let mut uploads = state.decision_logs.changes();
    if state.live.load().status.is_some() {
        plugin.report(PluginState::Ok);
    }
    loop {
        tokio::select! {
            () = plugin.stopped() => return Ok(()),
            changed = changes.changed() => if changed.is_err() { return Ok(()) },
            changed = uploads.changed() => if changed.is_err() { return Ok(()) },
        }
        let is_logged = state
            .live
            .load()
            .status
            .is_some_and(|status| status.is_logged);
        let current = settings.borrow().clone();
        let receiver = current.status.as_ref().and_then(|status| {
            let client = current.services.get(status.service.as_deref()?)?;
            Some((client.clone(), path_of(status)))
        });
        if !is_logged && receiver.is_none() {
            continue;
        }
        let status = status(state).to_string();
        if is_logged {
            tracing::info!(r#type = "openpolicyagent.org/status", status, "Status Log");
        }
        let Some((client, path)) = receiver else {
            continue;
        };
        // changes in this time are part of the next status
        tokio::select! {
            () = plugin.stopped() => return Ok(()),
            sent = send(&client, &path, status) => match sent {
                Ok(()) => tracing::debug!(plugin = STATUS, "Status update sent successfully."),
                Err(error) => tracing::error!(plugin = STATUS, "status update failed: {error}"),
            },
        }
    }
}

/// Returns the path that the status is sent to, relative to the URL of the service.
fn path_of(settings: &StatusSettings) -> String {
    match settings.partition.trim_matches('/') {
        "" => "/status".to_owned(),
        partition => format!("/status/{partition}"),
    }
}

async fn send(client: &Client, path: &str, status: String) -> Result<(), String> {
    let request = http::Request::post(path).header(http::header::CONTENT_TYPE, "application/json");
    let request = request
        .body(status.into())
        .map_err(|error| error.to_string())?;
    let response = client
        .send(request)
        .await
        .map_err(|error| error.to_string())?;
    if response.status().is_success() {
        return Ok(());
    }
    Err(format!("server replied with HTTP {}", response.status()))
}
