//! Processing of a request: authentication, routing and the transaction. Only this module maps errors to responses.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};

use super::answer::Answer;
use super::body::{Body, whole};
use super::metrics::Metrics;
use super::request::{ApiRequest, Params, RequestId, key};
use super::routes::{Route, route};
use super::{
    audit, builds, data, download, grants, items, openapi, page, preconditions, revisions,
    statuses, tokens, webhooks, write,
};
use crate::access::{Access, AccessRequest, Principal};
use crate::changes::{Actor, Changing};
use crate::db::{Database, Mode, Transaction};
use crate::error::{ApiError, ApiErrorKind};
use crate::model::{Compat, Kind};
use crate::secrets::{Keyring, ServiceKeys};
use crate::storage::ArtifactStore;

/// State that all requests share.
pub struct ServiceState {
    /// The database, which all instances share.
    pub database: Database,
    /// The archives of built bundles.
    pub artifacts: ArtifactStore,
    /// The keys that encrypt secrets.
    pub keyring: Arc<Keyring>,
    /// The keys that sign cursors and compute digests.
    pub keys: ServiceKeys,
    /// The authorization policy.
    pub access: Access,
    /// Decides whether unknown fields are rejected.
    pub compat: Compat,
    /// The prefix of each path: empty, or `/…` without a trailing slash.
    pub prefix: String,
    /// The metrics that `/metrics` returns.
    pub metrics: Metrics,
    /// `true` if the service accepts requests.
    pub is_ready: AtomicBool,
    /// Ids of tokens whose last use is being recorded.
    pub touching: parking_lot::Mutex<HashSet<i64>>,
    /// Number of requests without a request id.
    pub unnumbered: AtomicU64,
}

/// The API as a function from requests to responses. Clones share the state.
#[derive(Clone)]
pub struct Service {
    state: Arc<ServiceState>,
}

/// Decision about a request by its head, before its body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// The key is known: the body is read, up to `limit` bytes, and the request is handled.
    WithBody {
        /// Maximum size of a body of the route, in bytes.
        limit: usize,
    },
    /// The head alone determines the response: the request is handled without its body.
    WithoutBody,
}

/// Extension of a request that [`Service::admit`] has admitted. Its key is not looked up again before the transaction of a
/// write because the transaction looks it up itself.
#[derive(Clone, Copy, Debug)]
pub struct AdmittedKey;

/// The context of a handler. Each request has its own transaction.
pub struct Context<'c> {
    /// State that all requests share.
    pub state: &'c ServiceState,
    /// The caller, authenticated.
    pub principal: &'c Principal,
    pub request: &'c ApiRequest,
    pub transaction: &'c mut Transaction,
}

impl Context<'_> {
    /// Rejects an action that the caller may not perform.
    pub fn check(
        &self,
        access_request: AccessRequest,
        item: Option<&crate::db::ItemHead>,
    ) -> Result<(), ApiError> {
        self.state
            .access
            .check(self.principal, access_request, item)
    }

    /// Begins a change on behalf of the caller.
    pub fn changing(&mut self) -> Changing<'_> {
        Changing {
            transaction: self.transaction,
            actor: Actor::Principal(self.principal, &self.state.access),
            request: &self.request.id,
        }
    }
}

impl Service {
    /// Creates the API from the shared state.
    pub fn new(state: Arc<ServiceState>) -> Self {
        Self { state }
    }

