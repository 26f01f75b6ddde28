//! Reading documents: `GET` and `POST /v1/data`, `POST /v0/data`, `POST /`.

use solon::internal::limits;
use solon::json::{self, Layout, Style, TooLong};
use solon::store::Path;
use solon::trace::{Detail, Metrics};

use super::ApiError;
use super::body::{self, Document};
use super::documents::Failure;
use super::error::message;
use super::explain;
use super::metrics::spelled;
use super::provenance::provenance;
use super::state::State;
use crate::http::{Fields, Request, Response, Status, segments};
use solon::internal::value::json::malformed as malformed_json;

/// `GET /v1/data/{path}`
pub fn get(state: &State, request: &Request<'_>) -> Result<Response, ApiError> {
    let text = request.params.last("input");
    let input = text.map(|text| Document::Json(text.as_bytes()));
    let answer = read(state, request, input.as_ref(), false);
    match (answer, text) {
        (Err(Failure::Input(_)), Some(text)) => {
            let words = malformed_json(text.as_bytes());
            Err(ApiError::invalid(format!(
                "parameter contains malformed input document: {words}"
            )))
        }
        (answer, _) => answer.map_err(malformed_body),
    }
}

/// `POST /v1/data/{path}`
pub fn post(state: &State, request: &Request<'_>) -> Result<Response, ApiError> {
    let input = body::enveloped(request)
        .map_err(Failure::Input)
        .map_err(malformed_body)?;
    let warn =
        state.options.spelling.is_opa() && body::is_without_input(request, &body::text(request));
    read(state, request, input.as_ref(), warn).map_err(malformed_body)
}

/// `POST /v0/data/{path}`: the body is the input, the answer is the document.
pub fn webhook(state: &State, request: &Request<'_>) -> Result<Response, ApiError> {
    bare(state, request, &path(request)?)
}

/// `POST /`: as [`webhook`] on the default decision.
pub fn default_decision(state: &State, request: &Request<'_>) -> Result<Response, ApiError> {
    let path = state.options.default_decision.trim_matches('/').split('/');
    bare(state, request, &Path::new(path))
}

/// The decoded segments of the path below the route.
pub fn path(request: &Request<'_>) -> Result<Path, ApiError> {
    let segments = request.below().and_then(segments);
    segments
        .map(Path::new)
        .ok_or_else(|| ApiError::invalid(format!("bad path: {}", request.path())))
}

fn malformed_body(failure: Failure) -> ApiError {
    match failure {
        Failure::Input(words) => {
            ApiError::invalid(format!("body contains malformed input document: {words}"))
        }
        Failure::Other(error) => error,
    }
}

fn read(
    state: &State,
    request: &Request<'_>,
    input: Option<&Document<'_>>,
    warn: bool,
) -> Result<Response, Failure> {
    let mut metrics = Metrics::default();
    metrics.since("rego_input_parse", request.received);
    if let Some(detail) = explain::detail(request) {
        return read_explained(state, request, input, warn, detail);
    }
    let start = std::time::Instant::now();
    let (document, known) = state.documents.get(state, request, &path(request)?)?;
    metrics.count("server_query_cache_hit", known.into());
    if !known {
        metrics.time("rego_query_parse", std::time::Duration::ZERO);
        metrics.since("rego_query_compile", start);
    }
    let sent = solon::SendMetrics::default();
    let mut asked = solon::Request::new()
        .strict_builtin_errors(request.params.flag("strict-builtin-errors"))
        .send_metrics(&sent);
    if let Some(input) = input {
        asked = input.as_input(asked);
    }
    let start = std::time::Instant::now();
    let pretty = request.pretty();
    let result = document.evaluate_text(state, request, asked, style(pretty, "  "))?;
    metrics.since("rego_query_eval", start);
    metrics.sent(&sent);
    let read = Read {
        explanation: None,
        result,
        warn,
    };
    Ok(read.answer(state, request, metrics))
}

