//! Partial evaluation: `POST /v1/compile`.

use std::time::Instant;

use solon::internal::limits;
use solon::trace::{Detail, Metrics, Spelling};
use solon::{Error, PartialOptions};
use solon_syntax::json;
use solon_syntax::source::Code;

use super::ApiError;
use super::body::{self, Members};
use super::error::message;
use super::evaluation::evaluate;
use super::metrics::spelled;
use super::state::State;
use crate::http::{Fields, Request, Response, Status};

/// What is asked.
struct Asked<'a> {
    query: String,
    input: Option<&'a str>,
    options: PartialOptions,
}

/// `POST /v1/compile`
pub fn post(state: &State, request: &Request<'_>) -> Result<Response, ApiError> {
    let text = body::text(request);
    let asked = Asked::read(&text).map_err(|words| {
        ApiError::invalid(format!("error(s) occurred while decoding request: {words}"))
    })?;
    let mut metrics = Metrics::default();
    let start = Instant::now();
    let prepared = state
        .engine
        .prepare_partial(&asked.query, &asked.options, &state.query_context())
        .map_err(refused)?;
    metrics.time("rego_query_parse", std::time::Duration::ZERO);
    metrics.since("rego_query_compile", start);

    let mut given = solon::Request::new();
    if let Some(input) = asked.input {
        given = given.input_json(input.as_bytes());
    }
    let pretty = request.pretty();
    let detail = request.params.last("explain").and_then(Detail::named);
    let start = Instant::now();
    let (left, explanation) = match detail {
        Some(detail) => {
            let explain = |given: &solon::Request<'_>| prepared.explain(given, detail);
            let explained = evaluate(state, request, &given, explain);
            let shown = if pretty {
                Explanation::Lines(explained.lines(false, false)?)
            } else {
                Explanation::Events(explained.json(Spelling::Lower)?)
            };
            (explained.answer, Some(shown))
        }
        None => {
            let left = evaluate(state, request, &given, |given| prepared.evaluate(given));
            (left, None)
        }
    };
    let left = left.map_err(|error| match error {
        Error::Input(words) => {
            ApiError::invalid(format!("error(s) occurred while converting input: {words}"))
        }
        error => error.into(),
    })?;
    metrics.since("rego_partial_eval", start);
    metrics.since("server_handler", request.received);

    let mut answer = Fields::new(pretty);
    match &explanation {
        Some(Explanation::Lines(lines)) => answer.typed("explanation", lines),
        Some(Explanation::Events(events)) => answer.text("explanation", events.as_bytes()),
        None => &mut answer,
    };
    if request.params.flag("metrics") || request.params.flag("instrument") {
        answer.typed("metrics", &spelled(&metrics, state.options.spelling));
    }
    let options = json::Options {
        indented: pretty,
        ..json::Options::default()
    };
    let result = left.json("support", options, "  ");
    if result.len() > limits::ANSWER_BYTES {
        return Err(ApiError::internal(message::EVALUATE));
    }
    answer.text("result", result.as_bytes());
    Ok(Response::json(Status::OK, answer.finish()))
}

/// How the answer was found, for people or as events.
enum Explanation {
    Lines(Vec<String>),
    Events(String),
}

impl<'a> Asked<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let members = Members::of(text)?;
        let query = members.string("query")?.unwrap_or_default();
        let input = members.get("input").filter(|input| *input != "null");
        let mut options = PartialOptions::default();
        if let Some(unknowns) = members.strings("unknowns")? {
            options.unknowns = unknowns;
        }
        if let Some(text) = members.get("options") {
            let members = Members::of(text)?;
            options.disable_inlining = members.strings("disableInlining")?.unwrap_or_default();
            // the published name, and the same without its slip of the pen
            options.nondeterministic_builtins = members.flag("nondeterminsticBuiltins")?
                || members.flag("nondeterministicBuiltins")?;
        }
        Ok(Self {
            query,
            input,
            options,
        })
    }
}

fn refused(error: Error) -> ApiError {
    match &error {
        error if error.is_empty_query() => ApiError::invalid("missing required 'query' value"),
        Error::Options(words) => ApiError::invalid(words.as_str()),
        Error::Compile(diagnostics) => {
            let parse = diagnostics.0.iter().any(|one| one.code == Code::Parse);
            ApiError::invalid(if parse {
                message::PARSE_QUERY
            } else {
                message::COMPILE_MODULES
            })
            .listing(&error)
        }
        _ => error.into(),
    }
}
