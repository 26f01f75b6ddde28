//! Evaluation of a document for a request of `/v1/data`, with details that the request selects.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use solon::trace::Detail;
use solon::{ResponseMetadata, Snapshot};

use super::ApiError;
use super::body::Envelope;
use super::call::Call;
use super::data::{path, style, text_of};
use super::decision_log::{LoggedDecision, Outcome};
use super::documents::{EvaluationFailure, ServedDocument};
use super::event_text;
use super::metrics::{self, Stages};
use super::provenance::provenance;
use super::search::{EvalDetails, Selection, search};
use super::state::State;
use super::warning::Warning;
use crate::http::{RequestExt as _, Response, Status, response};
use crate::json::JsonFields;
use crate::telemetry::Metrics;

pub struct DocumentEvaluation<'a> {
    /// Input and request metadata.
    pub envelope: Envelope<'a>,
    /// `true` if the response contains a warning for a missing input.
    pub warn: bool,
    pub metrics: Metrics,
    pub logged: Option<LoggedDecision>,
}

pub struct RequestedDocument {
    document: Arc<ServedDocument>,
    /// `true` if it was evaluated before on the current policies and documents.
    pub known: bool,
}

impl RequestedDocument {
    /// Finds the document and measures the time that this takes.
    pub fn by(state: &State, request: &Call<'_>, metrics: &Metrics) -> Result<Self, ApiError> {
        let start = metrics.start();
        let parsed = Cell::new(Duration::ZERO);
        let read_path = || {
            let path = path(request);
            parsed.set(start.map(|start| start.elapsed()).unwrap_or_default());
            path
        };
        let documents = &state.documents;
        let (document, mut is_known) = documents.get(state, request, request.path(), read_path)?;
        if let Some(start) = start {
            is_known = is_known && document.was_answered(state.engine.generation());
            if !is_known {
                metrics.add("rego_query_parse", parsed.get());
                metrics.add(QUERY_COMPILE, start.elapsed().saturating_sub(parsed.get()));
            }
        }
        Ok(Self {
            document,
            known: is_known,
        })
    }
}

