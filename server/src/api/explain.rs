//! Explanations: answers with the steps that led to them.

use solon::Value;
use solon::store::Path;
use solon::trace::{Detail, Spelling};
use solon::{Error, Explanation, PreparedQuery};

use super::ApiError;
use super::body::Document;
use super::documents::Failure;
use super::evaluation::evaluate;
use super::state::State;
use crate::http::{Request, answer_text, escape_html, indent};

/// How much is asked to be told: the first value that is a published one.
pub fn detail(request: &Request<'_>) -> Option<Detail> {
    request.params.all("explain").find_map(Detail::named)
}

/// A document, if it is defined, and how it was found, as JSON text.
pub struct Explained {
    /// The document.
    pub value: Option<Value>,
    /// The steps.
    pub explanation: Vec<u8>,
}

/// Searches the document at a path.
pub fn document(
    state: &State,
    request: &Request<'_>,
    path: &Path,
    input: Option<&Document<'_>>,
    detail: Detail,
) -> Result<Explained, Failure> {
    if request.place.is_reactor() {
        return Err(ApiError::Elsewhere(None).into());
    }
    let mut asked =
        solon::Request::new().strict_builtin_errors(request.params.flag("strict-builtin-errors"));
    if let Some(input) = input {
        asked = input.as_input(asked);
    }
    let document = state
        .engine
        .prepare_document_at(path)
        .map_err(Failure::from)?;
    let explained = evaluate(state, request, &asked, |asked| {
        document.explain(asked, detail)
    });
    let explanation = steps(state, request, &explained).map_err(Failure::from)?;
    Ok(Explained {
        value: explained.answer.map_err(Failure::from)?,
        explanation,
    })
}

/// The solutions of a query, and how they were found, as JSON text.
pub fn query_steps(
    state: &State,
    request: &Request<'_>,
    query: &PreparedQuery,
    asked: &solon::Request<'_>,
    detail: Detail,
) -> Result<(Vec<solon::Solution>, Vec<u8>), Error> {
    let explained = evaluate(state, request, asked, |asked| query.explain(asked, detail));
    let steps = steps(state, request, &explained);
    Ok((explained.answer?, steps?))
}

/// The steps as JSON text: the lines of a trace for people, otherwise events.
fn steps<T>(
    state: &State,
    request: &Request<'_>,
    explained: &Explanation<T>,
) -> Result<Vec<u8>, Error> {
    if !request.pretty() {
        let spelling = if state.options.spelling.is_opa() {
            Spelling::Lower
        } else {
            Spelling::Title
        };
        return Ok(escape_html(explained.json(spelling)?.into_bytes()));
    }
    let mut lines = explained.lines(true, false)?;
    if lines.is_empty() {
        // an empty text has one line
        lines.push(String::new());
    }
    let text = answer_text(&lines, true);
    Ok(indent(text.trim_ascii_end(), 1))
}
