//! Processing of requests that is common to all applications.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Method;

use super::budget::{Budget, Reservation, SMALL};
use super::rejection::Rejection;
use super::request::{IncomingRequest, Peer, REQUEST_ID, RequestInfo, check_head};
use super::response::{Response, ResponseExt as _};
use super::stream::ConnectionState;
use super::streamed::{ResponseBody, StreamedBody};
use crate::config::Bounds;

/// An application that responds to requests.
pub trait App: Send + Sync + 'static {
    /// Responds to a request, whose body it reads with [`read_body`](super::read_body).
    fn respond(&self, request: IncomingRequest) -> impl Future<Output = Response> + Send;

    /// Returns the response to a request that the transport rejected before a handler.
    fn reject(&self, rejection: Rejection) -> Response;

    /// Records a request whose client went away before there was a response.
    fn abandoned(&self, _: &RequestInfo) {}

    fn responded(&self, request: &RequestInfo, response: &Response, took: Duration);
}

/// State that all connections share.
pub struct ConnectionService<A> {
    pub app: Arc<A>,
    pub budget: Budget,
    pub bounds: Arc<Bounds>,
    ids: AtomicU64,
}

/// State that the requests of a connection share.
pub struct Connection<A> {
    pub service: Arc<ConnectionService<A>>,
    pub peer: Arc<Peer>,
    pub state: Arc<ConnectionState>,
}

impl<A: App> ConnectionService<A> {
    /// Creates the service of an application.
    pub fn new(app: Arc<A>, budget: Budget, bounds: Arc<Bounds>) -> Self {
        Self {
            app,
            budget,
            bounds,
            ids: AtomicU64::new(0),
        }
    }
}

impl<A: App> Connection<A> {
    /// Responds to a request.
    ///
    /// # Errors
    /// Never fails.
    pub async fn respond(
        self: Arc<Self>,
        mut request: IncomingRequest,
    ) -> Result<http::Response<ResponseBody>, Infallible> {
        let open = self.state.start_request();
        let ConnectionService {
            app, bounds, ids, ..
        } = &*self.service;
        let id = ids.fetch_add(1, Ordering::Relaxed) + 1;
        let info = RequestInfo::from_parts(&mut request, id, self.peer.clone(), bounds.request);
        let mut guard = ResponseGuard {
            app: &**app,
            info: &info,
            is_answered: false,
        };
        let response = match self.check(&request) {
            Ok(()) => app.respond(request).await,
            // the start of the next request is unknown
            Err(rejection @ Rejection::TransferEncoding) => app.reject(rejection).closing(),
            Err(rejection) => app.reject(rejection),
        };
        guard.is_answered = true;
        let mut response = self.with_reservation(response);
        app.responded(&info, &response, info.received().elapsed());
        if let Some(name) = &info.name {
            response
                .headers_mut()
                .insert(REQUEST_ID.clone(), name.clone());
        }
        let streamed = response.extensions_mut().remove::<StreamedBody>();
        if let Some(body) = streamed.filter(|_| info.method != Method::HEAD) {
            return Ok(response.map(|_| ResponseBody::streamed(body, Some(open))));
        }
        drop(open);
        let response = response.to_method(&info.method);
        Ok(response.map(ResponseBody::in_memory))
    }

    fn check(&self, request: &IncomingRequest) -> Result<(), Rejection> {
        check_head(request.headers(), request.version())?;
        match &self.peer.hosts {
            Some(hosts) => {
                let Peer {
                    local,
                    accepted_host,
                    ..
                } = &*self.peer;
                let result = hosts.check(request.uri(), request.headers(), *local, accepted_host);
                result.map_err(Rejection::Foreign)
            }
            None => Ok(()),
        }
    }

    /// Reserves the body of a large response in the memory budget until it is sent. Rejects the request if the budget is exhausted.
    fn with_reservation(&self, response: Response) -> Response {
        if response.body().len() <= SMALL {
            return response;
        }
        let Ok(reservation) = self.service.budget.take(response.body().len()) else {
            return self.service.app.reject(Rejection::Busy);
        };
        response.map(|bytes| {
            Bytes::from_owner(ReservedBytes {
                bytes,
                _reservation: reservation,
            })
        })
    }
}

/// A body with its memory reservation.
struct ReservedBytes {
    bytes: Bytes,
    _reservation: Reservation,
}

impl AsRef<[u8]> for ReservedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Guard that lives while the client waits for a response. Its drop cancels evaluations.
struct ResponseGuard<'a, A: App> {
    app: &'a A,
    info: &'a RequestInfo,
    is_answered: bool,
}

impl<A: App> Drop for ResponseGuard<'_, A> {
    fn drop(&mut self) {
        self.info.cancel.cancel();
        if !self.is_answered {
            self.app.abandoned(self.info);
        }
    }
}