impl DocumentEvaluation<'_> {
    /// Evaluates the document that the request names.
    ///
    /// # Errors
    /// The path is not valid, the input is malformed, or the evaluation fails. `Elsewhere` if the thread may not run it.
    pub fn answer(&self, state: &State, request: &Call<'_>) -> Result<Response, EvaluationFailure> {
        let selection = Selection::with_log(request, self.logged.as_ref());
        if selection.is_something() && request.context.is_reactor() {
            return Err(ApiError::Elsewhere(None).into());
        }
        let document = RequestedDocument::by(state, request, &self.metrics)
            .map_err(|error| self.failed(state, request, error.into()))?;
        let response_fields =
            self.read(state, request, &document, None, request.info().received())?;
        Ok(response::json(Status::OK, response_fields.finish()))
    }

    /// Evaluates a document on the current snapshot or a given one.
    pub fn read(
        &self,
        state: &State,
        request: &Call<'_>,
        requested: &RequestedDocument,
        snapshot: Option<&Snapshot>,
        received: Instant,
    ) -> Result<JsonFields, EvaluationFailure> {
        let has_provenance = request.params().flag("provenance");
        // the snapshot that is evaluated is the one whose bundles provenance and log name
        let logged = self.logged.as_ref().map(|logged| &logged.snapshot);
        let snapshot = snapshot.or(logged);
        let current = (has_provenance && snapshot.is_none()).then(|| state.engine.snapshot());
        let snapshot = snapshot.or(current.as_ref());
        let response = ResponseMetadata::default();
        let (result, details) = self
            .evaluate(state, request, requested, snapshot, received, &response)
            .map_err(|failure| self.failed(state, request, failure))?;
        let mut response_fields = JsonFields::new(request.pretty());
        if let Some(logged) = &self.logged {
            let outcome = Outcome {
                result: result.as_deref(),
                labels: if result.is_some() {
                    &details.labels
                } else {
                    &[]
                },
                ..self.outcome(request, Some(&response))
            };
            logged.log(state, request, outcome)?;
            response_fields.typed("decision_id", &logged.id);
        }
        if has_provenance && let Some(snapshot) = snapshot {
            response_fields.typed("provenance", &provenance(state, snapshot));
        }
        details.add_explanation(&mut response_fields);
        metrics::add(&mut response_fields, &self.metrics, state.options.spelling);
        if let Some(result) = result {
            response_fields.text("result", &result);
            details.add_rules(&mut response_fields);
        }
        if self.warn {
            response_fields.typed("warning", &Warning::missing("input"));
        }
        add_metadata(&mut response_fields, &response, request.pretty())?;
        Ok(response_fields)
    }

    /// Returns what the log contains of a decision before it is made.
    fn outcome<'o>(
        &'o self,
        request: &Call<'o>,
        response: Option<&ResponseMetadata>,
    ) -> Outcome<'o> {
        let path = request.request().rest_of_path().unwrap_or_default();
        let input = event_text::input_text(self.envelope.input.as_ref());
        Outcome {
            custom: match self
                .logged
                .as_ref()
                .and_then(|logged| logged.batch.as_ref())
            {
                Some(_) => Some(json!({"type": "eopa.styra.com/batch"})),
                None => event_text::metadata(self.envelope.metadata.as_ref(), response),
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
        requested: &RequestedDocument,
        snapshot: Option<&Snapshot>,
        received: Instant,
        response: &ResponseMetadata,
    ) -> Result<(Option<Vec<u8>>, EvalDetails), EvaluationFailure> {
        let document = &requested.document;
        let metrics = &self.metrics;
        let selection = Selection::with_log(request, self.logged.as_ref());
        let stages = Stages::from_request(request, metrics);
        let compiled = Cell::new(false);
        let on_stage = |name: &str, took: Duration| {
            compiled.set(compiled.get() || name == QUERY_COMPILE);
            stages.record(name, took);
        };
        let send_metrics = solon::SendMetrics::default();
        let mut eval_request = solon::Request::new()
            .strict_builtin_errors(request.params().flag("strict-builtin-errors"))
            .response_metadata(response)
            .send_metrics(&send_metrics)
            .timer(stages.timer(&on_stage));
        if let Some(metadata) = &self.envelope.metadata {
            eval_request = eval_request.metadata(metadata);
        }
        if let Some(cache) = self
            .logged
            .as_ref()
            .and_then(|logged| logged.nd_cache.as_ref())
        {
            eval_request = eval_request.nd_builtin_cache(cache);
        }
        if let Some(input) = &self.envelope.input {
            eval_request = input.as_input(eval_request);
        }
        let start = stages.begin();
        let style = style(request.pretty(), "  ");
        let (result, details) = if selection.is_something() {
            let prepared = document.prepared();
            let generation = state.engine.generation();
            let (value, mut details) = search(
                state,
                request,
                selection,
                metrics,
                prepared,
                eval_request,
                snapshot,
            )
            .map_err(EvaluationFailure::from)?;
            document.answered(generation);
            let hides = state.options.spelling.is_opa() && selection.detail != Some(Detail::Full);
            if value.is_none() && hides {
                // for undefined documents OPA returns either the full trace or nothing
                details.unexplained();
            }
            (
                value.map(|value| text_of(&value, style)).transpose()?,
                details,
            )
        } else {
            let result = document.evaluate_text(state, request, snapshot, eval_request, style)?;
            (result, EvalDetails::default())
        };
        if let Some(start) = start {
            let hit = requested.known && !compiled.get();
            metrics.counter("server_query_cache_hit", hit.into());
            // the timer is present even if no input was read
            metrics.add(INPUT_PARSE, Duration::ZERO);
            metrics.add("rego_query_eval", stages.rest(start));
            metrics.add_http_sends(&send_metrics);
            metrics.since("server_handler", received);
        }
        Ok((result, details))
    }
}

const INPUT_PARSE: &str = "rego_input_parse";
/// Timer of preparing the document.
pub const QUERY_COMPILE: &str = "rego_query_compile";

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
    response_fields: &mut JsonFields,
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
            response_fields.text(name, &text_of(value, style(pretty, "  "))?);
        }
    }
    Ok(())
}
