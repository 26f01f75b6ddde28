//! `/health` and the health rules of policies.

use serde::Serialize;
use solon::Value;
use solon::store::Path;

use super::ApiError;
use super::call::Call;
use super::data::path;
use super::documents::EvaluationFailure;
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, response};
use crate::json::answer_text;

const PACKAGE: [&str; 2] = ["system", "health"];

/// Message if no decision can be made.
const NO_EVALUATION: &str = "unable to perform evaluation";

#[derive(Serialize)]
struct Unhealthy<'a> {
    error: &'a str,
}

/// `GET /health`: checks that decisions can be made, and with `bundles` and `plugins` that those are ready.
#[expect(clippy::unnecessary_wraps, reason = "every handler answers a result")]
pub fn server(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let opa = state.options.spelling.is_opa();
    if !state.can_evaluate() {
        return Ok(unhealthy(NO_EVALUATION));
    }
    let params = &request.params();
    if params.flag("bundles") || params.flag("bundle") {
        let inactive = state.plugins.inactive_bundles();
        if !inactive.is_empty() || !state.plugins.has_bundles() || !state.plugins.is_discovered() {
            return Ok(if opa && inactive.is_empty() {
                unhealthy("one or more bundles are not activated")
            } else if opa {
                let names = inactive.join(", ");
                unhealthy(&format!("one or more bundles are not activated: {names}"))
            } else {
                unhealthy("not all configured bundles have been activated")
            });
        }
    }
    let excluded: Vec<&str> = params.all("exclude-plugin").collect();
    if params.flag("plugins") && !state.plugins.unwell(&excluded).is_empty() {
        return Ok(unhealthy(if opa {
            "one or more plugins are not up"
        } else {
            "not all plugins in OK state"
        }));
    }
    Ok(healthy())
}

/// `GET /health/{rule}`
pub fn rule(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let name = path(request)?;
    let path = Path::new(PACKAGE).join(&name);
    let input = input(state);
    let path_of_rule = || Ok(path.clone());
    let (document, _) = state
        .documents
        .get(state, request, request.path(), path_of_rule)?;
    let eval_request = solon::Request::new().input(&input);
    let result = document.evaluate(
        state,
        request,
        &document.prepared().pin(),
        eval_request,
        |value| value.as_bool() == Some(true),
    );
    let reference = path.reference();
    let opa = state.options.spelling.is_opa();
    match result {
        Ok(Some(true)) => Ok(healthy()),
        Ok(Some(false)) if opa => Ok(unhealthy(&format!(
            "health check ({reference}) returned unexpected value"
        ))),
        Ok(Some(false)) => Ok(unhealthy(&format!(
            "health policy was not true at {reference}"
        ))),
        Ok(None) if opa => Ok(unhealthy(&format!(
            "health check ({reference}) was undefined"
        ))),
        Ok(None) => Ok(unhealthy(&format!(
            "health policy was undefined at {reference}"
        ))),
        Err(EvaluationFailure::Other(elsewhere @ ApiError::Elsewhere(_))) => Err(elsewhere),
        Err(EvaluationFailure::Other(error)) if opa => {
            let message = error.first_error();
            Ok(unhealthy(message.as_deref().unwrap_or(NO_EVALUATION)))
        }
        Err(_) => Ok(unhealthy(NO_EVALUATION)),
    }
}

/// Returns the input of health rules: the state of each plugin, and `true` if each of them has been `OK` once.
fn input(state: &State) -> Value {
    let plugins = state.plugins.plugins().into_iter();
    let plugins = plugins.map(|(name, status)| {
        let name = Value::string(&name);
        (name, status.state.as_str().into())
    });
    Value::object(vec![
        ("plugin_state".into(), Value::object(plugins.collect())),
        ("plugins_ready".into(), state.plugins.is_ready().into()),
    ])
}

fn healthy() -> Response {
    response::json(Status::OK, b"{}\n".to_vec())
}

fn unhealthy(error: &str) -> Response {
    response::json(
        Status::INTERNAL_SERVER_ERROR,
        answer_text(&Unhealthy { error }, false),
    )
}
