//! `GET /`: a page for people.

use super::ApiError;
use super::provenance::VERSION;
use super::state::State;
use crate::http::{Request, Response, Status};

/// Says who answers here.
#[expect(clippy::unnecessary_wraps, reason = "every handler answers a result")]
pub fn page(_: &State, _: &Request<'_>) -> Result<Response, ApiError> {
    let page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><title>Solon</title></head>\n<body>\n<h1>Solon</h1>\n\
         <p>A policy engine.</p>\nVersion: {VERSION}<br>\n</body>\n</html>\n"
    );
    Ok(Response::text(Status::OK, "text/html; charset=utf-8", page))
}
