//! `/health` and the health rules of policies.

use serde::Serialize;
use solon::Value;
use solon::store::Path;

use super::ApiError;
use super::data::path;
use super::documents::Failure;
use super::state::State;
use crate::http::{Request, Response, Status, answer_text};

/// Where health rules live.
const PACKAGE: [&str; 2] = ["system", "health"];

#[derive(Serialize)]
struct Unhealthy<'a> {
    error: &'a str,
}

/// `GET /health`. Bundles and plugins that are not configured are no hindrance.
#[expect(clippy::unnecessary_wraps, reason = "every handler answers a result")]
pub fn server(_: &State, _: &Request<'_>) -> Result<Response, ApiError> {
    Ok(healthy())
}

/// `GET /health/{rule}`
pub fn rule(state: &State, request: &Request<'_>) -> Result<Response, ApiError> {
    let name = path(request)?;
    let path = Path::new(PACKAGE).join(&name);
    let input = Value::object(vec![
        ("plugin_state".into(), Value::object(Vec::new())),
        ("plugins_ready".into(), Value::Bool(true)),
    ]);
    let (document, _) = state.documents.get(state, request, &path)?;
    let asked = solon::Request::new().input(&input);
    let holds = document.evaluate(state, request, asked, |value| {
        matches!(value, solon::V::Bool(true))
    });
    let place = path.reference();
    let opa = state.options.spelling.is_opa();
    match holds {
        Ok(Some(true)) => Ok(healthy()),
        Ok(Some(false)) if opa => Ok(unhealthy(&format!(
            "health check ({place}) returned unexpected value"
        ))),
        Ok(Some(false)) => Ok(unhealthy(&format!("health policy was not true at {place}"))),
        Ok(None) if opa => Ok(unhealthy(&format!("health check ({place}) was undefined"))),
        Ok(None) => Ok(unhealthy(&format!(
            "health policy was undefined at {place}"
        ))),
        Err(Failure::Other(elsewhere @ ApiError::Elsewhere(_))) => Err(elsewhere),
        Err(_) => Ok(unhealthy("unable to perform evaluation")),
    }
}

fn healthy() -> Response {
    Response::json(Status::OK, b"{}\n".to_vec())
}

fn unhealthy(error: &str) -> Response {
    Response::json(
        Status::INTERNAL_SERVER_ERROR,
        answer_text(&Unhealthy { error }, false),
    )
}
