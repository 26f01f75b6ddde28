//! Admission of objects to a Kubernetes cluster: `POST /v0/admission/{package}`, and by constraints of [`gatekeeper`].
//!
//! The API server posts an `AdmissionReview`, which is the input, and the package decides by its rules ([`AdmissionDecision`]). A
//! review without a decision is denied by a response, because `failurePolicy: Ignore` of the API server admits after any other
//! error. `server.admission.failure_response: error` leaves that to the API server.

mod decision;
pub(super) mod gatekeeper;
mod review;

use solon::store::Path;
use solon::{Snapshot, Value};
use tracing::warn;

use self::decision::AdmissionDecision;
use self::review::{Answer, Review};
use super::ApiError;
use super::body;
use super::call::Call;
use super::decide::Decider;
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, response};

/// Message to the user if a decision is missing. The reason is in the log and in the decision log.
const NO_DECISION: &str = "the admission policy made no decision";

/// `POST /v0/admission/{package}`
pub fn post(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let package = request.rest_of_path().unwrap_or_default().trim_matches('/');
    let input = body::value(request);
    let review = match read_review(&input) {
        Ok(review) => review,
        Err(problem) => return Ok(malformed(input.as_ref().ok(), &problem)),
    };
    let decider = Decider::new("admission", package);
    // an undefined `allow` is not a member of the document, but denies if such a rule exists
    let path = || Ok(Path::from_slashes(package).join(&Path::new(["allow"])));
    let allow = state
        .documents
        .get(state, request, &format!("admission-allow:{package}"), path);
    let decided = allow.and_then(|(allow, _)| {
        let decide = |snapshot: &Snapshot, value: Option<&Value>| {
            let value = value.ok_or("the package is undefined")?;
            let mut decision = AdmissionDecision::read(value, review.is_delete())?;
            if value.get("allow").is_none() && allow.prepared().pin_to(snapshot).exists() {
                decision.deny_unallowed();
            }
            Ok(decision)
        };
        decider.decide(state, request, review.input, decide)
    });
    let answer = match decided {
        Ok(decided) => Answer::of_decision(&decided.result),
        Err(error) => undecided(state, request, review.uid, error)?,
    };
    Ok(respond(answer.review(review.uid)))
}

/// Reads the review of a body.
///
/// # Errors
/// The body cannot be parsed, or is not a review.
fn read_review(input: &Result<Value, String>) -> Result<Review<'_>, String> {
    let input = input.as_ref().map_err(Clone::clone)?;
    Review::from_input(input)
}

/// Returns the denial of a review without a decision, and logs the reason.
///
/// # Errors
/// `error` itself, if the API server decides about failures, or if the request must be evaluated elsewhere.
fn undecided(
    state: &State,
    request: &Call<'_>,
    uid: &str,
    error: ApiError,
) -> Result<Answer, ApiError> {
    if matches!(error, ApiError::Elsewhere(_)) {
        return Err(error);
    }
    warn!(
        request_id = request.info().id,
        uid,
        err = error.log_text(),
        "An admission review has no decision."
    );
    if state.options.admission_failures_are_denied {
        Ok(Answer::denied(500, NO_DECISION))
    } else {
        Err(error)
    }
}

/// Denies a review that cannot be decided. The API server takes a response without the review's `uid` for an error.
fn malformed(input: Option<&Value>, problem: &str) -> Response {
    let uid = input.and_then(Review::uid_of).unwrap_or_default();
    let message = format!("malformed admission review: {problem}");
    respond(Answer::denied(400, &message).review(uid))
}

fn respond(body: Vec<u8>) -> Response {
    response::json(Status::OK, body)
}
