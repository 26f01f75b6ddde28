//! `GET /v1/status`.

use super::ApiError;
use super::state::State;
use crate::http::{Request, Response};

/// `GET /v1/status`, which only a status plugin could answer.
pub fn get(_: &State, _: &Request<'_>) -> Result<Response, ApiError> {
    Err(ApiError::internal("status plugin not enabled"))
}
