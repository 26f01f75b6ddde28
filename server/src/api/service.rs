//! From a request to its handler: classified by its head, authorized, answered.

use std::sync::Arc;
use std::time::Duration;

use super::access_log;
use super::authorize::{self, HeadVerdict};
use super::routes::{Action, Route, Runs, is_for_diagnosis, route};
use super::{ApiError, State};
use crate::config::Authorization;
use crate::http::header::ALLOW;
use crate::http::{
    Admission, App, BodyLimits, Cleaned, Head, Longer, Message, Method, Place, Refusal, Request,
    Response, Status, clean,
};
use crate::telemetry::CountedRequest;

/// Answers requests from the table of routes.
pub struct Service {
    state: Arc<State>,
}

/// What a request's head says of it.
#[derive(Clone, Copy)]
pub enum Plan {
    /// A handler answers.
    Answered(&'static Action),
    /// The path has no such method.
    OtherMethod(&'static Route),
    /// The path is written with what means nothing: it is to be asked without.
    Unclean,
    /// The path ends with a slash: it is to be asked without.
    Open,
    /// The whole server is asked what it can do.
    Server,
    /// There is nothing at the path.
    Nothing,
}

impl Service {
    /// Answers for an engine.
    pub fn new(state: Arc<State>) -> Self {
        Self { state }
    }

    /// What handlers share.
    pub fn state(&self) -> &State {
        &self.state
    }

    fn dispatch(
        &self,
        plan: Plan,
        message: &mut Message,
        place: Place<'_>,
    ) -> Result<Response, ApiError> {
        if !message.allowed && self.state.options.authorization == Authorization::Basic {
            let has_body = !message.body.is_empty();
            if message.document.is_none() && has_body && authorize::sees_body(plan) {
                message.document = authorize::read(&message.at(place))?;
            }
            authorize::check(&self.state, &message.at(place))?;
        }
        message.allowed = true;
        let request = &message.at(place);
        match plan {
            Plan::Answered(action) => {
                if action.runs != Runs::Anywhere && place.is_reactor() {
                    return Err(ApiError::Elsewhere(None));
                }
                (action.handler)(&self.state, request)
            }
            Plan::OtherMethod(route) => Ok(self.other_method(route, request)),
            Plan::Unclean => Ok(redirect_clean(request)),
            Plan::Open => {
                let path = request.path();
                let closed = path.strip_suffix('/').unwrap_or(path);
                Ok(Response::redirect(Status::MOVED_PERMANENTLY, closed))
            }
            Plan::Server => Ok(Response::empty(Status::OK)),
            Plan::Nothing => {
                let path = request.path();
                Err(ApiError::not_found(format!("there is nothing at {path}")))
            }
        }
    }

    fn other_method(&self, route: &Route, request: &Request<'_>) -> Response {
        let allowed = route
            .served(&self.state.options)
            .map(|action| action.method);
        let allowed: Vec<_> = allowed.collect();
        let message = format!("{} is no method of {}", request.method, request.path());
        let error =
            ApiError::with_status(Status::METHOD_NOT_ALLOWED, "method_not_allowed", message);
        let refused = self.refusal(error);
        if allowed.is_empty() {
            return refused;
        }
        refused.with(ALLOW, &allowed.join(", "))
    }

    /// Logs a request, once.
    fn received(&self, message: &mut Message) {
        if !message.logged {
            message.logged = true;
            access_log::received(self.state.options.request_log, message);
        }
    }

    /// The response that an answer becomes.
    fn finished(
        &self,
        message: &Message,
        place: Place<'_>,
        answer: Result<Response, ApiError>,
    ) -> Result<Response, Longer> {
        if !place.is_reactor() {
            // a thread that rests keeps no documents alive that are replaced meanwhile
            solon::release_thread_snapshot();
        }
        let response = match answer {
            Ok(response) => response,
            Err(ApiError::Elsewhere(pace)) => return Err(Longer(pace)),
            Err(error) => self.refusal(error),
        };
        let reads = matches!(message.method.as_str(), "GET" | "POST");
        let long = ["/v1/data", "/v0/data", "/v1/compile"];
        let is_long = reads && long.iter().any(|long| message.path().starts_with(long));
        Ok(if is_long {
            response.varying()
        } else {
            response
        })
    }

    /// The answer to a request that is refused.
    fn refusal(&self, error: ApiError) -> Response {
        match error {
            ApiError::Refused(refusal) => refusal.response(self.state.options.spelling),
            // nobody who answers for good says so
            ApiError::Elsewhere(_) => Response::empty(Status::INTERNAL_SERVER_ERROR),
        }
    }
}

fn redirect_clean(request: &Request<'_>) -> Response {
    let path = request.path();
    let clean = match clean(path) {
        Cleaned::To(clean) => clean,
        Cleaned::Same => path.to_owned(),
    };
    let query = request.target.query();
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Response::redirect(Status::TEMPORARY_REDIRECT, &(clean + &query))
}

impl App for Service {
    type Plan = Plan;

    fn plan(&self, message: &mut Message) -> Plan {
        let head = message.head.clone();
        // whoever asks for a tunnel names a host alone
        let path = match head.path() {
            "" if head.method == Method::CONNECT => "/",
            path => path,
        };
        let options = &self.state.options;
        let is_served = |route: &Route| {
            route.is_served(options) && (!head.peer.is_diagnostic || is_for_diagnosis(route))
        };
        if path == "*" && head.method == "OPTIONS" {
            return Plan::Server;
        }
        if clean(path) != Cleaned::Same {
            return Plan::Unclean;
        }
        let closed = path.strip_suffix('/').filter(|closed| !closed.is_empty());
        if let Some(route) = closed.and_then(route).filter(|route| is_served(route)) {
            return if head.method == "HEAD" {
                Plan::OtherMethod(route)
            } else {
                Plan::Open
            };
        }
        let Some(route) = route(path).filter(|route| is_served(route)) else {
            return Plan::Nothing;
        };
        let method = head.method.as_str();
        let Some(action) = route.served(options).find(|action| action.method == method) else {
            return Plan::OtherMethod(route);
        };
        message.routed = route.path.len();
        Plan::Answered(action)
    }

    fn admit(
        &self,
        plan: &Plan,
        message: &mut Message,
        place: Place<'_>,
    ) -> Result<Admission, Longer> {
        let options = &self.state.options;
        let live = self.state.live.load();
        let limits = BodyLimits::new(live.body, live.unpacked);
        if options.authorization == Authorization::Off {
            return Ok(Admission::Admitted(limits));
        }
        let has_body = authorize::sees_body(*plan);
        match authorize::check_head(&self.state, &message.at(place), has_body) {
            Ok(HeadVerdict::Allowed) => {
                message.allowed = true;
                Ok(Admission::Admitted(limits))
            }
            Ok(HeadVerdict::NeedsBody) => Ok(Admission::Admitted(
                limits.for_authorization(&options.bounds),
            )),
            Err(error) => {
                let response = self.finished(message, place, Err(error))?;
                self.received(message);
                Ok(Admission::Rejected(response))
            }
        }
    }

    fn reads_body(&self, plan: &Plan) -> bool {
        matches!(plan, Plan::Answered(action) if action.method != "GET" && action.method != "DELETE" && action.method != "HEAD")
    }

    fn writes(&self, plan: &Plan) -> bool {
        matches!(plan, Plan::Answered(action) if action.runs == Runs::Apart)
    }

    fn answer(
        &self,
        plan: &Plan,
        message: &mut Message,
        place: Place<'_>,
    ) -> Result<Response, Longer> {
        self.received(message);
        let answer = self.dispatch(*plan, message, place);
        self.finished(message, place, answer)
    }

    fn refuse(&self, refusal: &Refusal) -> Response {
        let refuse = |status, code, message: &str| ApiError::with_status(status, code, message);
        let live = self.state.live.load();
        let error = match refusal {
            Refusal::TooLarge(length) => {
                let size = length.map(|length| format!("{length} bytes "));
                ApiError::invalid(format!(
                    "request body too large: {}exceeds limit of {} bytes (server.decoding.max_length)",
                    size.unwrap_or_default(),
                    live.body
                ))
            }
            Refusal::UnpackedTooLarge => ApiError::invalid(format!(
                "request body too large: decompressed size exceeds limit of {} bytes \
                 (server.decoding.gzip.max_length)",
                live.unpacked
            )),
            Refusal::TooLargeToAuthorize(limit) => refuse(
                Status::PAYLOAD_TOO_LARGE,
                "request_too_large",
                &format!(
                    "request body too large: the authorization policy depends on `input.body`, which exceeds the limit of {limit} \
                     bytes (--max-authorization-body)"
                ),
            ),
            Refusal::NotPacked(words) => {
                ApiError::invalid(format!("could not decompress the body: {words}"))
            }
            Refusal::Slow => refuse(
                Status::REQUEST_TIMEOUT,
                "request_timeout",
                "the body did not come in time",
            ),
            Refusal::Broken => ApiError::invalid("the body is not what its head says"),
            Refusal::Host(words) => ApiError::invalid(*words),
            Refusal::ForeignHost(host) if host.is_empty() => refuse(
                Status::FORBIDDEN,
                "host_not_allowed",
                "the request names no host, which a server without authentication requires",
            ),
            Refusal::ForeignHost(host) => refuse(
                Status::FORBIDDEN,
                "host_not_allowed",
                &format!(
                    "host `{host}` is not allowed: a server without authentication accepts it only with --allowed-host"
                ),
            ),
            Refusal::ForeignOrigin(origin) => refuse(
                Status::FORBIDDEN,
                "host_not_allowed",
                &format!(
                    "origin `{origin}` is not allowed: a server without authentication accepts its host only with --allowed-host"
                ),
            ),
            Refusal::Expectation => refuse(
                Status::EXPECTATION_FAILED,
                "expectation_failed",
                "only `100-continue` can be expected",
            ),
            Refusal::TransferEncoding => refuse(
                Status::NOT_IMPLEMENTED,
                "not_implemented",
                "unsupported transfer encoding",
            ),
            Refusal::Busy => ApiError::busy(),
            Refusal::Late => ApiError::cancelled(),
            Refusal::Panicked => ApiError::internal("internal error: a panic"),
        };
        self.refusal(error)
    }

    fn abandoned(&self, head: &Head) {
        self.state.counts.cancelled(counted(head, GONE));
    }

    fn answered(&self, head: &Head, response: &Response, took: Duration) {
        let status = response.status.as_u16();
        self.state.counts.answered(counted(head, status), took);
        access_log::sent(self.state.options.request_log, head, response, took);
    }
}

/// What a request is counted as.
fn counted(head: &Head, code: u16) -> CountedRequest {
    CountedRequest {
        code,
        handler: super::routes::label(head.path()),
        method: method_label(head.method.as_str()),
    }
}

/// What a request is counted as that nobody waited for, as other servers say it.
const GONE: u16 = 499;

/// The label of a method; few are known, so that labels stay few.
fn method_label(method: &str) -> &'static str {
    match method {
        "GET" => "get",
        "POST" => "post",
        "PUT" => "put",
        "PATCH" => "patch",
        "DELETE" => "delete",
        "HEAD" => "head",
        "OPTIONS" => "options",
        _ => "unknown",
    }
}
