//! Constraints of Gatekeeper: `POST /v0/gatekeeper`.
//!
//! Templates and constraints are read from files when the server starts ([`ConstraintSet`]). Each constraint that applies to a
//! review is evaluated, and its violations deny the object, warn or are only logged.

mod constraint;
mod constraint_set;
mod enforcement;
mod manifest;
mod matching;
mod parameters;
mod section;
mod selector;
mod subject;
mod template;
mod template_code;
mod verdict;
mod wildcard;

use solon::{PreparedDocument, Value};
use tracing::warn;

use self::subject::ReviewedRequest;
use self::verdict::Verdict;
use super::review::Review;
use super::{malformed, read_review, respond, undecided};
use crate::api::ApiError;
use crate::api::body;
use crate::api::call::Call;
use crate::api::decision_log::{LoggedDecision, Outcome};
use crate::api::evaluation::evaluate;
use crate::api::event_text::compact;
use crate::api::metrics;
use crate::api::state::State;
use crate::http::{RequestExt as _, Response};

pub use constraint_set::{ActiveConstraints, ConstraintSet};
pub use manifest::constraint_files;

/// Path of these decisions in the decision log.
const DECISION: &str = "gatekeeper";

/// `POST /v0/gatekeeper`
pub fn post(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let input = body::value(request);
    let review = match read_review(&input) {
        Ok(review) => review,
        Err(problem) => return Ok(malformed(input.as_ref().ok(), &problem)),
    };
    let reviewed = match ReviewedRequest::from_review(&review) {
        Ok(reviewed) => reviewed,
        Err(problem) => return Ok(malformed(Some(review.input), &problem)),
    };
    let answer = match decide(state, request, &review, &reviewed) {
        Ok(verdict) => verdict.answer(),
        Err(error) => undecided(state, request, review.uid, error)?,
    };
    Ok(respond(answer.review(review.uid)))
}

/// Reviews a request and logs the decision.
fn decide(
    state: &State,
    request: &Call<'_>,
    review: &Review<'_>,
    reviewed: &ReviewedRequest<'_>,
) -> Result<Verdict, ApiError> {
    let logged = LoggedDecision::begin(state, request)?;
    let metrics = metrics::of_log(logged.as_ref());
    let snapshot = match &logged {
        Some(logged) => logged.snapshot.clone(),
        None => state.engine.snapshot(),
    };
    let outcome = || Outcome::new(DECISION, Some(compact(review.input)), &metrics);
    let start = metrics.start();
    let documents = snapshot.documents().root();
    let verdict = evaluate_all(state, request, reviewed, documents);
    metrics.end("rego_query_eval", start);
    if metrics.is_on() {
        metrics.since("server_handler", request.info().received());
    }
    match (verdict, &logged) {
        (Ok(verdict), None) => Ok(verdict),
        (Ok(verdict), Some(logged)) => {
            let text = verdict.to_json().to_string();
            let outcome = Outcome {
                result: Some(text.as_bytes()),
                ..outcome()
            };
            logged.log(state, request, outcome)?;
            Ok(verdict)
        }
        (Err(error), logged) => {
            if let Some(logged) = logged {
                logged.log_failure(state, request, &error, outcome);
            }
            Err(error)
        }
    }
}

/// Evaluates the constraints.
///
/// # Errors
/// Constraints are not configured, or one that denies cannot be evaluated and no other one denies.
fn evaluate_all(
    state: &State,
    request: &Call<'_>,
    reviewed: &ReviewedRequest<'_>,
    documents: &Value,
) -> Result<Verdict, ApiError> {
    let constraints = state.constraints.load();
    let constraints = constraints
        .ok_or_else(|| ApiError::internal("`server.admission.gatekeeper.paths` is not set"))?;
    let mut evaluate_one = |document: &PreparedDocument, input: &Value| {
        let eval_request = solon::Request::new().input(input);
        evaluate(state, request, &eval_request, |eval_request| {
            document.evaluate(eval_request)
        })
    };
    let verdict = constraints.review(reviewed, documents, &mut evaluate_one);
    for problem in verdict.failures() {
        warn!(
            req_id = request.info().id,
            err = problem,
            "A constraint cannot be evaluated."
        );
    }
    match verdict.undecided() {
        Some(problem) => Err(ApiError::internal(problem)),
        None => Ok(verdict),
    }
}

#[cfg(test)]
#[path = "../../../../tests/server/unit/gatekeeper.rs"]
mod tests;