    /// Decides by the head of a request whether to read the body: only if the key of the client is known.
    pub async fn admit<B>(&self, request: &Request<B>) -> Admitted {
        let route = self.route(request.uri().path());
        if matches!(route, Ok(Some(Route::Health))) {
            return Admitted::WithoutBody;
        }
        if let Ok(Some(Route::Webhook(_))) = route {
            let is_read = *request.method() == Method::POST;
            return if is_read && webhooks::has_signature(request.headers()) {
                Admitted::WithBody {
                    limit: crate::limits::WEBHOOK_BODY,
                }
            } else {
                Admitted::WithoutBody
            };
        }
        if let Ok(Some(Route::Page(page))) = &route {
            let is_read = page.methods().contains(&"POST") && *request.method() == Method::POST;
            return if is_read {
                Admitted::WithBody {
                    limit: crate::limits::FORM_BODY,
                }
            } else {
                Admitted::WithoutBody
            };
        }
        let Some(key) = key(request.headers()) else {
            return Admitted::WithoutBody;
        };
        // `handle` repeats these checks and reports their errors
        match (self.check_key(key).await, route) {
            (Ok(()), Ok(Some(route))) => Admitted::WithBody {
                limit: route.body_limit(),
            },
            _ => Admitted::WithoutBody,
        }
    }

    /// Returns the pattern of the route of a path, such as `/v1/bundles/{bundle}`, with the prefix.
    pub fn pattern(&self, path: &str) -> Option<String> {
        let route = self.route(path).ok().flatten()?;
        Some(format!("{}{}", self.state.prefix, route.pattern()))
    }

    /// Returns the route of a path. Paths outside of the prefix have none.
    fn route(&self, path: &str) -> Result<Option<Route>, ApiError> {
        let path = path.strip_prefix(self.state.prefix.as_str());
        let path = path.filter(|path| path.starts_with('/'));
        path.map_or(Ok(None), route)
    }

