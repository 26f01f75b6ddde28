//! Reading documents: `GET` and `POST /v1/data`, `POST /v0/data`, `POST /`.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use solon::json::{self, JsonLayout, Style, TooLong};
use solon::store::Path;
use solon::trace::Detail;
use solon::{Limits, ResponseMetadata, Snapshot, Value};

use super::ApiError;
use super::body::{self, BodyDocument, Envelope};
use super::call::Call;
use super::decision_log::{self, LoggedDecision, Outcome};
use super::documents::{EvaluationFailure, ServedDocument as Prepared};
use super::error::message;
use super::metrics::{self, Stages};
use super::provenance::provenance;
use super::proxy_check;
use super::search::{EvalDetails, Selection, search};
use super::state::State;
use super::warning::Warning;
use crate::http::{RequestExt as _, Response, Status, response, segments};
use crate::json::JsonFields;
use crate::telemetry::Metrics;

/// `GET /v1/data/{path}`
pub fn get(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    proxy_check::reject(request)?;
    let text = request.params().last("input");
    let logged = LoggedDecision::begin(state, request)?;
    let asked = DocumentEvaluation {
        envelope: Envelope {
            input: text.map(|text| BodyDocument::Json(text.as_bytes())),
            metadata: None,
        },
        warn: false,
        metrics: metrics::of_decision(request, logged.as_ref()),
        logged,
    };
    let answer = asked.answer(state, request);
    match (answer, text) {
        (Err(EvaluationFailure::Input(_)), Some(text)) => {
            let words = json::error_message(text.as_bytes());
            Err(ApiError::invalid(malformed_input("parameter", words)))
        }
        (answer, _) => answer.map_err(malformed_body),
    }
}

/// `POST /v1/data/{path}`
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
    let asked = DocumentEvaluation {
        envelope,
        warn,
        metrics,
        logged,
    };
    asked.answer(state, request).map_err(malformed_body)
}

/// `POST /v0/data/{path}`: the body is the input, and the response body is the document.
pub fn webhook(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let below = request.rest_of_path().unwrap_or_default();
    bare(state, request, request.path(), below, || path(request))
}

/// `POST /`: evaluates the default decision as [`webhook`] does.
pub fn default_decision(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let live = state.live.load();
    let decision = live.default_decision.trim_start_matches('/');
    bare(state, request, &live.decision_key, decision, || {
        Ok(Path::from_slashes(&live.default_decision))
    })
}

/// Returns the decoded path segments after the route.
pub fn path(request: &Call<'_>) -> Result<Path, ApiError> {
    let segments = request.rest_of_path().and_then(segments);
    segments
        .map(Path::new)
        .ok_or_else(|| ApiError::invalid(format!("bad path: {}", request.path())))
}

/// Returns the error for a body whose input cannot be parsed.
pub fn malformed_body(failure: EvaluationFailure) -> ApiError {
    match failure {
        EvaluationFailure::Input(words) => ApiError::invalid(malformed_input("body", words)),
        EvaluationFailure::Other(error) => error,
    }
}

/// Returns the message for an input that cannot be parsed. A number out of range is well-formed JSON.
fn malformed_input(place: &str, words: String) -> String {
    if words.starts_with("invalid number: ") {
        return words;
    }
    format!("{place} contains malformed input document: {words}")
}

/// Evaluation of a document for a request.
pub struct DocumentEvaluation<'a> {
    /// Input and request metadata.
    pub envelope: Envelope<'a>,
    /// `true` if the response contains a warning for a missing input.
    pub warn: bool,
    /// Timers of the request.
    pub metrics: Metrics,
    /// Decision to log, if any.
    pub logged: Option<LoggedDecision>,
}

/// The document that a request names.
pub struct RequestedDocument {
    /// Prepared document.
    document: Arc<Prepared>,
    /// `true` if it was evaluated before on the current policies and documents.
    pub known: bool,
}

impl RequestedDocument {
    /// Finds the document and measures the time that this takes.
    pub fn by(state: &State, request: &Call<'_>, metrics: &Metrics) -> Result<Self, ApiError> {
        let start = metrics.start();
        let parsed = Cell::new(Duration::ZERO);
        let read = || {
            let path = path(request);
            parsed.set(start.map(|start| start.elapsed()).unwrap_or_default());
            path
        };
        let documents = &state.documents;
        let (document, mut known) = documents.get(state, request, request.path(), read)?;
        if let Some(start) = start {
            known = known && document.was_answered(state.engine.generation());
            if !known {
                metrics.add("rego_query_parse", parsed.get());
                metrics.add(QUERY_COMPILE, start.elapsed().saturating_sub(parsed.get()));
            }
        }
        Ok(Self { document, known })
    }
}

