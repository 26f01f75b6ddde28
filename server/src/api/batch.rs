//! Evaluation of one document with many inputs: `POST /v1/batch/data`.

mod answers;
mod inputs;

use std::sync::Arc;

use self::answers::{BatchResponse, RunningBatch};
use super::call::Call;
use super::decision_log::LoggedDecision;
use super::document_evaluation::RequestedDocument;
use super::state::State;
use super::warning::Warning;
use super::{ApiError, metrics};
use crate::http::{RequestExt as _, Response, Status, response};
use crate::json::JsonFields;

/// `POST /v1/batch/data/{path}`: evaluates the document with each of many inputs, on one snapshot of policies and documents.
pub fn post(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    // provides the id of the batch; its decisions are logged separately
    let logged = LoggedDecision::begin(state, request)?;
    let batch_id = logged.map(|logged| Arc::<str>::from(logged.id));
    let metrics = metrics::metrics_of(request);
    let start = metrics.start();
    let inputs = inputs::read(request, state.options.bounds.batch)?;
    metrics.end("rego_input_parse", start);
    let document = RequestedDocument::by(state, request, &metrics)?;
    metrics.counter("server_query_cache_hit", document.known.into());
    let is_missing = inputs.is_none();
    let inputs = inputs.unwrap_or_default();
    let keys = inputs.keys();
    let server_ended = || ApiError::internal("internal error: the server has ended");
    let state = state.shared().ok_or_else(server_ended)?;
    let spelling = state.options.spelling;
    let batch = Arc::new(RunningBatch::new(
        state,
        request,
        document,
        inputs,
        batch_id.clone(),
    ));
    let shared = batch.clone();
    let start = metrics.start();
    request.context.share(move |context| shared.work(context));
    let (batch_responses, reservation) = batch.answers()?;
    metrics.end("rego_query_eval", start);
    metrics.since("server_handler", request.info().received());

    let mut body = JsonFields::new(request.pretty());
    metrics::add(&mut body, &metrics, spelling);
    let failed = batch_responses
        .iter()
        .filter(|response| response.is_err())
        .count();
    let status = match failed {
        0 => Status::OK,
        _ if failed == batch_responses.len() => Status::INTERNAL_SERVER_ERROR,
        _ => Status::MULTI_STATUS,
    };
    if !batch_responses.is_empty() {
        let is_mixed = status == Status::MULTI_STATUS;
        let responses = responses(&keys, batch_responses, request.pretty(), is_mixed);
        body.object("responses", responses);
    }
    if is_missing {
        body.typed("warning", &Warning::missing("inputs"));
    }
    if let Some(id) = &batch_id {
        body.typed("batch_decision_id", id);
    }
    let response = response::json(status, body.finish());
    drop(reservation);
    Ok(response)
}

/// Returns all results by the keys of their inputs.
fn responses(
    keys: &[String],
    batch_responses: Vec<BatchResponse>,
    pretty: bool,
    is_mixed: bool,
) -> JsonFields {
    let mut responses = JsonFields::new(pretty);
    for (key, response) in keys.iter().zip(batch_responses) {
        let (status, mut fields) = match response {
            Ok(fields) => ("200", fields),
            Err(fields) => ("500", fields),
        };
        if is_mixed {
            fields.typed("http_status_code", &status);
        }
        responses.object(key, fields);
    }
    responses
}
