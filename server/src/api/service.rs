//! Processing of a request: classification by its head, authorization, reading of the body, and the call of its handler on a
//! suitable thread.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::access_log;
use super::authorize::{self, HeadVerdict};
use super::call::Call;
use super::plan::{Plan, begin_span};
use super::routes::{Route, Runs, labels_of};
use super::{ApiError, State};
use crate::config::Authorization;
use crate::execution::{ExecContext, Executor, LatencyEstimate, Longer, NotRun};
use crate::http::header::{ACCEPT_ENCODING, ALLOW, CONTENT_ENCODING};
use crate::http::{
    App, BodyLimits, Budget, BufferedRequest, Cleaned, HttpBody as _, IncomingRequest, Method,
    ParsedBody, Rejection, RequestExt as _, RequestInfo, Reservation, Response, ResponseExt as _,
    SMALL, Status, accepts_gzip, clean, compress, decompress, parsed_size, read_body, response,
};
use crate::telemetry::is_traced;

/// Responds to requests by the routing table.
pub struct RoutingService {
    api: Arc<Api>,
    executor: Arc<Executor>,
    budget: Budget,
}

/// The part of the service that other threads need.
struct Api {
    state: Arc<State>,
}

/// A request before its handler is called.
struct Job {
    plan: Plan,
    request: BufferedRequest,
    /// `true` if the authorization policy allows it.
    is_allowed: bool,
    is_logged: bool,
    /// The part of the memory budget that its body takes.
    reservation: Reservation,
}

impl RoutingService {
    /// Creates a service that evaluates in `executor`, within a memory budget.
    pub fn new(state: Arc<State>, executor: Arc<Executor>, budget: Budget) -> Self {
        Self {
            api: Arc::new(Api { state }),
            executor,
            budget,
        }
    }

    pub fn state(&self) -> &State {
        &self.api.state
    }

    async fn answer(&self, request: IncomingRequest) -> Result<Response, Response> {
        let api = &self.api;
        let (head, body) = request.into_parts();
        let request = BufferedRequest::from_parts(head, Bytes::new());
        let plan = Plan::of_request(&api.state.options, &request);
        let mut job = Job {
            plan,
            request,
            is_allowed: false,
            is_logged: false,
            reservation: self.budget.none(),
        };
        let mut limits = api.body_limits();
        let reject = |error: NotRun| api.reject(error.into());
        let has_body = !body.is_end_stream();
        // the writer makes one change at a time, so an authorization policy must not wait there for `http.send`
        if has_body || plan.writes() {
            let rejected = |response: Response| {
                // the rest of a body is not read to find the next request
                if has_body {
                    response.closing()
                } else {
                    response
                }
            };
            let admitted = Executor::run_here(|context| api.admit(&mut job, limits, context));
            limits = match admitted.map_err(reject).map_err(rejected)? {
                Ok(admitted) => admitted.map_err(rejected)?,
                Err(Longer(estimate)) => {
                    let admitted = Box::pin(self.admit_in_pool(job, limits, estimate)).await;
                    let (admitted, limits) = admitted.map_err(rejected)?;
                    job = admitted;
                    limits
                }
            };
        }
        if has_body {
            let closing = |rejection| api.reject(rejection).closing();
            limits.check(&body).map_err(closing)?;
            if plan.reads_body() {
                let timeout = api.state.options.bounds.more_within;
                let body_result = read_body(body, limits, timeout, &mut job.reservation).await;
                *job.request.body_mut() = body_result.map_err(closing)?;
            }
        }
        // an empty body is not valid gzip
        let is_compressed = plan.reads_body() && job.request.is_compressed();
        let has_body = !job.request.body().is_empty();
        let is_heavy =
            job.request.body().len() > SMALL || is_compressed || has_body && job.request.is_yaml();
        let mut estimate = None;
        if !is_heavy {
            match Executor::run_here(|context| api.run(&mut job, context)).map_err(reject)? {
                Ok(response) if response.body().len() <= SMALL => {
                    return Ok(api.compress_response(&job.request, response));
                }
                Ok(response) => {
                    let api = api.clone();
                    let work =
                        move |_: ExecContext<'_>| api.compress_response(&job.request, response);
                    let compressed = Box::pin(self.executor.run(None, None, work)).await;
                    return compressed.map_err(reject);
                }
                Err(Longer(known_estimate)) => estimate = known_estimate,
            }
        }
        let api = api.clone();
        let deadline = job.request.info().deadline;
        let limits = is_compressed.then_some(limits);
        let work = move |context: ExecContext<'_>| api.run_elsewhere(&mut job, context, limits);
        let result = if plan.writes() {
            Box::pin(self.executor.write(work)).await
        } else {
            Box::pin(self.executor.run(estimate, deadline, work)).await
        };
        result.map_err(reject)
    }