impl DocumentEvaluation<'_> {
    fn answer(&self, state: &State, request: &Call<'_>) -> Result<Response, EvaluationFailure> {
        let wanted = Selection::with_log(request, self.logged.as_ref());
        if wanted.is_something() && request.context.is_reactor() {
            return Err(ApiError::Elsewhere(None).into());
        }
        let found = RequestedDocument::by(state, request, &self.metrics)
            .map_err(|error| self.failed(state, request, error.into()))?;
        let answer = self.read(state, request, &found, None, request.info().received())?;
        Ok(response::json(Status::OK, answer.finish()))
    }

    /// Evaluates a document on the current snapshot or a given one.
    pub fn read(
        &self,
        state: &State,
        request: &Call<'_>,
        found: &RequestedDocument,
        moment: Option<&Snapshot>,
        received: Instant,
    ) -> Result<JsonFields, EvaluationFailure> {
        let has_provenance = request.params().flag("provenance");
        // the snapshot that is evaluated is the one whose bundles provenance and log name
        let logged = self.logged.as_ref().map(|logged| &logged.snapshot);
        let snapshot = moment.or(logged);
        let current = (has_provenance && snapshot.is_none()).then(|| state.engine.snapshot());
        let snapshot = snapshot.or(current.as_ref());
        let response = ResponseMetadata::default();
        let (result, told) = self
            .evaluate(state, request, found, snapshot, received, &response)
            .map_err(|failure| self.failed(state, request, failure))?;
        let mut answer = JsonFields::new(request.pretty());
        if let Some(logged) = &self.logged {
            let outcome = Outcome {
                result: result.as_deref(),
                labels: if result.is_some() { &told.labels } else { &[] },
                ..self.outcome(request, Some(&response))
            };
            logged.log(state, request, outcome)?;
            answer.typed("decision_id", &logged.id);
        }
        if has_provenance && let Some(snapshot) = snapshot {
            answer.typed("provenance", &provenance(state, snapshot));
        }
        told.add_explanation(&mut answer);
        metrics::add(&mut answer, &self.metrics, state.options.spelling);
        if let Some(result) = result {
            answer.text("result", &result);
            told.add_rules(&mut answer);
        }
        if self.warn {
            answer.typed("warning", &Warning::missing("input"));
        }
        add_metadata(&mut answer, &response, request.pretty())?;
        Ok(answer)
    }

    /// Returns what the log contains of a decision before it is made.
    fn outcome<'o>(
        &'o self,
        request: &Call<'o>,
        response: Option<&ResponseMetadata>,
    ) -> Outcome<'o> {
        let path = request.request().rest_of_path().unwrap_or_default();
        let input = decision_log::input_text(self.envelope.input.as_ref());
        Outcome {
            custom: match self
                .logged
                .as_ref()
                .and_then(|logged| logged.batch.as_ref())
            {
                Some(_) => Some(json!({"type": "eopa.styra.com/batch"})),
                None => decision_log::metadata(self.envelope.metadata.as_ref(), response),
            },
            ..Outcome::new(path, input, &self.metrics)
        }
    }

    /// Logs a decision that failed, and returns the failure. An input that cannot be read is part of no decision.
    fn failed(
        &self,
        state: &State,
        request: &Call<'_>,
        failure: EvaluationFailure,
    ) -> EvaluationFailure {
        if let (Some(logged), EvaluationFailure::Other(error)) = (&self.logged, &failure) {
            logged.log_failure(state, request, error, || self.outcome(request, None));
        }
        failure
    }

    fn evaluate(
        &self,
        state: &State,
        request: &Call<'_>,
        found: &RequestedDocument,
        moment: Option<&Snapshot>,
        received: Instant,
        response: &ResponseMetadata,
    ) -> Result<(Option<Vec<u8>>, EvalDetails), EvaluationFailure> {
        let document = &found.document;
        let metrics = &self.metrics;
        let wanted = Selection::with_log(request, self.logged.as_ref());
        let stages = Stages::from_request(request, metrics);
        let compiled = Cell::new(false);
        let hear = |name: &str, took: Duration| {
            compiled.set(compiled.get() || name == QUERY_COMPILE);
            stages.record(name, took);
        };
        let sent = solon::SendMetrics::default();
        let mut asked = solon::Request::new()
            .strict_builtin_errors(request.params().flag("strict-builtin-errors"))
            .response_metadata(response)
            .send_metrics(&sent)
            .timer(stages.timer(&hear));
        if let Some(metadata) = &self.envelope.metadata {
            asked = asked.metadata(metadata);
        }
        if let Some(cache) = self
            .logged
            .as_ref()
            .and_then(|logged| logged.nd_cache.as_ref())
        {
            asked = asked.nd_builtin_cache(cache);
        }
        if let Some(input) = &self.envelope.input {
            asked = input.as_input(asked);
        }
        let start = stages.begin();
        let style = style(request.pretty(), "  ");
        let (result, told) = if wanted.is_something() {
            let prepared = document.prepared();
            let generation = state.engine.generation();
            let (value, mut told) =
                search(state, request, wanted, metrics, prepared, asked, moment)
                    .map_err(EvaluationFailure::from)?;
            document.answered(generation);
            let hides = state.options.spelling.is_opa() && wanted.detail != Some(Detail::Full);
            if value.is_none() && hides {
                // for undefined documents OPA returns either the full trace or nothing
                told.unexplained();
            }
            (value.map(|value| text_of(&value, style)).transpose()?, told)
        } else {
            let result = document.evaluate_text(state, request, moment, asked, style)?;
            (result, EvalDetails::default())
        };
        if let Some(start) = start {
            let hit = found.known && !compiled.get();
            metrics.counter("server_query_cache_hit", hit.into());
            // the timer is present even if no input was read
            metrics.add(INPUT_PARSE, Duration::ZERO);
            metrics.add("rego_query_eval", stages.rest(start));
            metrics.sent(&sent);
            metrics.since("server_handler", received);
        }
        Ok((result, told))
    }
}

