//! Events of the decision log. The data that handlers have about a decision becomes an event, which the drop and the mask policy
//! process before it is written.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};
use solon::store::Path;
use solon::{NdBuiltinCache, PinnedDocument, Snapshot, Value, json as text};

use super::ApiError;
use super::call::Call;
use super::documents::{EvaluationFailure, ServedDocument};
use super::event_text::{compact, one_line};
use super::metrics::spelled;
use super::snapshot_facts::{PolicyFacts, SnapshotFacts};
use super::state::State;
use crate::http::RequestExt as _;
use crate::plugins::decision_logs::{DecisionLog, ErrorForm, Event, mask, new_id};
use crate::telemetry::Metrics;

pub struct LoggedDecision {
    log: Arc<DecisionLog>,
    /// UUID of the decision, version 4.
    pub id: String,
    /// UUID of the batch that it belongs to.
    pub batch: Option<Arc<str>>,
    pub snapshot: Snapshot,
    /// Receives the results of nondeterministic built-in functions, if they are recorded.
    pub nd_cache: Option<NdBuiltinCache>,
    facts: Arc<SnapshotFacts>,
    drop: Option<EventPolicy>,
    mask: Option<EventPolicy>,
}

/// A policy that decides about events.
struct EventPolicy {
    document: Arc<ServedDocument>,
    bound: PinnedDocument,
}

/// A decision that was made, or that failed.
pub struct Outcome<'a> {
    /// Path of the document, with slashes; empty for the root and for queries.
    pub path: &'a str,
    pub query: Option<&'a str>,
    pub input: Option<Vec<u8>>,
    /// Result as JSON text, on one line or several.
    pub result: Option<&'a [u8]>,
    /// Why the decision failed.
    pub error: Option<&'a ApiError>,
    pub metrics: &'a Metrics,
    /// Labels of the rules that succeeded.
    pub labels: &'a [Map<String, Json>],
    /// Other facts, which become the member `custom` of the event.
    pub custom: Option<Json>,
}

impl<'a> Outcome<'a> {
    /// Creates the outcome of a decision on a document that has no result yet.
    pub fn new(path: &'a str, input: Option<Vec<u8>>, metrics: &'a Metrics) -> Self {
        Self {
            path,
            query: None,
            input,
            result: None,
            error: None,
            metrics,
            labels: &[],
            custom: None,
        }
    }
}

impl LoggedDecision {
    /// Begins a decision. Returns `None` if no decision log is configured, at the cost of an atomic load.
    ///
    /// # Errors
    /// [`ApiError::Elsewhere`] on a reactor if a policy that decides about events may take longer than a reactor may wait.
    pub fn begin(state: &State, request: &Call<'_>) -> Result<Option<Self>, ApiError> {
        let guard = state.decision_logs.load();
        let Some(log) = &*guard else {
            return Ok(None);
        };
        if request.context.is_reactor() && log.may_block() {
            return Err(ApiError::Elsewhere(None));
        }
        let snapshot = state.engine.snapshot();
        let facts = state.snapshot_facts(&snapshot, &log.options);
        let policy = |facts: &PolicyFacts, key: &str| {
            let policy = || EventPolicy::of_decision(state, request, &snapshot, key, &facts.path);
            facts.exists.then(policy).transpose()
        };
        let (drop, mask) = (
            policy(&facts.drop, &log.drop_key)?,
            policy(&facts.mask, &log.mask_key)?,
        );
        let no_id = || ApiError::internal("decision_logs: the system has no random bytes");
        Ok(Some(Self {
            id: new_id().ok_or_else(no_id)?,
            batch: None,
            nd_cache: log.options.nd_builtin_cache.then(NdBuiltinCache::default),
            facts,
            log: log.clone(),
            snapshot,
            drop,
            mask,
        }))
    }

    /// Returns `true` if the labels of rules that succeed are part of the event.
    pub fn has_labels(&self) -> bool {
        self.facts.has_labels
    }

    /// Writes the event of a decision to the log.
    ///
    /// # Errors
    /// The response to a decision that could not be logged: 500. [`ApiError::Elsewhere`] as for [`Self::begin`].
    pub fn log(
        &self,
        state: &State,
        request: &Call<'_>,
        outcome: Outcome<'_>,
    ) -> Result<(), ApiError> {
        let spelling = state.options.spelling;
        let info = request.info();
        // OPA writes these only if requests are logged
        let is_shown = tracing::enabled!(tracing::Level::INFO);
        let error = outcome.error.and_then(|error| error.event_error(spelling));
        let client = &*info.peer.address;
        let metrics = spelled(outcome.metrics, spelling);
        let trace = request.span().map(|span| {
            span.decided(self.batch.as_deref().unwrap_or(&self.id));
            span.ids()
        });
        let mut event = Event {
            labels: &self.log.labels,
            decision_id: &self.id,
            batch_decision_id: self.batch.as_deref(),
            trace: trace.as_ref(),
            bundles: self.facts.bundles.as_deref(),
            path: Some(outcome.path).filter(|path| !path.is_empty()),
            query: outcome.query,
            input: outcome.input,
            result: outcome.result.map(one_line),
            nd_builtin_cache: self
                .nd_cache
                .as_ref()
                .map(|cache| compact(&cache.to_value())),
            error: error.as_ref(),
            requested_by: Some(client).filter(|client| is_shown && !client.is_empty()),
            timestamp: Timestamp::now(),
            metrics: Some(crate::json::text_of(&metrics)),
            req_id: is_shown.then_some(info.id),
            rule_labels: outcome.labels,
            request_context: self.request_context(request),
            custom: outcome.custom.map(|custom| crate::json::text_of(&custom)),
            ..Event::default()
        };
        if self.is_dropped(state, request, &event)? {
            return Ok(());
        }
        if !self.mask(state, request, &mut event)? {
            return Ok(());
        }
        self.log
            .log(&event)
            .map_err(|error| ApiError::internal(format!("decision_logs: {error}")))
    }