    /// Authorizes a request whose body is unread, in the pool.
    ///
    /// # Errors
    /// Returns the response to a rejected request.
    async fn admit_in_pool(
        &self,
        mut job: Job,
        limits: BodyLimits,
        estimate: Option<Arc<LatencyEstimate>>,
    ) -> Result<(Job, BodyLimits), Response> {
        let api = self.api.clone();
        let deadline = job.request.info().deadline;
        let work = move |context: ExecContext<'_>| {
            let admitted = if job.request.info().is_late() {
                Err(api.reject(Rejection::Late))
            } else {
                match api.admit(&mut job, limits, context) {
                    Ok(admitted) => admitted,
                    // the pool is the last alternative
                    Err(Longer(_)) => Err(api.reject(Rejection::Panicked)),
                }
            };
            (job, admitted)
        };
        let result = self.executor.run(estimate, deadline, work).await;
        let (job, admitted) = result.map_err(|error| self.api.reject(error.into()))?;
        admitted.map(|limits| (job, limits))
    }
}

impl Api {
    fn body_limits(&self) -> BodyLimits {
        let live = self.state.live.load();
        BodyLimits::new(live.body, live.unpacked)
    }

    /// Authorizes a request before any of its body is read, and returns the limits of the body.
    fn admit(
        &self,
        job: &mut Job,
        limits: BodyLimits,
        context: ExecContext<'_>,
    ) -> Result<Result<BodyLimits, Response>, Longer> {
        if self.state.options.authorization == Authorization::Off {
            return Ok(Ok(limits));
        }
        let sees_body = authorize::sees_body(job.plan);
        match authorize::check_head(&self.state, &Call::new(&job.request, context), sees_body) {
            Ok(HeadVerdict::Allowed) => {
                job.is_allowed = true;
                Ok(Ok(limits))
            }
            Ok(HeadVerdict::NeedsBody) => {
                Ok(Ok(limits.for_authorization(&self.state.options.bounds)))
            }
            Err(error) => {
                let response = self.finish(&job.request, context, Err(error))?;
                self.log_received(job);
                Ok(Err(response))
            }
        }
    }

    /// Runs a handler on a thread that may block, and compresses the response.
    fn run_elsewhere(
        &self,
        job: &mut Job,
        context: ExecContext<'_>,
        compressed: Option<BodyLimits>,
    ) -> Response {
        if job.request.info().is_late() {
            return self.reject(Rejection::Late);
        }
        if job.request.info().cancel.is_cancelled() {
            return self.reject(Rejection::Broken);
        }
        if let Some(limits) = compressed {
            match decompress(job.request.body(), limits, &mut job.reservation) {
                Ok(body) => *job.request.body_mut() = body,
                Err(rejection) => return self.reject(rejection).varying(),
            }
        }
        let parsed = parsed_size(job.request.body().len());
        if job.reservation.add(parsed).is_err() {
            return self.reject(Rejection::Busy);
        }
        let response = self.run(job, context);
        job.reservation.give_back(parsed);
        match response {
            Ok(response) => self.compress_response(&job.request, response),
            // the pool is the last alternative
            Err(Longer(_)) => self.reject(Rejection::Panicked),
        }
    }

    /// Runs the handler of an authorized request.
    fn run(&self, job: &mut Job, context: ExecContext<'_>) -> Result<Response, Longer> {
        self.log_received(job);
        let response = self
            .authorize(job, context)
            .and_then(|()| self.handle(job, context));
        self.finish(&job.request, context, response)
    }

    fn authorize(&self, job: &mut Job, context: ExecContext<'_>) -> Result<(), ApiError> {
        if !job.is_allowed && self.state.options.authorization == Authorization::Basic {
            let has_body = !job.request.body().is_empty();
            let is_unread = job.request.parsed_body().is_none();
            if is_unread
                && has_body
                && authorize::sees_body(job.plan)
                && let Some(body) = authorize::read(&Call::new(&job.request, context))?
            {
                job.request.extensions_mut().insert(ParsedBody(body));
            }
            authorize::check(&self.state, &Call::new(&job.request, context))?;
        }
        job.is_allowed = true;
        Ok(())
    }

