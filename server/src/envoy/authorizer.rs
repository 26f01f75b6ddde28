//! Evaluation of checks: on a reactor thread if they are short, otherwise in the pool, with the decision log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use solon::{Snapshot, Value};
use tracing::warn;

use super::counts::CheckCounts;
use super::decision::Decision;
use super::input::Parsing;
use crate::api::{ApiError, Call, Decider, State};
use crate::config::EnvoyOptions;
use crate::execution::{ExecContext, Executor, Longer};
use crate::http::{BufferedRequest, Peer, Rejection, RequestExt as _, RequestInfo};
use crate::telemetry::RequestSpan;

const SPAN: &str = "envoy.service.auth.v3.Authorization/Check";

/// Message for a document that is undefined.
const UNDEFINED: &str = "undefined decision";

/// Decides about requests.
pub struct Authorizer {
    state: Arc<State>,
    executor: Arc<Executor>,
    decider: Decider,
    pub parsing: Parsing,
    counts: Option<Arc<CheckCounts>>,
    is_dry_run: bool,
    numbers: AtomicU64,
}

/// The caller of a check: Envoy, not its client.
pub struct Caller {
    /// Headers or metadata of the check itself, for the decision log.
    pub headers: HeaderMap,
    /// Address of the proxy; empty for Unix sockets.
    pub address: String,
    /// Time that the proxy waits.
    pub timeout: Option<Duration>,
}

/// Result of a check: a decision, or a failure.
pub enum CheckOutcome {
    Decided {
        decision: Decision,
        /// Id of the decision, also in the decision log.
        id: String,
        /// `true` if the decision denies the request, and it is allowed nevertheless.
        is_overridden: bool,
    },
    /// The checked request cannot be parsed.
    Malformed(String),
    Failed(String),
}

/// Cancels an evaluation when the caller no longer waits for it.
struct CancelOnDrop(Arc<RequestInfo>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel.cancel();
    }
}

impl Authorizer {
    /// Creates an authorizer. The path of the document is that of the options.
    pub fn new(
        state: Arc<State>,
        executor: Arc<Executor>,
        options: &EnvoyOptions,
        parsing: Parsing,
        counts: Option<Arc<CheckCounts>>,
    ) -> Self {
        Self {
            state,
            executor,
            decider: Decider::new("envoy", &options.path),
            parsing,
            counts,
            is_dry_run: options.is_dry_run,
            numbers: AtomicU64::new(0),
        }
    }

    /// Decides about a request. `input` is an error if the request cannot be parsed.
    pub async fn check(
        self: &Arc<Self>,
        caller: Caller,
        input: Result<Value, String>,
    ) -> CheckOutcome {
        let start = Instant::now();
        let span = RequestSpan::begin_call(SPAN, &caller.headers);
        let (mut request, info) = self.request(caller);
        if let Some(span) = &span {
            request.extensions_mut().insert(span.clone());
        }
        let _cancel = CancelOnDrop(info.clone());
        let verdict = match Executor::run_here(|context| self.decide(&request, &input, context)) {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(Longer(estimate))) => {
                let authorizer = self.clone();
                let work = move |context: ExecContext<'_>| {
                    let verdict = authorizer.decide(&request, &input, context);
                    solon::release_thread_snapshot();
                    // the pool runs evaluations to their end, so `Longer` cannot occur
                    verdict.unwrap_or_else(|Longer(_)| authorizer.reject(&Rejection::Panicked))
                };
                let result = self.executor.run(estimate, info.deadline, work).await;
                result.unwrap_or_else(|error| self.reject(&error.into()))
            }
            Err(error) => self.reject(&error.into()),
        };
        if let Some(span) = span {
            span.end_call(match &verdict {
                CheckOutcome::Decided { .. } => None,
                CheckOutcome::Malformed(error) | CheckOutcome::Failed(error) => Some(error),
            });
        }
        if let (Some(counts), CheckOutcome::Decided { .. }) = (&self.counts, &verdict) {
            counts.decided(start.elapsed());
        }
        verdict
    }

    /// Returns the check as a request of the server. Its deadline is the earlier one of caller and server.
    fn request(&self, caller: Caller) -> (BufferedRequest, Arc<RequestInfo>) {
        let mut request = BufferedRequest::default();
        *request.headers_mut() = caller.headers;
        let limit = self.state.options.bounds.request;
        let limit = match (limit, caller.timeout) {
            (Some(limit), Some(timeout)) => Some(limit.min(timeout)),
            (limit, timeout) => limit.or(timeout),
        };
        let peer = Peer {
            address: caller.address,
            ..Peer::default()
        };
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let info = RequestInfo::from_parts(&mut request, number, Arc::new(peer), limit);
        (request, info)
    }

    fn decide(
        &self,
        request: &http::Request<Bytes>,
        input: &Result<Value, String>,
        context: ExecContext<'_>,
    ) -> Result<CheckOutcome, Longer> {
        let call = Call::new(request, context);
        let input = match input {
            Ok(input) => input,
            Err(cause) => {
                // the request is denied, whether it was logged or not
                let logged = self.decider.log_malformed(&self.state, &call, cause);
                if let Err(ApiError::Elsewhere(estimate)) = logged {
                    return Err(Longer(estimate));
                }
                self.count("request_parse_error");
                return Ok(CheckOutcome::Malformed(cause.clone()));
            }
        };
        let read_decision =
            |_: &Snapshot, value: Option<&Value>| Decision::read(value.ok_or(UNDEFINED)?);
        match self
            .decider
            .decide(&self.state, &call, input, read_decision)
        {
            Ok(decision_result) => {
                let decision = decision_result.result;
                let is_overridden = self.is_dry_run && !decision.is_allowed;
                if is_overridden {
                    warn!(
                        decision_id = decision_result.id,
                        "A denied request is allowed, because `dry-run` is set."
                    );
                }
                Ok(CheckOutcome::Decided {
                    decision,
                    id: decision_result.id,
                    is_overridden,
                })
            }
            Err(ApiError::Elsewhere(estimate)) => Err(Longer(estimate)),
            Err(error) => {
                let message = error.log_text();
                let reason = match error.first_code() {
                    Some(code) => code,
                    None if message.starts_with("failed to get ") => "envoyauth_result_error",
                    None => "envoyauth_eval_error",
                };
                self.count(reason);
                warn!(
                    request_id = call.info().id,
                    err = message,
                    "A request was checked without a decision."
                );
                Ok(CheckOutcome::Failed(message))
            }
        }
    }

    /// Returns the verdict on a check that was not evaluated.
    fn reject(&self, rejection: &Rejection) -> CheckOutcome {
        let (_, code, message) = rejection.describe();
        self.count(code);
        CheckOutcome::Failed(message.into_owned())
    }

    fn count(&self, reason: &str) {
        if let Some(counts) = &self.counts {
            counts.failed(reason);
        }
    }
}
