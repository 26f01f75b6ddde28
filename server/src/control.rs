//! HTTP server of the control plane, with the same listeners, limits and TLS as the policy server.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use solon_control::ControlPlane;
use solon_control::api::{Admitted, AdmittedKey, Body, RequestId, Service};
use solon_control::storage::{ArchiveReader, LongPoll};
use solon_control::trace::TraceContext;
use tokio::sync::Semaphore;
use tracing::info;

use crate::config::{Bounds, TlsOptions};
use crate::http::header::RETRY_AFTER;
use crate::http::{
    self, App, BodyLimits, Budget, BudgetExceeded, BufferedRequest, HttpBody as _, IncomingRequest,
    Rejection, RequestExt as _, RequestInfo, Response, ResponseExt as _, Serving, StreamedBody,
    decompress, parsed_size, read_body, response, serve, span_facts,
};
use crate::net::{Listener, TlsState};
use crate::telemetry::{RequestSpan, is_traced};

/// Maximum number of concurrent requests. They wait for their database most of the time.
const AT_ONCE: usize = 64;

/// Listener options of the control plane.
pub struct ControlOptions {
    /// Addresses, as [`Server`](crate::Server) takes them.
    pub addresses: Vec<String>,
    /// File mode of Unix sockets.
    pub socket_mode: u32,
    /// `true` if HTTP/2 without TLS is supported.
    pub h2c: bool,
    pub tls: Option<TlsOptions>,
    /// Time limit of open requests at shutdown.
    pub grace: Duration,
}

/// Serves a control plane until `stop` completes.
///
/// # Errors
/// Fails if an address cannot be opened, or TLS cannot be configured.
pub async fn serve_control(
    plane: &ControlPlane,
    options: &ControlOptions,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let tls = TlsState::shared(options.tls.as_ref())?;
    let (addresses, mode) = (&options.addresses, options.socket_mode);
    let listeners = Listener::open_all(addresses, mode, tls.is_some()).await?;
    let addresses: Vec<String> = listeners.iter().map(Listener::address).collect();
    info!(addrs = addresses.join(", "), "Control plane initialized.");
    let bounds = Arc::new(Bounds::default());
    let budget = Budget::new(bounds.memory);
    let app = Arc::new(ControlApp {
        service: plane.service(),
        bounds: bounds.clone(),
        budget: budget.clone(),
        permits: Semaphore::new(AT_ONCE),
        open: AtomicUsize::new(0),
    });
    let reloading = tls.clone().map(|tls| tokio::spawn(tls.keep_fresh()));
    let serving = Serving {
        service: Arc::new(http::ConnectionService::new(app, budget, bounds)),
        h2c: options.h2c,
        grace: options.grace,
        tls,
    };
    let service = plane.service();
    let stop = async {
        stop.await;
        // waiting downloads would use up the grace period
        service.end_waiting();
    };
    serve(listeners, serving, stop).await;
    if let Some(task) = reloading {
        task.abort();
    }
    info!("Control plane shutdown.");
    Ok(())
}

/// The control plane's API as an application of the HTTP layer.
struct ControlApp {
    service: Service,
    bounds: Arc<Bounds>,
    budget: Budget,
    permits: Semaphore,
    /// Number of requests that are handled or wait for a permit.
    open: AtomicUsize,
}

/// A request that is handled or waits for a permit.
struct InFlightRequest<'a>(&'a AtomicUsize);

impl Drop for InFlightRequest<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ControlApp {
    /// Responds to a request. A download that waits for a change does so without a permit and without a connection to the
    /// database. Then the request is handled again, so that a key that was revoked in the meantime is rejected.
    async fn answer(&self, request: IncomingRequest) -> Result<Response, Rejection> {
        let mut deadline = request.info().deadline;
        if !request.body().is_end_stream() || request.headers().get("prefer").is_none() {
            return self.answer_once(request).await;
        }
        let (head, body) = request.into_parts();
        let retry = BufferedRequest::from_parts(head.clone(), Bytes::new());
        let mut response = self
            .answer_once(IncomingRequest::from_parts(head, body))
            .await?;
        let start = Instant::now();
        while let Some(long_poll) = response.extensions_mut().remove::<LongPoll>() {
            let wait_start = Instant::now();
            let remaining = long_poll.within().saturating_sub(start.elapsed());
            let is_changed = long_poll.changed(remaining).await;
            // the time limit is for handling the request, not for waiting
            deadline = deadline.and_then(|deadline| deadline.checked_add(wait_start.elapsed()));
            response = self.permitted(retry.clone(), deadline).await?;
            if !is_changed {
                return Ok(response);
            }
        }
        Ok(response)
    }

    /// Handles a request without a body when there is a permit.
    async fn permitted(
        &self,
        mut request: BufferedRequest,
        deadline: Option<Instant>,
    ) -> Result<Response, Rejection> {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        let _open = InFlightRequest(&self.open);
        if before >= AT_ONCE + self.bounds.waiting {
            return Err(Rejection::Busy);
        }
        // the semaphore is never closed
        let _permit = self.permits.acquire().await;
        identify(request.extensions_mut());
        self.handle(request, deadline).await
    }

