//! Previews: `POST /v0/preview` evaluates a document or a query as if policies and documents of the request were in force.
//!
//! Nothing is stored, and no decision is logged.

use std::time::Duration;

use solon::{
    Change, CheckOptions, Error, NdBuiltinCache, OptionError, Path, Snapshot, Value, json,
};

use super::ApiError;
use super::body;
use super::call::Call;
use super::data::{path, style, text_of};
use super::error::message;
use super::evaluation::{Prints, evaluate_printing};
use super::metrics::{self, Stages};
use super::module_name::module_name;
use super::provenance::provenance;
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, response};
use crate::json::JsonFields;

/// `POST /v0/preview/{path}`. Evaluates with documents and policies of the body; nothing is stored.
pub fn post(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let metrics = metrics::metrics_of(request);
    let start = metrics.start();
    let body = PreviewBody::from_request(request).map_err(|message| {
        ApiError::invalid(format!("body contains malformed input document: {message}"))
    })?;
    metrics.end("rego_input_parse", start);
    let path = path(request)?;
    let params = request.params();
    let stages = Stages::from_request(request, &metrics);
    let on_stage = |name: &str, took: Duration| stages.record(name, took);
    let start = metrics.start();
    let snapshot = body.snapshot(state, params.flag("sandbox"), params.flag("strict"))?;
    metrics.end("rego_module_compile", start);
    let prints = Prints::default();
    let send_metrics = solon::SendMetrics::default();
    let mut eval_request = solon::Request::new()
        .strict_builtin_errors(params.flag("strict-builtin-errors"))
        .send_metrics(&send_metrics)
        .timer(stages.timer(&on_stage));
    if let Some(input) = &body.input {
        eval_request = eval_request.input(input);
    }
    if let Some(calls) = &body.calls {
        eval_request = eval_request.nd_builtin_cache(calls);
    }
    let run = |eval_request: &solon::Request<'_>| match &body.query {
        None => {
            let document = state.engine.document(&path);
            document.pin_to(&snapshot).evaluate(eval_request)
        }
        Some(query) => first_solution(state, &snapshot, &path, query, eval_request),
    };
    let start = stages.begin();
    let result = evaluate_printing(state, request, &eval_request, &prints, run);
    if let Some(start) = start {
        metrics.add("rego_query_eval", stages.rest(start));
        metrics.add_http_sends(&send_metrics);
        metrics.since("server_handler", request.info().received());
    }
    let printed = prints.text();
    if !params.flag("print") {
        prints.log(request);
    }
    let result = result.map_err(to_api_error)?;
    let mut fields = JsonFields::new(request.pretty());
    if params.flag("provenance") {
        fields.typed("provenance", &provenance(state, &snapshot));
    }
    metrics::add(&mut fields, &metrics, state.options.spelling);
    if let Some(result) = result {
        let style = style(request.pretty(), "  ");
        fields.text("result", &text_of(&result, style)?);
    }
    if params.flag("print") && !printed.is_empty() {
        fields.typed("printed", &printed);
    }
    Ok(response::json(Status::OK, fields.finish()))
}

#[derive(Default)]
struct PreviewBody {
    input: Option<Value>,
    /// Documents that are merged into those of the server.
    data: Option<Value>,
    /// Ids and texts of policies.
    modules: Vec<(String, String)>,
    /// Query that is evaluated in the package of the path, instead of the document.
    query: Option<String>,
    /// Results of nondeterministic functions.
    calls: Option<NdBuiltinCache>,
}

impl PreviewBody {
    fn from_request(request: &Call<'_>) -> Result<Self, String> {
        let mut body = Self::default();
        if request.body().trim_ascii().is_empty() {
            return Ok(body);
        }
        let parsed = body::value(request)?;
        if parsed.is_null() {
            return Ok(body);
        }
        let members = parsed
            .as_object()
            .ok_or_else(|| format!("expected an object, got {}", parsed.kind().as_str()))?;
        for (name, value) in members.iter() {
            let name = name.as_str().unwrap_or_default();
            let is_null = value.is_null();
            match name {
                "input" | "data" | "rego_modules" | "rego" | "nd_builtin_cache" if is_null => {}
                "input" => body.input = Some(value.clone()),
                "data" if value.as_object().is_some() => body.data = Some(value.clone()),
                "data" => return Err("`data` must be an object".to_owned()),
                "rego_modules" => body.modules = texts(value)?,
                "rego" => {
                    let query = value.as_str().ok_or("`rego` must be a string")?;
                    body.query = Some(query.to_owned()).filter(|query| !query.is_empty());
                }
                "nd_builtin_cache" => body.calls = Some(calls(value)?),
                _ => return Err(format!("unknown member `{name}`")),
            }
        }
        Ok(body)
    }