/// Timer of parsing the input.
const INPUT_PARSE: &str = "rego_input_parse";
/// Timer of preparing the document.
const QUERY_COMPILE: &str = "rego_query_compile";

/// Top-level response fields that the server itself writes.
const OWN_FIELDS: [&str; 8] = [
    "decision_id",
    "provenance",
    "explanation",
    "metrics",
    "result",
    "ids",
    "rule_labels",
    "warning",
];

/// Adds fields that host functions return. They cannot replace the server's own fields.
fn add_metadata(
    answer: &mut JsonFields,
    metadata: &ResponseMetadata,
    pretty: bool,
) -> Result<(), ApiError> {
    if metadata.is_empty() {
        return Ok(());
    }
    let metadata = metadata.to_value();
    let fields = metadata
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.iter());
    for (name, value) in fields {
        let name = name.as_str().unwrap_or_default();
        if !OWN_FIELDS.contains(&name) {
            answer.text(name, &text_of(value, style(pretty, "  "))?);
        }
    }
    Ok(())
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
    below: &str,
    path: impl Fn() -> Result<Path, ApiError>,
) -> Result<Response, ApiError> {
    proxy_check::reject(request)?;
    let logged = LoggedDecision::begin(state, request)?;
    let malformed = |words: String| {
        let words = malformed_input("body", words);
        ApiError::invalid(format!("unexpected parse error for input: {words}"))
    };
    let input = body::document(request)
        .map_err(malformed)?
        .unwrap_or(BodyDocument::Json(b"null"));
    let metrics = metrics::of_log(logged.as_ref());
    let outcome = || Outcome::new(below, decision_log::input_text(Some(&input)), &metrics);
    let failed = |error: ApiError| {
        if let Some(logged) = &logged {
            logged.log_failure(state, request, &error, outcome);
        }
        error
    };
    let start = metrics.start();
    let (document, known) = state
        .documents
        .get(state, request, key, &path)
        .map_err(failed)?;
    if !known {
        metrics.end(QUERY_COMPILE, start);
    }
    metrics.counter("server_query_cache_hit", known.into());
    let style = style(request.pretty(), "");
    let mut asked = input.as_input(solon::Request::new());
    if let Some(cache) = logged.as_ref().and_then(|logged| logged.nd_cache.as_ref()) {
        asked = asked.nd_builtin_cache(cache);
    }
    let start = metrics.start();
    let snapshot = logged.as_ref().map(|logged| &logged.snapshot);
    let wanted = Selection::of_log(logged.as_ref());
    let evaluated = if wanted.is_something() {
        if request.context.is_reactor() {
            return Err(ApiError::Elsewhere(None));
        }
        let prepared = document.prepared();
        search(state, request, wanted, &metrics, prepared, asked, snapshot)
            .map_err(EvaluationFailure::from)
            .and_then(|(value, told)| {
                let text = value.map(|value| text_of(&value, style)).transpose()?;
                Ok((text, told.labels))
            })
    } else {
        let text = document.evaluate_text(state, request, snapshot, asked, style);
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
            let what = if document.has_rules() {
                "document undefined"
            } else {
                "document missing"
            };
            let place = path()?.reference();
            Err(failed(ApiError::undefined(format!("{what}: {place}"))))
        }
        Err(EvaluationFailure::Input(words)) => Err(malformed(match &input {
            BodyDocument::Json(text) => body::malformed(text).unwrap_or(words),
            _ => words,
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