    /// Handles a request as [`Service::respond`] does, and reads archives into memory.
    pub async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        match whole(self.respond(request).await).await {
            Ok(response) => response,
            Err(rejection) => {
                rejection.log("");
                rejection.response().map(|body| match body {
                    Body::Whole(bytes) => bytes,
                    Body::Archive(_) => Bytes::new(),
                })
            }
        }
    }

    /// Ends the waiting of all downloads, now and in the future, because the service stops.
    pub fn end_waiting(&self) {
        self.state.artifacts.watch().close();
    }

    /// Handles a request. Errors are returned as responses.
    ///
    /// A response to a client that waits for a change of a bundle has the extension
    /// [`LongPoll`](crate::storage::LongPoll): the listener waits and handles the request again.
    pub async fn respond(&self, request: Request<Bytes>) -> Response<Body> {
        let start = Instant::now();
        let (head, body) = request.into_parts();
        let id = head.extensions.get::<RequestId>().map(|id| id.0.clone());
        let numbered = || {
            let number = self.state.unnumbered.fetch_add(1, Ordering::Relaxed) + 1;
            format!("{number:x}")
        };
        let RequestId(id) = RequestId::new(&id.unwrap_or_else(numbered));
        let method = head.method.clone();
        let is_known = head.extensions.get::<AdmittedKey>().is_some();
        let route = self.route(head.uri.path());
        let pattern = match &route {
            Ok(Some(route)) => Some(route.pattern()),
            _ => None,
        };
        let (params, route) = match Params::parse(head.uri.query().unwrap_or_default()) {
            Ok(params) => (params, route),
            Err(_) if matches!(route, Ok(Some(Route::Health))) => (Params::default(), route),
            // reported only to authenticated clients
            Err(rejection) => (Params::default(), Err(rejection)),
        };
        let is_pretty = params.flag("pretty");
        let api_request = ApiRequest {
            params,
            headers: head.headers,
            body,
            id: id.clone(),
        };
        let outcome = match &route {
            Ok(Some(Route::Page(ui_page))) => {
                Err(page::respond(&self.state, &head.method, ui_page, &api_request).await)
            }
            _ => Ok(self
                .answer(&head.method, route, &api_request, is_known)
                .await),
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(page) => return self.finish(page, &method, pattern, start),
        };
        let response = match outcome {
            Ok((response, None)) => response.response(is_pretty, false),
            Ok((response, Some(status))) => {
                let is_known = status == StatusCode::NOT_MODIFIED;
                let mut response = response.response(is_pretty, is_known);
                *response.status_mut() = status;
                response
            }
            Err(rejection) => {
                rejection.log(&id);
                rejection.response()
            }
        };
        self.finish(response, &method, pattern, start)
    }

    /// Counts a response, and removes its body for `HEAD`.
    fn finish(
        &self,
        mut response: Response<Body>,
        method: &Method,
        pattern: Option<String>,
        start: Instant,
    ) -> Response<Body> {
        if response.status() != StatusCode::UNAUTHORIZED
            && let Some(pattern) = pattern
        {
            let handler = format!("{}{pattern}", self.state.prefix);
            let status = response.status();
            self.state
                .metrics
                .observe(&handler, method.as_str(), status, start.elapsed());
        }
        if *method == Method::HEAD {
            let length = response.body().len();
            response
                .headers_mut()
                .insert(http::header::CONTENT_LENGTH, length.into());
            *response.body_mut() = Body::default();
        }
        response
    }

    async fn answer(
        &self,
        method: &Method,
        route: Result<Option<Route>, ApiError>,
        request: &ApiRequest,
        is_known: bool,
    ) -> Result<(Answer, Option<StatusCode>), ApiError> {
        if let Ok(Some(Route::Health)) = route {
            allowed(&Route::Health, method)?;
            return Ok(self.health().await);
        }
        if let Ok(Some(route @ Route::Webhook(source))) = &route {
            allowed(route, method)?;
            return Ok((webhooks::receive(&self.state, source, request).await?, None));
        }
        let key = key(&request.headers).ok_or_else(unknown)?;
        let reading = *method == Method::GET || *method == Method::HEAD;
        let route = route.and_then(|route| {
            let route = route.ok_or_else(ApiError::not_found)?;
            allowed(&route, method)?;
            Ok(route)
        });
        if reading {
            return self.read(route, request, key).await;
        }
        // bodies of unauthenticated clients are not parsed
        if !is_known {
            self.check_key(key).await?;
        }
        self.write(method, &route?, request, key).await
    }

    /// Returns an error if the key is unknown or expired. Uses a transaction of its own.
    async fn check_key(&self, key: &str) -> Result<(), ApiError> {
        let mut transaction = self.state.database.begin(Mode::Read).await?;
        let principal = self.principal(&mut transaction, key).await;
        transaction.roll_back().await;
        principal.map(|_| ())
    }

    async fn read(
        &self,
        route: Result<Route, ApiError>,
        request: &ApiRequest,
        key: &str,
    ) -> Result<(Answer, Option<StatusCode>), ApiError> {
        let mut transaction = self.state.database.begin(Mode::Read).await?;
        let principal = self.principal(&mut transaction, key).await;
        // unauthenticated clients receive no other errors.
        let principal_and_route = principal.and_then(|principal| Ok((principal, route?)));
        let (principal, route) = match principal_and_route {
            Ok(principal_and_route) => principal_and_route,
            Err(rejection) => {
                transaction.roll_back().await;
                return Err(rejection);
            }
        };
        let result = {
            let mut context = Context {
                state: &self.state,
                principal: &principal,
                request,
                transaction: &mut transaction,
            };
            read(&mut context, &route).await
        };
        transaction.roll_back().await;
        if principal.holder.is_stale() {
            self.touch(principal.holder.id);
        }
        let response = result?;
        let is_known = preconditions::is_not_modified(request, response.tag());
        Ok((response, is_known.then_some(StatusCode::NOT_MODIFIED)))
    }

    async fn write(
        &self,
        method: &Method,
        route: &Route,
        request: &ApiRequest,
        key: &str,
    ) -> Result<(Answer, Option<StatusCode>), ApiError> {
        let change = write::Change::read(route, method, request, self.state.compat);
        let mut transaction = self.state.database.begin(Mode::Write).await?;
        // the token may have been revoked while the write waited for others.
        let result = match self.principal(&mut transaction, key).await {
            Ok(principal) => {
                let mut context = Context {
                    state: &self.state,
                    principal: &principal,
                    request,
                    transaction: &mut transaction,
                };
                let result = write::make(&mut context, route, method, change).await;
                if result.is_ok() && principal.holder.is_stale() {
                    transaction.touch_token(principal.holder.id).await?;
                }
                result
            }
            Err(rejection) => Err(rejection),
        };
        let response = transaction.settle(result).await?;
        if matches!(route, Route::Rollback(_)) {
            self.state.artifacts.watch().poke();
        }
        Ok((response, None))
    }

    async fn health(&self) -> (Answer, Option<StatusCode>) {
        let unready = |message: &str| {
            let response = Answer::json(&serde_json::json!({ "error": message }));
            (response, Some(StatusCode::INTERNAL_SERVER_ERROR))
        };
        if !self.state.is_ready.load(Ordering::Acquire) {
            return unready("not ready");
        }
        match self.state.database.begin(Mode::Read).await {
            Ok(mut transaction) => {
                let is_answering = transaction.setting("service_keys").await.is_ok();
                transaction.roll_back().await;
                if is_answering {
                    (Answer::done(), None)
                } else {
                    unready("the database does not answer")
                }
            }
            Err(_) => unready("the database cannot be reached"),
        }
    }

    async fn principal(
        &self,
        transaction: &mut Transaction,
        key: &str,
    ) -> Result<Principal, ApiError> {
        let digest = self.state.keys.digest(key);
        let holder = transaction.holder(&digest).await?;
        let holder = holder
            .filter(|holder| holder.is_valid())
            .ok_or_else(unknown)?;
        let grants = transaction.grants_of(holder.id).await?;
        Ok(Principal { holder, grants })
    }

    /// Records the use of a key in a background task, with at most one task for each key.
    fn touch(&self, id: i64) {
        if !self.state.touching.lock().insert(id) {
            return;
        }
        let state = self.state.clone();
        tokio::spawn(async move {
            let touch = async {
                let mut transaction = state.database.begin(Mode::Write).await?;
                transaction.touch_token(id).await?;
                transaction.commit().await
            };
            if let Err(error) = touch.await {
                tracing::warn!(%error, "it was not noted that a key was used");
            }
            state.touching.lock().remove(&id);
        });
    }
}