    async fn answer_once(&self, request: IncomingRequest) -> Result<Response, Rejection> {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        let _open = InFlightRequest(&self.open);
        if before >= AT_ONCE + self.bounds.waiting {
            return Err(Rejection::Busy);
        }
        // the semaphore is never closed
        let _permit = self.permits.acquire().await;
        let deadline = request.info().deadline;
        let (mut head, body) = request.into_parts();
        identify(&mut head.extensions);
        let mut request = BufferedRequest::from_parts(head, Bytes::new());
        if body.is_end_stream() {
            return self.handle(request, deadline).await;
        }
        // the rest of the body is not read to find the next request
        let admitted = with_deadline(deadline, self.service.admit(&request)).await?;
        let Admitted::WithBody { limit } = admitted else {
            return Ok(self.handle(request, deadline).await?.closing());
        };
        let limits = BodyLimits::new(self.bounds.body, self.bounds.unpacked).at_most(limit);
        let mut reservation = self.budget.none();
        let body_result = match limits.check(&body) {
            Ok(()) => read_body(body, limits, self.bounds.more_within, &mut reservation).await,
            Err(rejection) => Err(rejection),
        };
        match body_result {
            Ok(body) => *request.body_mut() = body,
            Err(rejection) => return Ok(self.reject(rejection).closing()),
        }
        if request.is_compressed() {
            let body = request.body().clone();
            let work = tokio::task::spawn_blocking(move || {
                let body = decompress(&body, limits, &mut reservation);
                body.map(|body| (body, reservation))
            });
            let result = work.await.map_err(|_| Rejection::Panicked)?;
            (*request.body_mut(), reservation) = result?;
        }
        reservation
            .add(parsed_size(request.body().len()))
            .map_err(|BudgetExceeded| Rejection::Busy)?;
        request.extensions_mut().insert(AdmittedKey);
        self.handle(request, deadline).await
    }

    /// Begins the span of a request. As in the policy server, requests for metrics and paths without a route are not traced.
    fn begin_span(&self, request: &IncomingRequest) -> Option<RequestSpan> {
        if !is_traced() {
            return None;
        }
        let path = request.uri().path();
        let pattern = self.service.pattern(path)?;
        if pattern.ends_with("/metrics") {
            return None;
        }
        RequestSpan::begin(path, || span_facts(request, pattern))
    }

    /// Handles a request to its end, even if the client disconnects, or until its time limit passes. What the request changes is
    /// built in its trace.
    async fn handle(
        &self,
        request: BufferedRequest,
        deadline: Option<Instant>,
    ) -> Result<Response, Rejection> {
        let service = self.service.clone();
        let context = TraceContext {
            tracer: None,
            parent: request.span().map(RequestSpan::trace_parent),
        };
        let handled =
            async move { with_deadline(deadline, context.scope(service.respond(request))).await };
        let handled = tokio::spawn(handled).await;
        let handled = handled.unwrap_or(Err(Rejection::Panicked))?;
        let (head, body) = handled.into_parts();
        let bytes = match body {
            Body::Whole(bytes) => bytes,
            Body::Archive(reader) => {
                let mut response = Response::from_parts(head, Bytes::new());
                response.extensions_mut().insert(stream_archive(reader));
                return Ok(response);
            }
        };
        Ok(Response::from_parts(head, bytes))
    }
}

/// Adds the id of a request for logs.
fn identify(extensions: &mut ::http::Extensions) {
    if let Some(info) = extensions.get::<Arc<RequestInfo>>() {
        let id = RequestId(name(info));
        extensions.insert(id);
    }
}

/// Sends an archive while it is read. An error of reading aborts the response.
fn stream_archive(mut reader: ArchiveReader) -> StreamedBody {
    let (pieces, body) = StreamedBody::new(reader.remaining());
    tokio::spawn(async move {
        loop {
            let piece = match reader.next().await {
                Ok(Some(piece)) => Ok(piece),
                Ok(None) => return,
                Err(error) => {
                    tracing::error!(%error, "a download was aborted");
                    Err(io::Error::other(error))
                }
            };
            let is_last = piece.is_err();
            if pieces.send(piece).await.is_err() || is_last {
                return;
            }
        }
    });
    body
}

/// Waits for work until a deadline.
async fn with_deadline<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = T>,
) -> Result<T, Rejection> {
    match deadline {
        Some(deadline) => {
            let result = tokio::time::timeout_at(deadline.into(), work).await;
            result.map_err(|_| Rejection::Late)
        }
        None => Ok(work.await),
    }
}

impl App for ControlApp {
    async fn respond(&self, mut request: IncomingRequest) -> Response {
        let span = self.begin_span(&request);
        if let Some(span) = &span {
            request.extensions_mut().insert(span.clone());
        }
        let response = self.answer(request).await;
        let response = response.unwrap_or_else(|rejection| self.reject(rejection));
        if let Some(span) = span {
            span.end(response.status().as_u16(), response.body().len());
        }
        response
    }

    fn reject(&self, rejection: Rejection) -> Response {
        let (status, code, message) = rejection.describe();
        let body = serde_json::json!({"code": code, "message": message});
        let response = response::json(status, format!("{body}\n").into_bytes());
        if rejection == Rejection::Busy {
            response.with_static(RETRY_AFTER, "1")
        } else {
            response
        }
    }

    /// Logs a response like the policy server. Bodies contain secrets and keys, so they are not logged at any level.
    fn responded(&self, request: &RequestInfo, response: &Response, took: Duration) {
        info!(
            client_addr = &*request.peer.address,
            request = name(request),
            req_method = request.method.as_str(),
            req_path = request.path(),
            resp_bytes = response
                .extensions()
                .get::<StreamedBody>()
                .map_or(response.body().len() as u64, StreamedBody::len),
            resp_duration = took.as_secs_f64() * 1e3,
            resp_status = response.status().as_u16(),
            "Sent response."
        );
    }
}

/// Returns the id of a request in log lines: the id that its client sent, or its number.
fn name(request: &RequestInfo) -> String {
    let name = request.given_name();
    name.map_or_else(
        || format!("{:x}", request.id),
        |name| RequestId::new(name).0,
    )
}
