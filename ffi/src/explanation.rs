//! How answers were found.

use std::ffi::c_int;
use std::ptr;

use ::engine::trace::{Detail, Spelling};
use ::engine::{
    Error as EngineError, Explanation as EngineExplanation, Solution, Value as EngineValue,
};

use crate::argument::{self, arguments, refused};
use crate::bytes::Bytes;
use crate::error::Error;
use crate::guard::guard;
use crate::residuals::Residuals;
use crate::solutions::Solutions;
use crate::value::Value;

/// The steps that an explanation has: one of `SOLON_DETAIL_…`.
pub type DetailLevel = i32;

/// Every step but unification.
pub const SOLON_DETAIL_FULL: DetailLevel = 0;
/// Every step.
pub const SOLON_DETAIL_DEBUG: DetailLevel = 1;
/// What failed, and the way to it.
pub const SOLON_DETAIL_FAILS: DetailLevel = 2;
/// What `trace` says, and where it was called.
pub const SOLON_DETAIL_NOTES: DetailLevel = 3;

/// An answer and how it was found. Several threads may read it at once.
pub struct Explanation(pub(crate) Told);

/// What was asked.
pub(crate) enum Told {
    Document(EngineExplanation<Option<EngineValue>>),
    Query(EngineExplanation<Vec<Solution>>),
    Partial(Box<EngineExplanation<::engine::Residuals>>),
}

/// The detail that a constant names.
pub(crate) fn detail(constant: DetailLevel) -> Result<Detail, Error> {
    Ok(match constant {
        SOLON_DETAIL_FULL => Detail::Full,
        SOLON_DETAIL_DEBUG => Detail::Debug,
        SOLON_DETAIL_FAILS => Detail::Fails,
        SOLON_DETAIL_NOTES => Detail::Notes,
        other => {
            let message = format!("`detail` is {other}: it must be one of SOLON_DETAIL_…");
            return Err(refused(message));
        }
    })
}

impl Told {
    fn lines(&self, places: bool, variables: bool) -> Result<Vec<String>, EngineError> {
        match self {
            Self::Document(told) => told.lines(places, variables),
            Self::Query(told) => told.lines(places, variables),
            Self::Partial(told) => told.lines(places, variables),
        }
    }

    fn json(&self) -> Result<String, EngineError> {
        match self {
            Self::Document(told) => told.json(Spelling::Lower),
            Self::Query(told) => told.json(Spelling::Lower),
            Self::Partial(told) => told.json(Spelling::Lower),
        }
    }
}

fn other(what: &str) -> Error {
    refused(format!("the explanation is not that of a {what}"))
}

/// The answer, or the error that the search ended with.
fn answer<T>(told: &EngineExplanation<T>) -> Result<&T, Error> {
    told.result.as_ref().map_err(|error| error.clone().into())
}

/// The steps as lines for people, each ended by a line feed. With `places` each begins with its file and row, with
/// `variables` each shows the values of the variables.
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
        let lines = explanation.0.lines(places != 0, variables != 0)?;
        let text: String = lines.into_iter().map(|line| line + "\n").collect();
        out.write(Bytes::new(Some(text.into_bytes())));
        Ok(())
    })
}

/// The steps as JSON, in the form of OPA's REST API.
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

/// The value of the document that was explained, NULL when it is undefined, or the error that the evaluation ended with.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_explanation_value(
    explanation: *const Explanation,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        let (explanation, out) = arguments!(handle(explanation), output(out));
        let Told::Document(told) = &explanation.0 else {
            return Err(other("document"));
        };
        let value = answer(told)?.clone();
        out.write(value.map_or(ptr::null_mut(), Value::boxed));
        Ok(())
    })
}

/// The solutions of the query that was explained, or the error that the evaluation ended with.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_explanation_solutions(
    explanation: *const Explanation,
    out: *mut *mut Solutions,
) -> *mut Error {
    guard(|| {
        let (explanation, out) = arguments!(handle(explanation), output(out));
        let Told::Query(told) = &explanation.0 else {
            return Err(other("query"));
        };
        out.give(Solutions(answer(told)?.clone()));
        Ok(())
    })
}

/// What the query that was explained depends on, or the error that the evaluation ended with.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_explanation_residuals(
    explanation: *const Explanation,
    out: *mut *mut Residuals,
) -> *mut Error {
    guard(|| {
        let (explanation, out) = arguments!(handle(explanation), output(out));
        let Told::Partial(told) = &explanation.0 else {
            return Err(other("partial query"));
        };
        out.give(Residuals::of(answer(told)?));
        Ok(())
    })
}

/// Frees an explanation; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_explanation_free(explanation: *mut Explanation) {
    // SAFETY: it was made of a box, and the caller frees it once
    unsafe { argument::free(explanation) };
}