/// The same by a search that tells its steps.
fn read_explained(
    state: &State,
    request: &Request<'_>,
    input: Option<&Document<'_>>,
    warn: bool,
    detail: Detail,
) -> Result<Response, Failure> {
    let mut metrics = Metrics::default();
    metrics.since("rego_input_parse", request.received);
    let start = std::time::Instant::now();
    let explained = explain::document(state, request, &path(request)?, input, detail)?;
    metrics.since("rego_query_eval", start);
    let mut result = None;
    if let Some(value) = &explained.value {
        let style = style(request.pretty(), "  ");
        let text = result.insert(Vec::new());
        json::write_within(value.borrow(), style, limits::ANSWER_BYTES, text)
            .map_err(|TooLong| ApiError::internal(message::EVALUATE))?;
    }
    // of what is undefined OPA shows the whole search, or nothing
    let shown = result.is_some() || detail == Detail::Full || !state.options.spelling.is_opa();
    let read = Read {
        explanation: shown.then_some(explained.explanation),
        result,
        warn,
    };
    Ok(read.answer(state, request, metrics))
}

/// A document that was read.
struct Read {
    explanation: Option<Vec<u8>>,
    /// The document as JSON text.
    result: Option<Vec<u8>>,
    /// Whether there was no input.
    warn: bool,
}

impl Read {
    fn answer(self, state: &State, request: &Request<'_>, mut metrics: Metrics) -> Response {
        metrics.since("server_handler", request.received);
        let mut answer = Fields::new(request.pretty());
        if request.params.flag("provenance") {
            answer.typed("provenance", &provenance(state.options.spelling));
        }
        if let Some(explanation) = self.explanation {
            answer.text("explanation", &explanation);
        }
        if request.params.flag("metrics") || request.params.flag("instrument") {
            answer.typed("metrics", &spelled(&metrics, state.options.spelling));
        }
        if let Some(result) = self.result {
            answer.text("result", &result);
        }
        if self.warn {
            answer.typed("warning", &MissingInput::default());
        }
        Response::json(Status::OK, answer.finish())
    }
}

/// What OPA adds when a request has no input; the specification knows no such field.
#[derive(serde::Serialize)]
struct MissingInput {
    code: &'static str,
    message: &'static str,
}

impl Default for MissingInput {
    fn default() -> Self {
        Self {
            code: "api_usage_warning",
            message: "'input' key missing from the request",
        }
    }
}

fn bare(state: &State, request: &Request<'_>, path: &Path) -> Result<Response, ApiError> {
    let malformed = |words: String| {
        ApiError::invalid(format!(
            "unexpected parse error for input: body contains malformed input document: {words}"
        ))
    };
    let input = body::document(request)
        .map_err(malformed)?
        .unwrap_or(Document::Json(b"null"));
    let (document, _) = state.documents.get(state, request, path)?;
    let style = style(request.pretty(), "");
    let asked = input.as_input(solon::Request::new());
    let mut answer = document.evaluate_text(state, request, asked, style);
    if let (Err(Failure::Input(_)), Document::Json(_)) = (&answer, &input) {
        // what follows the first value does not count
        let text = body::text(request);
        let first = body::first_json(&text).map_err(malformed)?;
        let asked = solon::Request::new().input_json(first.as_bytes());
        answer = document.evaluate_text(state, request, asked, style);
    }
    match answer {
        Ok(Some(mut result)) => {
            result.push(b'\n');
            Ok(Response::json(Status::OK, result))
        }
        Ok(None) => {
            let what = if document.has_rules() {
                "document undefined"
            } else {
                "document missing"
            };
            Err(ApiError::undefined(format!("{what}: {}", path.reference())))
        }
        Err(Failure::Input(words)) => Err(malformed(words)),
        Err(Failure::Other(error)) => Err(error),
    }
}

/// How a result is written; indented, every line but the first behind `prefix`.
pub(super) fn style(pretty: bool, prefix: &str) -> Style<'_> {
    let indent = "  ";
    let layout = pretty.then_some(Layout::new(prefix, indent));
    Style::default().html(true).layout(layout)
}
