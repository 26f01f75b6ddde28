//! Checks of Envoy that are sent to a document.
//!
//! A document is returned with 200 whatever its value is, and Envoy's `http_service` takes 200 for allowed. Such a check would
//! therefore allow every request.

use http::HeaderName;

use super::ApiError;
use super::call::Call;
use crate::http::RequestExt as _;

/// Header of a check that includes a part of the body.
static PARTIAL_BODY: HeaderName = HeaderName::from_static("x-envoy-auth-partial-body");
/// Header of requests that Envoy itself makes, and of requests of internal clients that it forwards.
static INTERNAL: HeaderName = HeaderName::from_static("x-envoy-internal");
/// Headers that Envoy adds to requests that it forwards.
const FORWARDED: [&str; 2] = ["x-request-id", "x-forwarded-proto"];

/// Rejects a request that is a check of Envoy: the status of a document would allow each request.
///
/// # Errors
/// 400: the request is a check.
pub fn reject(request: &Call<'_>) -> Result<(), ApiError> {
    let headers = request.headers();
    let is_forwarded = || FORWARDED.iter().any(|name| headers.contains_key(*name));
    let is_own = request.header(&INTERNAL) == "true" && !is_forwarded();
    if is_own || headers.contains_key(&PARTIAL_BODY) {
        return Err(ApiError::invalid(
            "a check of Envoy's `http_service` needs `plugins.envoy_ext_authz_grpc.http-addr`: a document is 200 whatever its value is, which allows each request",
        ));
    }
    Ok(())
}
