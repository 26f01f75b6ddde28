//! A layer that lets requests through only if a policy allows them.

use std::pin::Pin;
use std::task::{Context, Poll};

use http::request::Parts;
use http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;

use crate::policy::Policy;
use crate::rejection::Rejection;

/// Layer that calls the service only for requests that a policy allows. Others get the response of a
/// [`Rejection`].
///
/// With the feature `axum`, a layer on a route (`MethodRouter::layer`, `Router::route_layer`) has the parameters of the path in
/// its input.
#[derive(Clone, Debug)]
pub struct PolicyLayer {
    policy: Policy,
}

impl PolicyLayer {
    /// Creates a layer. Each request is decided by `policy` before the service sees it.
    pub fn new(policy: Policy) -> Self {
        Self { policy }
    }
}

impl<S> Layer<S> for PolicyLayer {
    type Service = PolicyService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        PolicyService {
            inner,
            policy: self.policy.clone(),
        }
    }
}

/// Service of a [`PolicyLayer`].
#[derive(Clone, Debug)]
pub struct PolicyService<S> {
    inner: S,
    policy: Policy,
}

impl<S, In, Out> Service<Request<In>> for PolicyService<S>
where
    S: Service<Request<In>, Response = Response<Out>> + Clone + Send + 'static,
    S::Future: Send,
    In: Send + 'static,
    Out: From<&'static str>,
{
    type Response = Response<Out>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<In>) -> Self::Future {
        // the instance that is ready serves the request
        let ready = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, ready);
        let policy = self.policy.clone();
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            let decided = match path_params(&mut parts).await {
                Ok(params) => policy.check(&parts, &params).await,
                Err(rejection) => Err(rejection),
            };
            match decided {
                Ok(()) => inner.call(Request::from_parts(parts, body)).await,
                Err(rejection) => Ok(rejection.response()),
            }
        })
    }
}

/// Returns the path parameters of the route, decoded.
#[cfg(feature = "axum")]
async fn path_params(parts: &mut Parts) -> Result<Vec<(String, String)>, Rejection> {
    crate::extract::path_params(parts).await
}

/// Returns nothing: only axum knows routes.
#[cfg(not(feature = "axum"))]
async fn path_params(_: &mut Parts) -> Result<Vec<(String, String)>, Rejection> {
    Ok(Vec::new())
}
