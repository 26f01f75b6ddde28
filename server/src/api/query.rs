//! Ad hoc queries: `/v1/query`.

use std::cell::RefCell;
use std::time::Instant;

use serde::Deserialize;
use serde_json::value::RawValue;
use solon::value::{Value, json};
use solon::{Error, Solution};
use solon_syntax::source::Code;

use super::documents::log_prints;
use super::error::message;
use super::metrics::Metrics;
use super::state::State;
use super::{ApiError, body};
use crate::http::{Fields, Request, Response, Status};

/// `GET /v1/query`
pub fn get(state: &State, request: &Request) -> Result<Response, ApiError> {
    let query = request
        .params
        .last("q")
        .ok_or_else(|| ApiError::invalid("missing parameter 'q'"))?;
    ask(state, request, query, None)
}

/// The body of `POST /v1/query`.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(default, alias = "Query", alias = "QUERY")]
    query: String,
    #[serde(borrow, alias = "Input", alias = "INPUT")]
    input: Option<&'a RawValue>,
}

/// `POST /v1/query`
pub fn post(state: &State, request: &Request) -> Result<Response, ApiError> {
    let text = body::text(request);
    let sent: Option<Body<'_>> = body::first(&text).map_err(|words| {
        ApiError::invalid(format!("error(s) occurred while decoding request: {words}"))
    })?;
    let (query, input) = sent.map_or((String::new(), None), |body| (body.query, body.input));
    ask(state, request, &query, input.map(RawValue::get))
}

fn ask(
    state: &State,
    request: &Request,
    query: &str,
    input: Option<&str>,
) -> Result<Response, ApiError> {
    let mut metrics = Metrics::default();
    let start = Instant::now();
    let prepared = state.engine.prepare_query(query).map_err(refused)?;
    metrics.since("rego_query_compile", start);
    let prints = RefCell::new(Vec::new());
    let print = |line: &str| prints.borrow_mut().push(line.to_owned());
    let mut asked = solon::Request::new().print(&print);
    if let Some(input) = input {
        asked = asked.input_json(input.as_bytes());
    }
    let start = Instant::now();
    let solutions = prepared.solutions(&asked);
    log_prints(prints.take());
    let solutions = solutions?;
    metrics.since("rego_query_eval", start);
    metrics.since("server_handler", request.received);

    let mut answer = Fields::new(request.pretty());
    if request.params.flag("metrics") || request.params.flag("instrument") {
        answer.typed("metrics", &metrics.spelled(state.options.spelling));
    }
    if !solutions.is_empty() {
        answer.text("result", &bindings(solutions, request.pretty()));
    }
    Ok(Response::json(Status::OK, answer.finish()))
}

fn refused(error: Error) -> ApiError {
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
fn bindings(solutions: Vec<Solution>, pretty: bool) -> Vec<u8> {
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
    if pretty {
        json::write_go_layout(
            rows.borrow(),
            json::Layout {
                prefix: "  ",
                indent: "  ",
            },
            &mut text,
        );
    } else {
        json::write_go(rows.borrow(), &mut text);
    }
    text
}
