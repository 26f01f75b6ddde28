//! Explanations of results.

use std::ffi::c_int;
use std::ptr;

use ::engine::trace::{Detail, Spelling};
use ::engine::{
    Error as EngineError, Explanation as EngineExplanation, Solution, TraceLines,
    Value as EngineValue,
};

use crate::argument::{self, argument_error, arguments};
use crate::bytes::Bytes;
use crate::error::Error;
use crate::guard::guard;
use crate::residuals::Residuals;
use crate::solutions::Solutions;
use crate::value::Value;

/// Level of detail of an explanation: one of `SOLON_DETAIL_…`.
pub type DetailLevel = i32;

/// All steps except unification.
pub const SOLON_DETAIL_FULL: DetailLevel = 0;
/// All steps.
pub const SOLON_DETAIL_DEBUG: DetailLevel = 1;
/// Failed expressions and the steps that lead to them.
pub const SOLON_DETAIL_FAILS: DetailLevel = 2;
/// Notes of `trace`, and the steps that lead to them.
pub const SOLON_DETAIL_NOTES: DetailLevel = 3;

/// A result and its explanation. Several threads may read it at once.
pub struct Explanation(pub(crate) AnyExplanation);

/// Explanation of each kind of evaluation.
pub(crate) enum AnyExplanation {
    Document(EngineExplanation<Option<EngineValue>>),
    Query(EngineExplanation<Vec<Solution>>),
    Partial(Box<EngineExplanation<::engine::Residuals>>),
}

/// Returns the detail of a constant.
pub(crate) fn detail(constant: DetailLevel) -> Result<Detail, Error> {
    Ok(match constant {
        SOLON_DETAIL_FULL => Detail::Full,
        SOLON_DETAIL_DEBUG => Detail::Debug,
        SOLON_DETAIL_FAILS => Detail::Fails,
        SOLON_DETAIL_NOTES => Detail::Notes,
        other => {
            let message = format!("`detail` is {other}: it must be one of SOLON_DETAIL_…");
            return Err(argument_error(message));
        }
    })
}

impl AnyExplanation {
    fn lines(&self, options: TraceLines) -> Result<Vec<String>, EngineError> {
        match self {
            Self::Document(explanation) => explanation.lines(options),
            Self::Query(explanation) => explanation.lines(options),
            Self::Partial(explanation) => explanation.lines(options),
        }
    }

    fn json(&self) -> Result<String, EngineError> {
        match self {
            Self::Document(explanation) => explanation.json(Spelling::Lower),
            Self::Query(explanation) => explanation.json(Spelling::Lower),
            Self::Partial(explanation) => explanation.json(Spelling::Lower),
        }
    }
}

fn wrong_kind(kind: &str) -> Error {
    argument_error(format!("the explanation is not that of a {kind}"))
}

/// Returns the result, or the error that the evaluation ended with.
fn answer<T>(explanation: &EngineExplanation<T>) -> Result<&T, Error> {
    explanation
        .result
        .as_ref()
        .map_err(|error| error.clone().into())
}

/// Returns the steps as human-readable lines, each ended by a line feed. With `places`, each line begins with its file and row.
/// With `variables`, each line shows the values of the variables.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_explanation_text(
    explanation: *const Explanation,
    places: c_int,
    variables: c_int,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        let (explanation, out) = arguments!(handle(explanation), output(out));
        let options = TraceLines::default()
            .locations(places != 0)
            .variables(variables != 0);
        let lines = explanation.0.lines(options)?;
        let text: String = lines.into_iter().map(|line| line + "\n").collect();
        out.write(Bytes::new(Some(text.into_bytes())));
        Ok(())
    })
}

/// Returns the steps as JSON, in the format of OPA's REST API.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_explanation_json(
    explanation: *const Explanation,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        let (explanation, out) = arguments!(handle(explanation), output(out));
        let text = explanation.0.json()?;
        out.write(Bytes::new(Some(text.into_bytes())));
        Ok(())
    })
}

/// Returns the value of the explained document, NULL if it is undefined, or the error that the evaluation ended with.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_explanation_value(
    explanation: *const Explanation,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        let (explanation, out) = arguments!(handle(explanation), output(out));
        let AnyExplanation::Document(explanation) = &explanation.0 else {
            return Err(wrong_kind("document"));
        };
        let value = answer(explanation)?.clone();
        out.write(value.map_or(ptr::null_mut(), Value::boxed));
        Ok(())
    })
}

/// Returns the solutions of the explained query, or the error that the evaluation ended with.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_explanation_solutions(
    explanation: *const Explanation,
    out: *mut *mut Solutions,
) -> *mut Error {
    guard(|| {
        let (explanation, out) = arguments!(handle(explanation), output(out));
        let AnyExplanation::Query(explanation) = &explanation.0 else {
            return Err(wrong_kind("query"));
        };
        out.give(Solutions(answer(explanation)?.clone()));
        Ok(())
    })
}

/// Returns the residuals of the explained query, or the error that the evaluation ended with.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_explanation_residuals(
    explanation: *const Explanation,
    out: *mut *mut Residuals,
) -> *mut Error {
    guard(|| {
        let (explanation, out) = arguments!(handle(explanation), output(out));
        let AnyExplanation::Partial(explanation) = &explanation.0 else {
            return Err(wrong_kind("partial query"));
        };
        out.give(Residuals::from_engine(answer(explanation)?));
        Ok(())
    })
}

/// Frees an explanation; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_explanation_free(explanation: *mut Explanation) {
    // SAFETY: it was created from a `Box`, and the caller frees it once
    unsafe { argument::free(explanation) };
}
