//! Decisions for services other than the HTTP API, with the decision log.

use solon::store::Path;
use solon::{Snapshot, Value};

use super::ApiError;
use super::call::Call;
use super::decision_log::{LoggedDecision, Outcome};
use super::documents::EvaluationFailure;
use super::event_text::compact;
use super::metrics;
use super::search::{Selection, search};
use super::state::State;
use crate::http::RequestExt as _;
use crate::plugins::decision_logs::new_id;
use crate::telemetry::Metrics;

pub struct Decider {
    /// Path with slashes, as it was configured.
    path: String,
    /// Key of the prepared document.
    key: String,
}

/// A decision that was made, with its id for the decision log.
pub struct DecisionResult<T> {
    /// Id of the decision, which is also in the decision log.
    pub id: String,
    pub result: T,
}

impl Decider {
    /// Creates a decider for the document at a path with slashes. `service` distinguishes it from those of other services.
    pub fn new(service: &str, path: &str) -> Self {
        Self {
            path: path.to_owned(),
            key: format!("{service}:{path}"),
        }
    }

    /// Evaluates the document and logs the decision. `read_result` returns what the caller needs of the result, which is `None` if the
    /// document is undefined, and gets the snapshot of the decision. An error of `read_result` is a decision that failed.
    ///
    /// # Errors
    /// [`ApiError::Elsewhere`] on a reactor if the evaluation takes too long for it. Otherwise the decision has failed.
    pub fn decide<T>(
        &self,
        state: &State,
        request: &Call<'_>,
        input: &Value,
        read_result: impl FnOnce(&Snapshot, Option<&Value>) -> Result<T, String>,
    ) -> Result<DecisionResult<T>, ApiError> {
        let logged = LoggedDecision::begin(state, request)?;
        let metrics = metrics::of_log(logged.as_ref());
        let snapshot = match &logged {
            Some(logged) => logged.snapshot.clone(),
            None => state.engine.snapshot(),
        };
        let outcome = || Outcome::new(&self.path, Some(compact(input)), &metrics);
        let logged_ref = logged.as_ref();
        let evaluated = self.evaluate(state, request, input, &snapshot, logged_ref, &metrics);
        let with_result = evaluated.and_then(|(value, labels)| {
            let result = read_result(&snapshot, value.as_ref()).map_err(ApiError::internal)?;
            Ok((value, labels, result))
        });
        let (value, labels, result) = match with_result {
            Ok(with_result) => with_result,
            Err(error @ ApiError::Elsewhere(_)) => return Err(error),
            Err(error) => {
                if let Some(logged) = &logged {
                    logged.log_failure(state, request, &error, outcome);
                }
                return Err(error);
            }
        };
        let Some(logged) = logged else {
            let no_id = || ApiError::internal("the system has no random bytes");
            return Ok(DecisionResult {
                id: new_id().ok_or_else(no_id)?,
                result,
            });
        };
        let text = value.as_ref().map(compact);
        let outcome = Outcome {
            result: text.as_deref(),
            labels: &labels,
            ..outcome()
        };
        logged.log(state, request, outcome)?;
        Ok(DecisionResult {
            id: logged.id,
            result,
        })
    }

    /// Logs a request about which nothing can be decided, because it cannot be parsed.
    ///
    /// # Errors
    /// [`ApiError::Elsewhere`] as for [`Self::decide`].
    pub fn log_malformed(
        &self,
        state: &State,
        request: &Call<'_>,
        cause: &str,
    ) -> Result<(), ApiError> {
        let Some(logged) = LoggedDecision::begin(state, request)? else {
            return Ok(());
        };
        let metrics = metrics::of_log(Some(&logged));
        logged.log_failure(state, request, &ApiError::internal(cause), || {
            Outcome::new(&self.path, None, &metrics)
        });
        Ok(())
    }

    fn evaluate(
        &self,
        state: &State,
        request: &Call<'_>,
        input: &Value,
        snapshot: &Snapshot,
        logged: Option<&LoggedDecision>,
        metrics: &Metrics,
    ) -> Result<(Option<Value>, Labels), ApiError> {
        let path = || Ok(Path::from_slashes(&self.path));
        let start = metrics.start();
        let (document, is_known) = state.documents.get(state, request, &self.key, path)?;
        if !is_known {
            metrics.end("rego_query_compile", start);
        }
        let mut evaluation = solon::Request::new().input(input);
        if let Some(cache) = logged.and_then(|logged| logged.nd_cache.as_ref()) {
            evaluation = evaluation.nd_builtin_cache(cache);
        }
        let selection = Selection::of_log(logged);
        let start = metrics.start();
        let evaluated = if selection.is_something() {
            if request.context.is_reactor() {
                return Err(ApiError::Elsewhere(None));
            }
            let prepared = document.prepared();
            let snapshot = Some(snapshot);
            let result = search(
                state, request, selection, metrics, prepared, evaluation, snapshot,
            );
            result
                .map(|(value, details)| (value, details.labels))
                .map_err(EvaluationFailure::from)
        } else {
            let pinned = document.prepared().pin_to(snapshot);
            let value = document.evaluate(state, request, &pinned, evaluation, |value| {
                value.to_value()
            });
            value.map(|value| (value, Vec::new()))
        };
        metrics.end("rego_query_eval", start);
        if metrics.is_on() {
            metrics.since("server_handler", request.info().received());
        }
        evaluated.map_err(|failure| match failure {
            EvaluationFailure::Input(message) => ApiError::internal(message),
            EvaluationFailure::Other(error) => error,
        })
    }
}

/// Labels of the rules that succeeded.
type Labels = Vec<serde_json::Map<String, serde_json::Value>>;