fn unknown() -> ApiError {
    ApiError::new(ApiErrorKind::Unknown, "Unauthorized")
}

/// Rejects a method that a route does not support. The message lists the supported ones.
fn allowed(route: &Route, method: &Method) -> Result<(), ApiError> {
    if route.methods().contains(&method.as_str()) {
        return Ok(());
    }
    Err(ApiError::new(
        ApiErrorKind::Method,
        route.methods().join(", "),
    ))
}

async fn read(context: &mut Context<'_>, route: &Route) -> Result<Answer, ApiError> {
    match route {
        Route::List(Kind::Token) => tokens::list(context).await,
        Route::List(kind) => items::list(context, *kind).await,
        Route::Item(Kind::Token, name) => tokens::get(context, name).await,
        Route::Item(kind, name) => items::get(context, *kind, name).await,
        Route::Statuses(bundle) => statuses::list(context, bundle).await,
        Route::LatestStatus(bundle) => statuses::latest(context, bundle).await,
        Route::Download(bundle) => download::get(context, bundle).await,
        Route::Revisions(bundle) => revisions::list(context, bundle).await,
        Route::Builds(bundle) => builds::list(context, bundle).await,
        Route::BuildRequest(bundle, id) => builds::get(context, bundle, id).await,
        Route::Data(source, path) => data::get(context, source, path).await,
        Route::Grants(kind, name) => grants::list(context, *kind, name).await,
        Route::Grant(kind, name, token) => grants::get(context, *kind, name, token).await,
        Route::Audit => audit::list(context).await,
        Route::Metrics => {
            context.check(AccessRequest::ViewMetrics, None)?;
            let text = context.state.metrics.text()?;
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            Ok(Answer::plain(kind, text))
        }
        Route::OpenApi => Ok(Answer::text(openapi::text())),
        Route::Rotate(_)
        | Route::Rollback(_)
        | Route::Build(_)
        | Route::Webhook(_)
        | Route::Page(_)
        | Route::Health => Err(ApiError::not_found()),
    }
}
