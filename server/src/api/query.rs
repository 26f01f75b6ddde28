//! Ad hoc queries: `/v1/query`.

use std::sync::Arc;
use std::time::Duration;

use solon::json::{self, TooLong};
use solon::{Error, Limits, PreparedQuery, Solution, Value};
use solon_syntax::source::Code;

use super::ApiError;
use super::body::{self, Members, Names};
use super::call::Call;
use super::data::style;
use super::error::message;
use super::evaluation::evaluate;
use super::metrics::{self, Stages};
use super::search::{Told, Wanted, search};
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, response};
use crate::json::Fields;

/// Longest query that is kept prepared.
const LONGEST_KEPT: usize = 4 << 10;

/// `GET /v1/query`
pub fn get(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let query = request
        .params()
        .last("q")
        .ok_or_else(|| ApiError::invalid("missing parameter 'q'"))?;
    ask(state, request, query, None)
}

/// `POST /v1/query`
pub fn post(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let text = body::text(request);
    let undecodable =
        |words| ApiError::invalid(format!("error(s) occurred while decoding request: {words}"));
    let members = Members::named(&text, Names::of(request)).map_err(undecodable)?;
    let query = members
        .string("query")
        .map_err(undecodable)?
        .unwrap_or_default();
    let input = members.get("input").filter(|input| *input != "null");
    ask(state, request, &query, input)
}

fn ask(
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
    let metrics = metrics::asked(request);
    let stages = Stages::of(request, &metrics);
    let hear = |name: &str, took: Duration| stages.hear(name, took);
    let timer = stages.timer(&hear);
    let known = state.queries.get(query);
    metrics.counter("server_query_cache_hit", known.is_some().into());
    let prepared = match known {
        Some(known) => known,
        None => {
            let prepared = state
                .engine
                .prepare_query_in(query, &state.query_context().timer(timer))
                .map_err(refused)?;
            keep(state, query, prepared)
        }
    };
    let strict = request.params().flag("strict-builtin-errors");
    let sent = solon::SendMetrics::default();
    let mut asked = solon::Request::new()
        .strict_builtin_errors(strict)
        .send_metrics(&sent)
        .timer(timer);
    if let Some(input) = input {
        asked = asked.input_json(input.as_bytes());
    }
    let wanted = Wanted::of(request);
    let start = stages.begin();
    let (solutions, told) = if wanted.is_something() {
        search(state, request, wanted, &metrics, &*prepared, asked, None).map_err(refused)?
    } else {
        let solutions = evaluate(state, request, &asked, |asked| prepared.solutions(asked));
        (solutions.map_err(refused)?, Told::default())
    };
    if let Some(start) = start {
        metrics.add("rego_query_eval", stages.rest(start));
        metrics.sent(&sent);
        metrics.since("server_handler", request.info().received());
    }

    let mut answer = Fields::new(request.pretty());
    told.add_explanation(&mut answer);
    metrics::add(&mut answer, &metrics, state.options.spelling);
    if !solutions.is_empty() {
        answer.text("result", &bindings(solutions, request.pretty())?);
        told.add_rules(&mut answer);
    }
    Ok(response::json(Status::OK, answer.finish()))
}

/// Keeps a query for the next time, unless it is that long that many of them would take much.
fn keep(state: &State, query: &str, prepared: PreparedQuery) -> Arc<PreparedQuery> {
    let prepared = Arc::new(prepared);
    if query.len() > LONGEST_KEPT {
        return prepared;
    }
    state.queries.keep(query.to_owned(), prepared)
}

/// The answer to a query that was refused, when it was prepared or since policies changed.
fn refused(error: Error) -> ApiError {
    if error.is_empty_query() {
        return Error::EmptyQuery.into();
    }
    let Error::Compile(diagnostics) = &error else {
        return error.into();
    };
    let parse = diagnostics.0.iter().any(|one| one.code == Code::Parse);
    ApiError::invalid(if parse {
        message::PARSE_QUERY
    } else {
        message::COMPILE_QUERY
    })
    .listing(&error)
}

/// The bindings of each solution as JSON text.
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
