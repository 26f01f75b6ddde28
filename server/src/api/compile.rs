//! Partial evaluation: `POST /v1/compile`.

use std::time::Duration;

use solon::{Error, Limits, PartialOptions};
use solon_syntax::json;
use solon_syntax::source::Code;

use super::ApiError;
use super::body;
use super::call::Call;
use super::error::message;
use super::evaluation::evaluate;
use super::members::{Members, Names};
use super::metrics::{self, Stages};
use super::search::{EvalDetails, Selection, search};
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, response};
use crate::json::JsonFields;

/// Parsed request of `POST /v1/compile`.
struct CompileRequest<'a> {
    query: String,
    input: Option<&'a str>,
    options: PartialOptions,
}

/// `POST /v1/compile`. Returns residual queries; 400 for a body or a query that is not valid.
pub fn post(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let text = body::text(request);
    let parsed = CompileRequest::read(&text, Names::from_request(request)).map_err(|message| {
        ApiError::invalid(format!(
            "error(s) occurred while decoding request: {message}"
        ))
    })?;
    let metrics = metrics::metrics_of(request);
    let stages = Stages::from_request(request, &metrics);
    let on_stage = |name: &str, took: Duration| stages.record(name, took);
    let timer = stages.timer(&on_stage);
    let prepared = state
        .engine
        .prepare_partial(
            state.query_source(&parsed.query).no_prints().timer(timer),
            &parsed.options,
        )
        .map_err(map_error)?;

    let mut eval_request = solon::Request::new().timer(timer);
    if let Some(input) = parsed.input {
        eval_request = eval_request.input_json(input.as_bytes());
    }
    let pretty = request.pretty();
    let start = stages.begin();
    let selection = Selection::of_partial(request);
    let (residuals, details) = if selection.is_something() {
        search(
            state,
            request,
            selection,
            &metrics,
            &prepared,
            eval_request,
            None,
        )
    } else {
        let residuals = evaluate(state, request, &eval_request, |request| {
            prepared.evaluate(request)
        });
        residuals.map(|left| (left, EvalDetails::default()))
    }
    .map_err(|error| match error {
        Error::Input(message) => ApiError::invalid(format!(
            "error(s) occurred while converting input: {message}"
        )),
        error => error.into(),
    })?;
    if let Some(start) = start {
        metrics.add("rego_partial_eval", stages.rest(start));
        metrics.since("server_handler", request.info().received());
    }

    let options = json::Options {
        indented: pretty,
        ..json::Options::default()
    };
    let result = residuals.json("support", options, "  ");
    if result.len() > Limits::RESULT_BYTES {
        return Err(ApiError::internal(message::EVALUATE));
    }
    let mut fields = JsonFields::new(pretty);
    fields.text("result", result.as_bytes());
    details.add_explanation(&mut fields);
    metrics::add(&mut fields, &metrics, state.options.spelling);
    Ok(response::json(Status::OK, fields.finish()))
}

impl<'a> CompileRequest<'a> {
    fn read(text: &'a str, names: Names) -> Result<Self, String> {
        let members = Members::from_body(text, names)?;
        let query = members.string("query")?.unwrap_or_default();
        let input = members.get("input").filter(|input| *input != "null");
        let mut options = PartialOptions::default();
        if let Some(unknowns) = members.strings("unknowns")? {
            options.unknowns = unknowns;
        }
        if let Some(text) = members.get("options") {
            let members = Members::from_text(text)?.matched(names);
            options.disable_inlining = members.strings("disableInlining")?.unwrap_or_default();
            // OPA's misspelled name is accepted as well
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

fn map_error(error: Error) -> ApiError {
    match &error {
        error if error.is_empty_query() => ApiError::invalid("missing required 'query' value"),
        Error::Options(error) => ApiError::invalid(error.message()),
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
