//! Data filters: `POST` and `GET /v1/compile/{path}`.

mod accepted;
mod request;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use solon::trace::Timer;
use solon::{
    Error, ErrorEntry, FilterOptions, Path, PreparedFilters, QuerySource, Value, json as text_form,
};

use self::accepted::Accepted;
use self::request::FilterRequest;
use super::ApiError;
use super::body::{self, BodyDocument};
use super::call::Call;
use super::decision_log::{LoggedDecision, Outcome};
use super::error::message;
use super::evaluation::evaluate;
use super::event_text;
use super::members::Names;
use super::metrics::{self, Stages};
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, decode, response};
use crate::json::JsonFields;
use crate::telemetry::Metrics;
use crate::wire::ErrorLocation;

/// Maximum length of a cache key in bytes (path and body), because clients choose both.
const LONGEST_KEY: usize = 64 << 10;

/// Cache key of a prepared filter: everything that it is prepared from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct FilterKey {
    path: String,
    options: FilterOptions,
}

/// `POST /v1/compile/{path}`, and `GET` without a body.
pub fn answer(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let logged = LoggedDecision::begin(state, request)?;
    let metrics = metrics::of_decision(request, logged.as_ref());
    let path = path(request)?;
    let text = body::text(request);
    let parsed = FilterRequest::read(&text, Names::from_request(request)).map_err(|message| {
        ApiError::invalid(format!(
            "error(s) occurred while decoding request: {message}"
        ))
    })?;
    let accepted = Accepted::from_header(request.header("accept"));
    let (options, several) = match &accepted {
        Ok(accepted) => parsed.options(accepted)?,
        // annotations are checked first
        Err(_) => (parsed.options.clone(), false),
    };
    let is_cacheable = path.len() + text.len() <= LONGEST_KEY;
    let stages = Stages::from_request(request, &metrics);
    let record = |name: &str, took: Duration| stages.record(name, took);
    let timer = stages.timer(&record);
    let key = FilterKey {
        path: path.clone(),
        options,
    };
    let filters = prepare(state, key, is_cacheable, &metrics, timer)?;
    let accepted = accepted.map_err(ApiError::invalid)?;

    let mut eval_request = solon::Request::new();
    if let Some(input) = parsed.input {
        eval_request = eval_request.input_json(input.as_bytes());
    }
    if let Some(logged) = &logged {
        eval_request = eval_request.snapshot(&logged.snapshot);
        if let Some(cache) = &logged.nd_cache {
            eval_request = eval_request.nd_builtin_cache(cache);
        }
    }
    let input_text = || {
        let input = BodyDocument::Json(parsed.input?.as_bytes());
        event_text::input_text(Some(&input))
    };
    let outcome = || Outcome {
        custom: Some(log_fields(&filters, parsed.options_text)),
        ..Outcome::new(&path, input_text(), &metrics)
    };
    let compiled = evaluate(state, request, &eval_request, |eval_request| {
        filters.compile(&eval_request.timer(timer))
    });
    let explain_rules = |eval_request: &solon::Request<'_>| filters.explain(eval_request);
    let explanation = if parsed.explains && matches!(compiled, Ok(_) | Err(Error::Filter(_))) {
        Some(evaluate(state, request, &eval_request, explain_rules).map_err(map_error)?)
    } else {
        None
    };
    metrics.since("server_handler", request.info().received());
    let compiled = compiled.map_err(|error| {
        let error = map_error(error);
        if let Some(logged) = &logged {
            logged.log_failure(state, request, &error, outcome);
        }
        error.explained(explanation.clone())
    })?;

    let pretty = request.pretty();
    let mut fields = JsonFields::new(pretty);
    let result = filter_json(&compiled.to_response(several), pretty, "  ");
    if let Some(logged) = &logged {
        let outcome = Outcome {
            // a filter that no row passes has no members
            result: Some(&*result).filter(|result| *result != b"{}"),
            ..outcome()
        };
        logged.log(state, request, outcome)?;
    }
    fields.text("result", &result);
    metrics::add(&mut fields, &metrics, state.options.spelling);
    if let Some(explanation) = &explanation {
        fields.text("explanation", &filter_json(explanation, pretty, "  "));
    }
    if !compiled.hints.is_empty() {
        let hints: Vec<Hint> = compiled.hints.into_iter().map(Hint::from).collect();
        fields.typed("hints", &hints);
    }
    Ok(response::json_as(
        &accepted.media,
        Status::OK,
        fields.finish(),
    ))
}

/// Returns the fields of a filter's decision log event that other decisions do not have.
fn log_fields(filters: &PreparedFilters, options: Option<&str>) -> serde_json::Value {
    let unknowns = filters.unknowns().ok();
    json!({
        "mask_rule": filters.mask_rule().ok().flatten().unwrap_or_default(),
        "options": options
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_else(|| json!({})),
        "type": "open-policy-agent/compile",
        // OPA omits an empty list
        "unknowns": unknowns.filter(|all| !all.is_empty()),
    })
}

/// Suggested name for an unknown one.
#[derive(Serialize)]
struct Hint {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<ErrorLocation>,
}

impl From<ErrorEntry> for Hint {
    fn from(entry: ErrorEntry) -> Self {
        Self {
            message: entry.message,
            location: entry.location.map(ErrorLocation::from),
        }
    }
}

fn filter_json(value: &Value, pretty: bool, prefix: &str) -> Vec<u8> {
    let layout = pretty.then_some(text_form::JsonLayout::new(prefix, "  "));
    let style = text_form::Style::default().html(true).layout(layout);
    let mut text = Vec::new();
    // the length of the request already limits the response
    let _ = text_form::write_within(value.borrow(), style, usize::MAX, &mut text);
    text
}

/// Returns the rule's path with slashes. Some clients escape the slashes.
fn path(request: &Call<'_>) -> Result<String, ApiError> {
    let rest_of_path = request.rest_of_path().unwrap_or("");
    let path =
        decode(rest_of_path).ok_or_else(|| ApiError::invalid("invalid path: broken escape"))?;
    if path.is_empty() {
        return Err(ApiError::invalid("missing required 'path' parameter"));
    }
    let mut segments = path.split('/');
    match segments.find(|segment| segment.contains(['"', '\\'])) {
        Some(segment) => Err(ApiError::invalid(format!(
            "invalid path: invalid ref term '{segment}'"
        ))),
        None => Ok(path),
    }
}

/// Returns the filter of a path from the cache, or prepares it.
fn prepare(
    state: &State,
    key: FilterKey,
    is_cacheable: bool,
    metrics: &Metrics,
    timer: Timer<'_>,
) -> Result<Arc<PreparedFilters>, ApiError> {
    if let Some(cached) = state.filters.get(&key) {
        return Ok(cached);
    }
    let start = metrics.start();
    let rule = Path::from_slashes(&key.path).named_reference();
    let filters = state
        .engine
        .prepare_filters(QuerySource::new(&rule).timer(timer), &key.options)
        .map_err(map_error)?;
    if let Some(start) = start {
        metrics.add("compile_prep_partial", start.elapsed());
    }
    let filters = Arc::new(filters);
    Ok(if is_cacheable {
        state.filters.keep(key, filters)
    } else {
        filters
    })
}

fn map_error(error: Error) -> ApiError {
    match &error {
        Error::Filter(_) => {
            ApiError::with_status(Status::BAD_REQUEST, "evaluation_error", message::EVALUATE)
                .listing(&error)
        }
        Error::Input(message) => ApiError::invalid(format!(
            "error(s) occurred while converting input: {message}"
        )),
        _ => error.into(),
    }
}
