//! Policy modules: `/v1/policies`, and changes of them.

use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use solon::store::Origin;
use solon::{Change, Error, Path, Snapshot};
use solon_syntax::ast::Module;
use solon_syntax::json;

use super::ApiError;
use super::call::Call;
use super::error::message;
use super::metrics::{self, Stages};
use super::module_name::{module_name, policy_id};
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, response, segments};
use crate::json::{JsonFields, indent};
use crate::telemetry::Metrics;

/// A module as responses contain it.
#[derive(Serialize)]
struct PolicyResponse<'a> {
    id: &'a str,
    raw: &'a str,
    ast: Box<RawValue>,
}

impl<'a> PolicyResponse<'a> {
    /// Converts a module. `depth` is its indentation level in an indented response.
    fn of_module(
        id: &'a str,
        module: &'a Module,
        pretty: bool,
        depth: usize,
    ) -> Result<Self, ApiError> {
        let options = json::Options {
            indented: pretty,
            ..json::Options::default()
        };
        let text = json::text(module, options);
        let text = if pretty {
            String::from_utf8(indent(text.as_bytes(), depth)).unwrap_or(text)
        } else {
            text
        };
        let ast =
            RawValue::from_string(text).map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(Self {
            id: policy_id(id),
            raw: &module.source.text,
            ast,
        })
    }
}

/// `GET /v1/policies`, with the text and the syntax tree of each.
pub fn list(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let modules: Vec<_> = state.engine.modules();
    let pretty = request.pretty();
    let policies = modules
        .iter()
        .map(|(id, module)| PolicyResponse::of_module(id, module, pretty, 2));
    let policies = policies.collect::<Result<Vec<_>, _>>()?;
    let mut fields = JsonFields::new(pretty);
    fields.typed("result", &policies);
    Ok(response::json(Status::OK, fields.finish()))
}

/// `GET /v1/policies/{id}`. 404 for an unknown id.
pub fn get(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let target = PolicyTarget::of_request(request)?;
    let now = state.engine.snapshot();
    let name = target.module_name(&now);
    let module = now.module(&name);
    let module = module.ok_or_else(|| ApiError::no_policy(&target.id))?;
    let mut fields = JsonFields::new(request.pretty());
    let policy = PolicyResponse::of_module(&name, module, request.pretty(), 1)?;
    fields.typed("result", &policy);
    Ok(response::json(Status::OK, fields.finish()))
}

/// `PUT /v1/policies/{id}`: parses and compiles before it changes anything.
pub fn put(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let target = PolicyTarget::of_request(request)?;
    let metrics = metrics::metrics_of(request);
    // messages refer to the file by this name
    let name = target.module_name(&state.engine.snapshot());
    let text = state.engine.module_text(&name, request.body())?;
    metrics.since("server_read_bytes", request.info().received());
    let change = |now: &Snapshot| {
        let name = target.module_name(now);
        check_owner(now, &name)?;
        // a policy of a file becomes the client's, even if the text is the same
        let is_same = now
            .module(&name)
            .is_some_and(|module| *module.source.text == *text)
            && now.module_origin(&name) == Origin::Client;
        let mut change = Change::default();
        if !is_same {
            change.set_module(&name, text);
        }
        if !is_same && !now.bundles().is_empty() {
            check_package(now, &state.engine.parse_module(&name, text)?)?;
        }
        Ok(change)
    };
    apply(state, &metrics, change).map_err(|rejection| match rejection {
        PolicyRejection::Owned(message) => ApiError::invalid(message),
        PolicyRejection::Engine(error) => map_error(error),
    })?;
    Ok(success(state, request, &metrics))
}

/// Reason why a policy is not changed.
enum PolicyRejection {
    /// A bundle owns its package.
    Owned(String),
    Engine(Error),
}

impl From<Error> for PolicyRejection {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

/// Checks that no active bundle owns the package of a policy, if the policy exists.
fn check_owner(now: &Snapshot, name: &str) -> Result<(), PolicyRejection> {
    now.module(name)
        .map_or(Ok(()), |module| check_package(now, module))
}

/// Checks that no active bundle owns the package of a module.
fn check_package(now: &Snapshot, module: &Module) -> Result<(), PolicyRejection> {
    let steps = module.package.path.iter().skip(1);
    let steps = steps.filter_map(|step| Some(step.as_string()?.to_string()));
    now.check_bundle_scope(&Path::new(steps))
        .map_err(|error| PolicyRejection::Owned(error.to_string()))
}

/// Changes policies. `change` is called under the writer lock, so that the module that it names is the one with the policy's id.
fn apply(
    state: &State,
    metrics: &Metrics,
    change: impl FnOnce(&Snapshot) -> Result<Change, PolicyRejection>,
) -> Result<(), PolicyRejection> {
    let stages = Stages::of_change(metrics);
    let on_stage = |name: &str, took: Duration| stages.record(name, took);
    let before = state.engine.generation();
    state.engine.apply_with(change, stages.timer(&on_stage))?;
    if state.engine.generation() != before {
        state.documents.forget();
    }
    Ok(())
}

/// Maps an error of a change. An error without a position, for example of an empty text, is a single message and not a list.
fn map_error(error: Error) -> ApiError {
    match &error {
        Error::Compile(diagnostics) => match diagnostics.0.as_slice() {
            [diagnostic] if !diagnostic.span.is_somewhere() && diagnostic.has_location() => {
                ApiError::invalid(diagnostic.to_string())
            }
            _ => error.into(),
        },
        _ => error.into(),
    }
}

/// `DELETE /v1/policies/{id}`: rejected if other policies need it.
pub fn delete(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let target = PolicyTarget::of_request(request)?;
    let metrics = metrics::metrics_of(request);
    let change = |now: &Snapshot| {
        let name = target.module_name(now);
        check_owner(now, &name)?;
        let mut change = Change::default();
        change.remove_module(&name);
        Ok(change)
    };
    apply(state, &metrics, change).map_err(|rejection| match rejection {
        PolicyRejection::Owned(message) => ApiError::invalid(message),
        PolicyRejection::Engine(Error::UnknownModule { .. }) => ApiError::no_policy(&target.id),
        PolicyRejection::Engine(error @ Error::Compile(_)) => {
            ApiError::invalid_operation(message::COMPILE_MODULES).listing(&error)
        }
        PolicyRejection::Engine(other) => other.into(),
    })?;
    Ok(success(state, request, &metrics))
}

struct PolicyTarget {
    /// Policy id: the decoded part of the path after the route, including slashes.
    id: String,
}

impl PolicyTarget {
    /// Parses the target of a request.
    ///
    /// # Errors
    /// A segment of the path cannot be decoded.
    fn of_request(request: &Call<'_>) -> Result<Self, ApiError> {
        let segments = request.rest_of_path().and_then(segments);
        let segments =
            segments.ok_or_else(|| ApiError::invalid(format!("bad path: {}", request.path())))?;
        let id = segments.join("/");
        Ok(Self { id })
    }

    /// Returns the name of the engine's module with this id. A change must choose the name under the writer lock: otherwise two
    /// modules could have the same id.
    fn module_name(&self, now: &Snapshot) -> String {
        module_name(now, &self.id)
    }
}

fn success(state: &State, request: &Call<'_>, metrics: &Metrics) -> Response {
    let mut fields = JsonFields::new(request.pretty());
    if request.params().flag("metrics") {
        metrics::add(&mut fields, metrics, state.options.spelling);
    }
    response::json(Status::OK, fields.finish())
}
