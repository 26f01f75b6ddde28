//! Extractors of axum: a handler is called only if the policy of the application's state allows the request.

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRef, FromRequestParts, RawPathParams};
use http::request::Parts;
use serde::de::DeserializeOwned;

use crate::policy::Policy;
use crate::rejection::Rejection;

/// Lets a request through only if the document of the state's [`Policy`] is exactly `true`.
///
/// ```
/// use axum::{Router, routing::get};
/// use solon_tower::{Allowed, Policy};
///
/// async fn show(_: Allowed) -> &'static str {
///     "a photo"
/// }
///
/// # fn routes(policy: Policy) -> Router {
/// Router::new().route("/photos/{photo}", get(show)).with_state(policy)
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Allowed(());

impl<S> FromRequestParts<S> for Allowed
where
    Policy: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Rejection> {
        let params = path_params(parts).await?;
        Policy::from_ref(state).check(parts, &params).await?;
        Ok(Self(()))
    }
}

/// Value of the document of the state's [`Policy`], for decisions with reasons. An undefined document is rejected, as
/// [`Rejection::Forbidden`]. Every other value, `false` included, lets the request through: the handler must check the value.
#[derive(Clone, Copy, Debug)]
pub struct Decision<T>(pub T);

impl<S, T> FromRequestParts<S> for Decision<T>
where
    Policy: FromRef<S>,
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Rejection> {
        let params = path_params(parts).await?;
        let value = Policy::from_ref(state).evaluate(parts, &params).await?;
        solon::from_value(&value)
            .map(Self)
            .map_err(Rejection::undecided)
    }
}

/// Returns the decoded path parameters of the route; none outside a route.
///
/// # Errors
/// [`Rejection::Malformed`] if a parameter is not UTF-8 once decoded: a policy must not decide without it.
pub(crate) async fn path_params(parts: &mut Parts) -> Result<Vec<(String, String)>, Rejection> {
    match RawPathParams::from_request_parts(parts, &()).await {
        Ok(params) => {
            let params = params.iter();
            Ok(params
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect())
        }
        Err(RawPathParamsRejection::MissingPathParams(_)) => Ok(Vec::new()),
        Err(_) => Err(Rejection::Malformed),
    }
}