    /// Logs a decision that failed. Rejected requests are not decisions and are not logged. `outcome` returns what the log contains
    /// besides the error. The response reports the failure of the decision, whether it was logged or not.
    pub fn log_failure<'o>(
        &self,
        state: &State,
        request: &Call<'_>,
        error: &ApiError,
        outcome: impl FnOnce() -> Outcome<'o>,
    ) {
        if !error.is_failure() {
            return;
        }
        let outcome = Outcome {
            error: Some(error),
            ..outcome()
        };
        if let Err(error) = self.log(state, request, outcome)
            && let Some(text) = error.message()
        {
            tracing::error!(
                plugin = NAME,
                err = text,
                "A failed decision was not logged."
            );
        }
    }

    /// Evaluates the drop policy. An event is dropped if the policy fails.
    fn is_dropped(
        &self,
        state: &State,
        request: &Call<'_>,
        event: &Event<'_>,
    ) -> Result<bool, ApiError> {
        let Some(policy) = &self.drop else {
            return Ok(false);
        };
        match policy.evaluate(state, request, event) {
            Ok(Some(value)) if value.as_bool() == Some(true) => {
                self.log.counts.dropped_by_policy.increment();
                Ok(true)
            }
            Ok(_) => Ok(false),
            Err(EvaluationFailure::Other(ApiError::Elsewhere(estimate))) => {
                Err(ApiError::Elsewhere(estimate))
            }
            Err(failure) => {
                self.log.counts.drop_failures.increment();
                self.failed("Log drop decision failed", &failure.text());
                Ok(true)
            }
        }
    }

    /// Evaluates the mask policy and changes the event. Returns `false` if that fails: an event that is not masked is not logged.
    fn mask(
        &self,
        state: &State,
        request: &Call<'_>,
        event: &mut Event<'_>,
    ) -> Result<bool, ApiError> {
        let Some(policy) = &self.mask else {
            return Ok(true);
        };
        let masked = match policy.evaluate(state, request, event) {
            Ok(None) => Ok(()),
            Ok(Some(value)) => mask(event, &value),
            Err(EvaluationFailure::Other(ApiError::Elsewhere(estimate))) => {
                return Err(ApiError::Elsewhere(estimate));
            }
            Err(failure) => Err(failure.text()),
        };
        if let Err(text) = &masked {
            self.log.counts.mask_failures.increment();
            self.failed("Log event masking failed", text);
        }
        Ok(masked.is_ok())
    }

    fn failed(&self, action: &str, reason: &str) {
        self.log.failed(format!("{action}: {reason}."));
    }

    /// Returns the configured headers of a request, or `None` if it has none of them.
    fn request_context(&self, request: &Call<'_>) -> Option<Vec<u8>> {
        let mut headers = Map::new();
        for name in &self.log.options.headers {
            let values = request.headers().get_all(name.as_str()).iter();
            let values: Vec<Json> = values
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into())
                .collect();
            if !values.is_empty() {
                headers.insert(name.clone(), values.into());
            }
        }
        if headers.is_empty() {
            return None;
        }
        Some(crate::json::text_of(&json!({"http": {"headers": headers}})))
    }
}

const NAME: &str = "decision_logs";

impl EventPolicy {
    /// Returns the policy at a path. On a reactor it must be known to be short.
    fn of_decision(
        state: &State,
        request: &Call<'_>,
        snapshot: &Snapshot,
        key: &str,
        path: &str,
    ) -> Result<Self, ApiError> {
        let path = || Ok(Path::from_slashes(path));
        let (document, _) = state.documents.get(state, request, key, path)?;
        let pinned = document.prepared().pin_to(snapshot);
        document.is_quick_at(request, &pinned)?;
        Ok(Self {
            document,
            bound: pinned,
        })
    }

    fn evaluate(
        &self,
        state: &State,
        request: &Call<'_>,
        event: &Event<'_>,
    ) -> Result<Option<Value>, EvaluationFailure> {
        let event = event.text(ErrorForm::Object);
        let eval_request = solon::Request::new().input_json(&event);
        let result = self
            .document
            .evaluate_detached(state, request, &self.bound, eval_request)?;
        // sets become arrays
        let result = result.map(|result| text::read(&result));
        result
            .transpose()
            .map_err(|error| EvaluationFailure::Input(error.to_string()))
    }
}
