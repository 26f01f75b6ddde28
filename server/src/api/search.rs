//! Traced evaluations. They are needed if a request selects a trace (`explain`), the rules that succeeded (`ids`, `rule_labels`),
//! or instrumentation (`instrument`).

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use solon::trace::{Detail, Instruments, Spelling, Succeeded};
use solon::{
    Error, ExplainOptions, Explanation, PreparedDocument, PreparedPartial, PreparedQuery,
    Residuals, SearchOptions, Snapshot, Solution, TraceLines, Value,
};

use super::call::Call;
use super::decision_log::LoggedDecision;
use super::evaluation::evaluate;
use super::metrics::is_instrumented;
use super::state::State;
use crate::http::RequestExt as _;
use crate::json::{JsonFields, answer_text, escape_html, indent};
use crate::telemetry::Metrics;

/// Details that a request selects in addition to the result.
#[derive(Clone, Copy)]
pub struct Selection {
    pub detail: Option<Detail>,
    instruments: bool,
    ids: bool,
    labels: bool,
    /// `true` if the response contains the labels; otherwise they are for the decision log.
    shows_labels: bool,
}

impl Selection {
    /// Returns the details that a request selects. The first valid level of explanation is used.
    pub fn from_request(request: &Call<'_>) -> Self {
        let params = &request.params();
        Self {
            detail: params.all("explain").find_map(Detail::from_name),
            instruments: is_instrumented(request),
            ids: params.flag("ids"),
            labels: params.flag("rule_labels"),
            shows_labels: params.flag("rule_labels"),
        }
    }

    /// Returns the details that a request selects and those that its decision log event needs.
    pub fn with_log(request: &Call<'_>, logged: Option<&LoggedDecision>) -> Self {
        let requested = Self::from_request(request);
        Self {
            labels: requested.labels || logged.is_some_and(LoggedDecision::has_labels),
            ..requested
        }
    }

    /// Returns the details that a decision log event needs, for requests that cannot select any.
    pub fn of_log(logged: Option<&LoggedDecision>) -> Self {
        Self {
            detail: None,
            instruments: false,
            ids: false,
            labels: logged.is_some_and(LoggedDecision::has_labels),
            shows_labels: false,
        }
    }

    /// Returns the details that a request for partial evaluation selects. No rule succeeds while something is unknown.
    pub fn of_partial(request: &Call<'_>) -> Self {
        Self {
            ids: false,
            labels: false,
            ..Self::from_request(request)
        }
    }

    /// Returns `true` if a traced evaluation is needed.
    pub fn is_something(self) -> bool {
        self.detail.is_some() || self.instruments || self.ids || self.labels
    }
}

/// Details of an evaluation that the client requested.
#[derive(Default)]
pub struct EvalDetails {
    /// Trace as JSON text.
    explanation: Option<Vec<u8>>,
    ids: Vec<Arc<str>>,
    /// Labels of the rules that succeeded.
    pub labels: Vec<Map<String, Json>>,
    shows_labels: bool,
}

impl EvalDetails {
    /// Adds the trace to a response.
    pub fn add_explanation(&self, fields: &mut JsonFields) {
        if let Some(explanation) = &self.explanation {
            fields.text("explanation", explanation);
        }
    }

    /// Removes the trace.
    pub fn unexplained(&mut self) {
        self.explanation = None;
    }

    /// Adds the rules that succeeded to a response.
    pub fn add_rules(&self, fields: &mut JsonFields) {
        if !self.ids.is_empty() {
            fields.typed("ids", &self.ids);
        }
        if self.shows_labels && !self.labels.is_empty() {
            fields.typed("rule_labels", &self.labels);
        }
    }
}

/// A prepared document or query that supports traced evaluation.
pub trait Searched {
    type Answer;

    /// Evaluates without a trace.
    fn find(
        &self,
        eval_request: &solon::Request<'_>,
        search: SearchOptions<'_>,
    ) -> Result<Self::Answer, Error>;

    /// Evaluates with a trace, by the tracing evaluator.
    fn evaluate_traced(
        &self,
        eval_request: &solon::Request<'_>,
        detail: Detail,
        search: SearchOptions<'_>,
    ) -> Explanation<Self::Answer>;
}

/// Implements [`Searched`] with the method that evaluates without a trace.
macro_rules! searched {
    ($subject:ty, $result:ty, |$search:ident| $options:expr) => {
        impl Searched for $subject {
            type Answer = $result;

            fn find(
                &self,
                eval_request: &solon::Request<'_>,
                $search: SearchOptions<'_>,
            ) -> Result<Self::Answer, Error> {
                <$subject>::search(self, eval_request, $options)
            }

            fn evaluate_traced(
                &self,
                eval_request: &solon::Request<'_>,
                detail: Detail,
                search: SearchOptions<'_>,
            ) -> Explanation<Self::Answer> {
                self.explain(eval_request, ExplainOptions::new(detail).search(search))
            }
        }
    };
}

searched!(PreparedDocument, Option<Value>, |search| search);
searched!(PreparedQuery, Vec<Solution>, |search| search
    .cross_check(true));
searched!(PreparedPartial, Residuals, |search| search);

/// Evaluates for a request on one snapshot, by default the current one, and returns the details that it selects.
pub fn search<S: Searched>(
    state: &State,
    request: &Call<'_>,
    selection: Selection,
    metrics: &Metrics,
    subject: &S,
    eval_request: solon::Request<'_>,
    snapshot: Option<&Snapshot>,
) -> Result<(S::Answer, EvalDetails), Error> {
    let snapshot = snapshot.cloned().unwrap_or_else(|| state.engine.snapshot());
    let instruments = Instruments::default();
    let mut succeeded = Succeeded::default();
    let mut options = SearchOptions::default();
    if selection.instruments {
        options = options.instruments(&instruments);
    }
    if selection.ids || selection.labels {
        options = options.observer(&mut succeeded);
    }
    let eval_request = eval_request.snapshot(&snapshot);
    let (result, explanation) =
        evaluate(
            state,
            request,
            &eval_request,
            |eval_request| match selection.detail {
                Some(detail) => {
                    let explained = subject.evaluate_traced(eval_request, detail, options);
                    let steps = steps(state, request, &explained);
                    (explained.result, Some(steps))
                }
                None => (subject.find(eval_request, options), None),
            },
        );
    if selection.instruments {
        metrics.instruments(&instruments);
        for (stage, took) in snapshot.compile_stages() {
            metrics.add(stage, took);
        }
    }
    let result = result?;
    let mut details = EvalDetails {
        explanation: explanation.transpose()?,
        shows_labels: selection.shows_labels,
        ..EvalDetails::default()
    };
    if selection.ids {
        details.ids = snapshot.rule_ids(&succeeded);
    }
    if selection.labels {
        details.labels = snapshot.rule_labels(&succeeded);
    }
    Ok((result, details))
}

/// Returns the steps as JSON text: lines of a readable trace, or events.
fn steps<T>(
    state: &State,
    request: &Call<'_>,
    explained: &Explanation<T>,
) -> Result<Vec<u8>, Error> {
    if !request.pretty() {
        let spelling = if state.options.spelling.is_opa() {
            Spelling::Lower
        } else {
            Spelling::Title
        };
        return Ok(escape_html(explained.json(spelling)?.into_bytes()));
    }
    let mut lines = explained.lines(TraceLines::default().locations(true))?;
    if lines.is_empty() {
        // an empty text has one line
        lines.push(String::new());
    }
    let text = answer_text(&lines, true);
    Ok(indent(text.trim_ascii_end(), 1))
}
