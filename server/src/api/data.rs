//! Reading documents: `GET` and `POST /v1/data`, `POST /v0/data`, `POST /`.

use solon::json::{self, JsonLayout, Style, TooLong};
use solon::store::Path;
use solon::{Limits, Value};

use super::ApiError;
use super::body::{self, BodyDocument, Envelope};
use super::call::Call;
use super::decision_log::{LoggedDecision, Outcome};
use super::document_evaluation::{DocumentEvaluation, QUERY_COMPILE};
use super::documents::EvaluationFailure;
use super::error::message;
use super::event_text;
use super::metrics;
use super::proxy_check;
use super::search::{Selection, search};
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, response, segments};

/// `GET /v1/data/{path}`, with the input in the parameter `input`.
pub fn get(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    proxy_check::reject(request)?;
    let text = request.params().last("input");
    let logged = LoggedDecision::begin(state, request)?;
    let evaluation = DocumentEvaluation {
        envelope: Envelope {
            input: text.map(|text| BodyDocument::Json(text.as_bytes())),
            metadata: None,
        },
        warn: false,
        metrics: metrics::of_decision(request, logged.as_ref()),
        logged,
    };
    let response = evaluation.answer(state, request);
    match (response, text) {
        (Err(EvaluationFailure::Input(_)), Some(text)) => {
            let message = json::error_message(text.as_bytes());
            Err(ApiError::invalid(malformed_input("parameter", message)))
        }
        (response, _) => response.map_err(malformed_body),
    }
}

/// `POST /v1/data/{path}`. 400 for a body that is malformed.
pub fn post(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    proxy_check::reject(request)?;
    let logged = LoggedDecision::begin(state, request)?;
    let metrics = metrics::of_decision(request, logged.as_ref());
    let start = metrics.start();
    let envelope = body::enveloped(request, state.reads_metadata || logged.is_some())
        .map_err(EvaluationFailure::Input)
        .map_err(malformed_body)?;
    metrics.end("rego_input_parse", start);
    let warn = state.options.spelling.is_opa() && body::is_without_input(request);
    let evaluation = DocumentEvaluation {
        envelope,
        warn,
        metrics,
        logged,
    };
    evaluation.answer(state, request).map_err(malformed_body)
}

/// `POST /v0/data/{path}`: the body is the input, and the response body is the document.
pub fn webhook(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let path_below = request.rest_of_path().unwrap_or_default();
    bare(state, request, request.path(), path_below, || path(request))
}

/// `POST /`: evaluates the default decision as [`webhook`] does.
pub fn default_decision(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let live = state.live.load();
    let decision = live.default_decision.trim_start_matches('/');
    bare(state, request, &live.decision_key, decision, || {
        Ok(Path::from_slashes(&live.default_decision))
    })
}

/// Returns the decoded path segments after the route. 400 if a segment cannot be decoded.
pub fn path(request: &Call<'_>) -> Result<Path, ApiError> {
    let segments = request.rest_of_path().and_then(segments);
    segments
        .map(Path::new)
        .ok_or_else(|| ApiError::invalid(format!("bad path: {}", request.path())))
}

/// Returns the error for a body whose input cannot be parsed.
pub fn malformed_body(failure: EvaluationFailure) -> ApiError {
    match failure {
        EvaluationFailure::Input(message) => ApiError::invalid(malformed_input("body", message)),
        EvaluationFailure::Other(error) => error,
    }
}

/// Returns the message for an input that cannot be parsed. A number out of range is well-formed JSON.
fn malformed_input(part: &str, message: String) -> String {
    if message.starts_with("invalid number: ") {
        return message;
    }
    format!("{part} contains malformed input document: {message}")
}

/// Returns a value as JSON text, or an error if it exceeds the maximum response length.
pub fn text_of(value: &Value, style: Style<'_>) -> Result<Vec<u8>, ApiError> {
    let mut text = Vec::new();
    json::write_within(value.borrow(), style, Limits::RESULT_BYTES, &mut text)
        .map(|()| text)
        .map_err(|TooLong| ApiError::internal(message::EVALUATE))
}

fn bare(
    state: &State,
    request: &Call<'_>,
    key: &str,
    path_below: &str,
    path: impl Fn() -> Result<Path, ApiError>,
) -> Result<Response, ApiError> {
    proxy_check::reject(request)?;
    let logged = LoggedDecision::begin(state, request)?;
    let malformed = |message: String| {
        let message = malformed_input("body", message);
        ApiError::invalid(format!("unexpected parse error for input: {message}"))
    };
    let input = body::document(request)
        .map_err(malformed)?
        .unwrap_or(BodyDocument::Json(b"null"));
    let metrics = metrics::of_log(logged.as_ref());
    let outcome = || Outcome::new(path_below, event_text::input_text(Some(&input)), &metrics);
    let failed = |error: ApiError| {
        if let Some(logged) = &logged {
            logged.log_failure(state, request, &error, outcome);
        }
        error
    };
    let start = metrics.start();
    let (document, is_known) = state
        .documents
        .get(state, request, key, &path)
        .map_err(failed)?;
    if !is_known {
        metrics.end(QUERY_COMPILE, start);
    }
    metrics.counter("server_query_cache_hit", is_known.into());
    let style = style(request.pretty(), "");
    let mut eval_request = input.as_input(solon::Request::new());
    if let Some(cache) = logged.as_ref().and_then(|logged| logged.nd_cache.as_ref()) {
        eval_request = eval_request.nd_builtin_cache(cache);
    }
    let start = metrics.start();
    let snapshot = logged.as_ref().map(|logged| &logged.snapshot);
    let selection = Selection::of_log(logged.as_ref());
    let evaluated = if selection.is_something() {
        if request.context.is_reactor() {
            return Err(ApiError::Elsewhere(None));
        }
        let prepared = document.prepared();
        search(
            state,
            request,
            selection,
            &metrics,
            prepared,
            eval_request,
            snapshot,
        )
        .map_err(EvaluationFailure::from)
        .and_then(|(value, details)| {
            let text = value.map(|value| text_of(&value, style)).transpose()?;
            Ok((text, details.labels))
        })
    } else {
        let text = document.evaluate_text(state, request, snapshot, eval_request, style);
        text.map(|text| (text, Vec::new()))
    };
    metrics.end("rego_query_eval", start);
    if metrics.is_on() {
        metrics.since("server_handler", request.info().received());
    }
    match evaluated {
        Ok((Some(mut result), labels)) => {
            if let Some(logged) = &logged {
                let outcome = Outcome {
                    result: Some(&result),
                    labels: &labels,
                    ..outcome()
                };
                logged.log(state, request, outcome)?;
            }
            result.push(b'\n');
            Ok(response::json(Status::OK, result))
        }
        Ok((None, _)) => {
            let problem = if document.has_rules() {
                "document undefined"
            } else {
                "document missing"
            };
            let reference = path()?.reference();
            Err(failed(ApiError::undefined(format!(
                "{problem}: {reference}"
            ))))
        }
        Err(EvaluationFailure::Input(message)) => Err(malformed(match &input {
            BodyDocument::Json(text) => body::malformed(text).unwrap_or(message),
            _ => message,
        })),
        Err(EvaluationFailure::Other(error)) => Err(failed(error)),
    }
}

/// Returns the style of a result. If it is indented, every line except the first begins with `prefix`.
pub(super) fn style(pretty: bool, prefix: &str) -> Style<'_> {
    let indent = "  ";
    let layout = pretty.then_some(JsonLayout::new(prefix, indent));
    Style::default().html(true).layout(layout)
}