    fn handle(&self, job: &Job, context: ExecContext<'_>) -> Result<Response, ApiError> {
        let call = Call::new(&job.request, context);
        let path = call.path();
        match job.plan {
            Plan::Answered(action) if action.runs != Runs::Anywhere && context.is_reactor() => {
                Err(ApiError::Elsewhere(None))
            }
            Plan::Answered(action) => (action.handler)(&self.state, &call),
            Plan::OtherMethod(route) => Ok(self.other_method(route, &job.request)),
            Plan::Unclean => {
                let clean = match clean(path) {
                    Cleaned::To(clean) => clean,
                    Cleaned::Same => path.to_owned(),
                };
                let query = call.uri().query();
                let query = query.map(|query| format!("?{query}")).unwrap_or_default();
                let to = clean + &query;
                Ok(response::redirect(Status::TEMPORARY_REDIRECT, &to))
            }
            Plan::Open => {
                let closed = path.strip_suffix('/').unwrap_or(path);
                Ok(response::redirect(Status::MOVED_PERMANENTLY, closed))
            }
            Plan::Server => Ok(response::empty(Status::OK)),
            Plan::Nothing => Err(ApiError::not_found(format!("there is nothing at {path}"))),
        }
    }

    fn other_method(&self, route: &Route, request: &BufferedRequest) -> Response {
        let methods = route.served(&self.state.options);
        let methods: Vec<_> = methods.map(|action| action.method).collect();
        let message = format!("{} is no method of {}", request.method(), request.path());
        let error =
            ApiError::with_status(Status::METHOD_NOT_ALLOWED, "method_not_allowed", message);
        let response = error.response(self.state.options.spelling);
        if methods.is_empty() {
            return response;
        }
        response.with(ALLOW, &methods.join(", "))
    }

    /// Logs a request, once.
    fn log_received(&self, job: &mut Job) {
        if !job.is_logged {
            job.is_logged = true;
            access_log::received(self.state.options.request_log, &job.request);
        }
    }

    /// Turns the result of a handler into a response.
    fn finish(
        &self,
        request: &BufferedRequest,
        context: ExecContext<'_>,
        result: Result<Response, ApiError>,
    ) -> Result<Response, Longer> {
        if !context.is_reactor() {
            // an idle thread must not keep replaced documents alive
            solon::release_thread_snapshot();
        }
        let response = match result {
            Ok(response) => response,
            Err(ApiError::Elsewhere(estimate)) => return Err(Longer(estimate)),
            Err(error) => error.response(self.state.options.spelling),
        };
        let is_read = matches!(*request.method(), Method::GET | Method::POST);
        let long = ["/v1/data", "/v0/data", "/v1/compile"];
        let is_long = is_read && long.iter().any(|long| request.path().starts_with(long));
        Ok(if is_long {
            response.varying()
        } else {
            response
        })
    }

    /// Compresses a response that is long enough, if the client accepts compression.
    fn compress_response(&self, request: &BufferedRequest, response: Response) -> Response {
        let live = self.state.live.load();
        let is_wanted = response.body().len() > live.packing.longer_than
            && !response.headers().contains_key(CONTENT_ENCODING)
            && accepts_gzip(request.header(ACCEPT_ENCODING));
        if is_wanted {
            return compress(response, live.packing.level);
        }
        response
    }

    fn reject(&self, rejection: Rejection) -> Response {
        ApiError::from(rejection).response(self.state.options.spelling)
    }
}

impl App for RoutingService {
    async fn respond(&self, mut request: IncomingRequest) -> Response {
        let is_head = request.method() == Method::HEAD;
        let span = is_traced()
            .then(|| begin_span(&self.api.state.options, &request))
            .flatten();
        if let Some(span) = &span {
            request.extensions_mut().insert(span.clone());
        }
        let response = self.answer(request).await;
        let response = response.unwrap_or_else(|rejected| rejected);
        if let Some(span) = span {
            let body_length = if is_head { 0 } else { response.body().len() };
            span.end(response.status().as_u16(), body_length);
        }
        response
    }

    fn reject(&self, rejection: Rejection) -> Response {
        self.api.reject(rejection)
    }

    fn abandoned(&self, request: &RequestInfo) {
        let counts = &self.api.state.counts;
        counts.cancelled(labels_of(request, GONE));
    }

    fn responded(&self, request: &RequestInfo, response: &Response, took: Duration) {
        let state = &self.api.state;
        let status = response.status().as_u16();
        state.counts.answered(labels_of(request, status), took);
        access_log::log_response(state.options.request_log, request, response, took);
    }
}

/// Status in metrics of a request whose client has gone, as in nginx.
const GONE: u16 = 499;