    /// Returns the snapshot that is evaluated: the current one, or in a sandbox an empty one, with the changes of the body.
    fn snapshot(&self, state: &State, sandbox: bool, strict: bool) -> Result<Snapshot, ApiError> {
        let now = state.engine.snapshot();
        let mut change = Change::default();
        if sandbox {
            for (name, _) in now.modules() {
                change.remove_module(name);
            }
            change.put(Path::default(), Value::object(Vec::new()));
        }
        for (id, text) in &self.modules {
            change.set_module(&module_name(&now, id), text);
        }
        if let Some(data) = &self.data {
            change.merge(Path::default(), data.clone());
        }
        state
            .engine
            .check(
                change,
                CheckOptions::default().snapshot(&now).strict(strict),
            )
            .map_err(|error| match error {
                Error::Compile(_) => ApiError::invalid(message::COMPILE_MODULES).listing(&error),
                // a document of the request is where a rule is
                Error::Store(_) => ApiError::invalid(error.to_string()),
                other => other.into(),
            })
    }
}

/// Returns the ids and texts of policies.
fn texts(value: &Value) -> Result<Vec<(String, String)>, String> {
    let wrong = || "`rego_modules` must be an object of strings".to_owned();
    let members = value.as_object().ok_or_else(wrong)?;
    let texts = members.iter().map(|(id, text)| {
        let pair = (id.as_str()?.to_owned(), text.as_str()?.to_owned());
        Some(pair)
    });
    texts.collect::<Option<_>>().ok_or_else(wrong)
}

/// Returns results of nondeterministic functions, by name and by arguments as JSON text.
fn calls(value: &Value) -> Result<NdBuiltinCache, String> {
    let is_valid = |calls: &Value| {
        calls.as_object().is_some_and(|calls| {
            calls.iter().all(|(arguments, _)| {
                let arguments = arguments.as_str().map(|text| json::read(text.as_bytes()));
                arguments.is_some_and(|arguments_value| {
                    arguments_value
                        .is_ok_and(|arguments_value| arguments_value.as_array().is_some())
                })
            })
        })
    };
    let functions = value.as_object();
    if !functions.is_some_and(|functions| functions.iter().all(|(_, calls)| is_valid(calls))) {
        return Err(
            "`nd_builtin_cache` must be an object of objects by arguments as JSON arrays"
                .to_owned(),
        );
    }
    Ok(NdBuiltinCache::from_value(value))
}

/// Evaluates a query in the package of a path. Returns the first solution: the values of its expressions, and bindings.
fn first_solution(
    state: &State,
    snapshot: &Snapshot,
    path: &Path,
    query: &str,
    request: &solon::Request<'_>,
) -> Result<Option<Value>, Error> {
    let reference = path.reference();
    let package = match reference.strip_prefix("data") {
        Some("") => None,
        Some(rest) => Some(rest.strip_prefix('.').ok_or_else(|| {
            OptionError::new(format!("{reference} cannot be the package of a query"))
        })?),
        None => None,
    };
    let mut source = solon::QuerySource::new(query).snapshot(snapshot);
    source.package = package;
    let query = state.engine.prepare_query(source)?.pin_to(snapshot)?;
    let Some(first) = query.solutions(request)?.into_iter().next() else {
        return Ok(None);
    };
    let expressions = query.expressions().iter().zip(first.values);
    let expressions = expressions.map(|(expression, value)| {
        let location = [("row", expression.row), ("col", expression.col)];
        let location = location.map(|(name, number)| (name.into(), i64::from(number).into()));
        Value::object(vec![
            ("value".into(), value),
            ("text".into(), Value::string(&expression.text)),
            ("location".into(), Value::object(location.to_vec())),
        ])
    });
    let mut result = vec![("expressions".into(), Value::array(expressions.collect()))];
    if !first.bindings.is_empty() {
        let bindings = first.bindings.into_iter();
        let bindings = bindings.map(|(name, value)| (Value::string(&name), value));
        result.push(("bindings".into(), Value::object(bindings.collect())));
    }
    Ok(Some(Value::object(result)))
}

/// Maps an error of the evaluation. Only a query can fail to compile here.
fn to_api_error(error: Error) -> ApiError {
    match &error {
        Error::Compile(_) => ApiError::invalid(message::COMPILE_QUERY).listing(&error),
        _ => error.into(),
    }
}
