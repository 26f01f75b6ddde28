//! Ad hoc queries: `/v1/query`.

use std::sync::Arc;
use std::time::Duration;

use solon::json::{self, TooLong};
use solon::{Error, Limits, PreparedQuery, Solution, Value};
use solon_syntax::print::display_body;
use solon_syntax::source::{Code, Source, SourceId};
use solon_syntax::{ParseOptions, parse_statements};

use super::ApiError;
use super::body::{self, BodyDocument};
use super::call::Call;
use super::data::style;
use super::decision_log::{LoggedDecision, Outcome};
use super::error::message;
use super::evaluation::evaluate;
use super::event_text;
use super::members::{Members, Names};
use super::metrics::{self, Stages};
use super::search::{EvalDetails, Selection, search};
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, response};
use crate::json::JsonFields;

/// Maximum length of a cached query, in bytes.
const LONGEST_KEPT: usize = 4 << 10;

/// `GET /v1/query`, with the query in the parameter `q`. 400 without it.
pub fn get(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let query = request
        .params()
        .last("q")
        .ok_or_else(|| ApiError::invalid("missing parameter 'q'"))?;
    respond(state, request, query, None)
}

/// `POST /v1/query`, with query and input in the body. 400 if the body is malformed.
pub fn post(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let text = body::text(request);
    let undecodable = |message| {
        ApiError::invalid(format!(
            "error(s) occurred while decoding request: {message}"
        ))
    };
    let members = Members::from_body(&text, Names::from_request(request)).map_err(undecodable)?;
    let query = members
        .string("query")
        .map_err(undecodable)?
        .unwrap_or_default();
    let input = members.get("input").filter(|input| *input != "null");
    respond(state, request, &query, input)
}

fn respond(
    state: &State,
    request: &Call<'_>,
    query: &str,
    input: Option<&str>,
) -> Result<Response, ApiError> {
    if request.params().flag("watch") {
        return Err(ApiError::with_status(
            Status::NOT_IMPLEMENTED,
            "not_implemented",
            "streaming not implemented",
        ));
    }
    let logged = LoggedDecision::begin(state, request)?;
    let metrics = metrics::of_decision(request, logged.as_ref());
    let stages = Stages::from_request(request, &metrics);
    let on_stage = |name: &str, took: Duration| stages.record(name, took);
    let timer = stages.timer(&on_stage);
    let cached = state.queries.get(query);
    metrics.counter("server_query_cache_hit", cached.is_some().into());
    let prepared = match cached {
        Some(cached) => cached,
        None => {
            let prepared = state
                .engine
                .prepare_query(state.query_source(query).timer(timer))
                .map_err(map_error)?;
            keep(state, query, prepared)
        }
    };
    let strict = request.params().flag("strict-builtin-errors");
    let send_metrics = solon::SendMetrics::default();
    let mut eval_request = solon::Request::new()
        .strict_builtin_errors(strict)
        .send_metrics(&send_metrics)
        .timer(timer);
    if let Some(input) = input {
        eval_request = eval_request.input_json(input.as_bytes());
    }
    if let Some(cache) = logged.as_ref().and_then(|logged| logged.nd_cache.as_ref()) {
        eval_request = eval_request.nd_builtin_cache(cache);
    }
    let snapshot = logged.as_ref().map(|logged| &logged.snapshot);
    if let Some(snapshot) = snapshot {
        eval_request = eval_request.snapshot(snapshot);
    }
    let selection = Selection::with_log(request, logged.as_ref());
    let start = stages.begin();
    let solutions = if selection.is_something() {
        search(
            state,
            request,
            selection,
            &metrics,
            &*prepared,
            eval_request,
            snapshot,
        )
    } else {
        let solutions = evaluate(state, request, &eval_request, |eval_request| {
            prepared.solutions(eval_request)
        });
        solutions.map(|solutions| (solutions, EvalDetails::default()))
    };
    let normal = logged.as_ref().map(|_| normal(query)).unwrap_or_default();
    let input_text = || {
        let input = BodyDocument::Json(input?.as_bytes());
        event_text::input_text(Some(&input))
    };
    let outcome = || Outcome {
        query: Some(&normal),
        ..Outcome::new("", input_text(), &metrics)
    };
    let (solutions, details) = solutions.map_err(|error| {
        let error = map_error(error);
        if let Some(logged) = &logged {
            logged.log_failure(state, request, &error, outcome);
        }
        error
    })?;
    if let Some(start) = start {
        metrics.add("rego_query_eval", stages.rest(start));
        metrics.add_http_sends(&send_metrics);
        metrics.since("server_handler", request.info().received());
    }

    let is_empty = solutions.is_empty();
    let result = bindings(solutions, request.pretty())?;
    if let Some(logged) = &logged {
        let outcome = Outcome {
            result: Some(if is_empty { b"null" } else { &result }),
            labels: if is_empty { &[] } else { &details.labels },
            ..outcome()
        };
        logged.log(state, request, outcome)?;
    }
    let mut fields = JsonFields::new(request.pretty());
    details.add_explanation(&mut fields);
    metrics::add(&mut fields, &metrics, state.options.spelling);
    if !is_empty {
        fields.text("result", &result);
        details.add_rules(&mut fields);
    }
    Ok(response::json(Status::OK, fields.finish()))
}

/// Returns the text of a query as decision logs contain it: with expressions on one line. A query that was evaluated can be parsed.
fn normal(query: &str) -> String {
    let source = Source::new(SourceId::NONE, "", query);
    let body = parse_statements(&source, &ParseOptions::default());
    body.map_or_else(|_| query.to_owned(), |body| display_body(&body).to_string())
}

/// Caches a prepared query. Long queries are not cached, because many of them would use much memory.
fn keep(state: &State, query: &str, prepared: PreparedQuery) -> Arc<PreparedQuery> {
    let prepared = Arc::new(prepared);
    if query.len() > LONGEST_KEPT {
        return prepared;
    }
    state.queries.keep(query.to_owned(), prepared)
}

/// Maps an error of preparing a query, or of preparing it again after policies changed.
fn map_error(error: Error) -> ApiError {
    if error.is_empty_query() {
        return Error::EmptyQuery.into();
    }
    let Error::Compile(diagnostics) = &error else {
        return error.into();
    };
    let parse = diagnostics
        .0
        .iter()
        .any(|diagnostic| diagnostic.code == Code::Parse);
    ApiError::invalid(if parse {
        message::PARSE_QUERY
    } else {
        message::COMPILE_QUERY
    })
    .listing(&error)
}

/// Returns the bindings of each solution as JSON text.
fn bindings(solutions: Vec<Solution>, pretty: bool) -> Result<Vec<u8>, ApiError> {
    let rows = solutions.into_iter().map(|solution| {
        let pairs = solution.bindings.into_iter();
        Value::object(
            pairs
                .map(|(name, value)| (Value::string(&name), value))
                .collect(),
        )
    });
    let rows = Value::array(rows.collect());
    let mut text = Vec::new();
    let style = style(pretty, "  ");
    match json::write_within(rows.borrow(), style, Limits::RESULT_BYTES, &mut text) {
        Ok(()) => Ok(text),
        Err(TooLong) => Err(ApiError::internal(message::EVALUATE)),
    }
}
