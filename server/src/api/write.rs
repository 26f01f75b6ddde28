//! Writing documents: `PUT`, `PATCH` and `DELETE /v1/data`.

use solon::store::{Operation, PatchStep, Path, StoreError, Transaction};
use solon::{ActiveBundle, Value, json};

use super::ApiError;
use super::body;
use super::call::Call;
use super::data::path;
use super::metrics;
use super::patch;
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, response};
use crate::json::JsonFields;
use crate::telemetry::Metrics;

/// `PUT /v1/data/{path}`: writes a document and creates the objects that contain it.
pub fn put(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let metrics = metrics::metrics_of(request);
    let start = metrics.start();
    let text = body::text(request);
    let value = json::read(text.as_bytes()).map_err(|error| {
        let malformed = body::malformed(text.as_bytes());
        ApiError::invalid(malformed.unwrap_or_else(|| error.to_string()))
    })?;
    metrics.end("rego_input_parse", start);
    let path = path(request)?;
    let only_new = request.header("if-none-match") == "*";
    let result = state.engine.edit(|transaction| {
        check_scope(transaction, [&path])?;
        if only_new && transaction.read(&path).is_ok() {
            return Ok(false);
        }
        check_parents(transaction, &path)?;
        transaction.put(&path, value)?;
        Ok::<bool, ApiError>(true)
    })?;
    if result {
        Ok(success(state, request, &metrics))
    } else {
        Ok(response::empty(Status::NOT_MODIFIED))
    }
}

/// `PATCH /v1/data/{path}`: applies all operations or none.
pub fn patch(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let metrics = metrics::metrics_of(request);
    let start = metrics.start();
    let text = body::text(request);
    let operations = patch::read(&text)?;
    metrics.end("rego_input_parse", start);
    let parent = patch::unescaped(&path(request)?);
    let steps = operations
        .into_iter()
        .map(|operation| operation.below_parent(&parent));
    let steps = steps.collect::<Result<Vec<_>, _>>()?;
    state.engine.edit(|transaction| {
        check_scope(transaction, steps.iter().flat_map(changed_paths))?;
        transaction.patch(steps).map_err(ApiError::from)
    })?;
    Ok(success(state, request, &metrics))
}

/// `DELETE /v1/data/{path}`. 404 if the document does not exist.
pub fn delete(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let path = path(request)?;
    state.engine.edit(|transaction| {
        check_scope(transaction, [&path])?;
        transaction.read(&path)?;
        transaction
            .write(Operation::Remove, &path, Value::NULL)
            .map_err(ApiError::from)
    })?;
    Ok(success(state, request, &metrics::metrics_of(request)))
}

/// Returns the paths that an operation of a patch changes. A test changes none.
fn changed_paths(step: &PatchStep) -> Vec<&Path> {
    match step {
        PatchStep::Write(_, path, _) => vec![path],
        PatchStep::Test(..) => Vec::new(),
        PatchStep::Copy { to, .. } => vec![to],
        PatchStep::Move { from, to } => vec![from, to],
    }
}

/// Checks that no active bundle owns the paths. It must be called under the writer lock, before anything is written.
fn check_scope<'p>(
    transaction: &Transaction,
    paths: impl IntoIterator<Item = &'p Path>,
) -> Result<(), ApiError> {
    let bundles = ActiveBundle::list(transaction.root());
    let mut paths = paths.into_iter();
    let check = |path| ActiveBundle::check_scope(&bundles, path);
    let result = paths.try_for_each(check);
    result.map_err(|error| ApiError::invalid(error.to_string()))
}

/// Checks that all existing parents of a path are objects, because documents can be written only into objects.
fn check_parents(transaction: &Transaction, path: &Path) -> Result<(), StoreError> {
    let mut parent = transaction.root();
    let mut steps: Vec<&str> = Vec::new();
    for segment in path.segments() {
        let Some(object) = parent.as_object() else {
            return Err(StoreError::Conflict {
                message: Path::new(steps).to_string(),
            });
        };
        let Some(next) = object.get_str(segment) else {
            return Ok(());
        };
        steps.push(segment);
        parent = next;
    }
    Ok(())
}

fn success(state: &State, request: &Call<'_>, metrics: &Metrics) -> Response {
    if !request.params().flag("metrics") {
        return response::empty(Status::NO_CONTENT);
    }
    metrics.since("server_handler", request.info().received());
    let mut fields = JsonFields::new(false);
    metrics::add(&mut fields, metrics, state.options.spelling);
    response::json(Status::OK, fields.finish())
}
