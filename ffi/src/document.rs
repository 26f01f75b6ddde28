//! Prepared documents.

use std::ffi::c_char;
use std::ptr;

use ::engine::trace::Detail;
use ::engine::{ExplainOptions, Input, PreparedDocument, Value as EngineValue, json};

use crate::argument::{self, argument_error, arguments};
use crate::bytes::{Bytes, Text};
use crate::decision;
use crate::engine::Engine;
use crate::error::Error;
use crate::explanation::{self, AnyExplanation, DetailLevel, Explanation};
use crate::guard::guard;
use crate::request::{Request, ValidRequest};
use crate::value::Value;

/// A prepared document. Several threads may evaluate it at once. It follows changes of its engine, and keeps the engine alive.
pub struct Document {
    prepared: PreparedDocument,
    engine: ::engine::Engine,
}

/// Prepares a document, like `data.authz.allow` or `authz/allow`. A document without a rule or data evaluates to undefined.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_prepare(
    engine: *const Engine,
    path: *const c_char,
    path_length: usize,
    out: *mut *mut Document,
) -> *mut Error {
    guard(|| {
        let (engine, path, out) = arguments!(handle(engine), path(path, path_length), output(out));
        out.give(Document {
            prepared: engine.0.document(&path),
            engine: engine.0.clone(),
        });
        Ok(())
    })
}

/// Prepares a document like `solon_engine_prepare`, but fails with `SOLON_ERROR_UNKNOWN_PATH` if the path has neither a rule nor
/// data.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_prepare_existing(
    engine: *const Engine,
    path: *const c_char,
    path_length: usize,
    out: *mut *mut Document,
) -> *mut Error {
    guard(|| {
        let (engine, path, out) = arguments!(handle(engine), path(path, path_length), output(out));
        out.give(Document {
            prepared: engine.0.document(&path).must_exist()?,
            engine: engine.0.clone(),
        });
        Ok(())
    })
}

/// Frees a document that no thread uses any more; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_document_free(document: *mut Document) {
    // SAFETY: `solon_engine_prepare` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(document) };
}

/// Decides if the document is exactly `true` for an input, JSON text; NULL leaves `input` undefined.
///
/// `*allowed` is set to `false` first and stays `false` on every error: a NULL document, invalid JSON, an exceeded limit, a bug
/// of the engine. It is `true` only after a decision that is `true`; undefined and any other value are `false`. A call that
/// succeeds allocates no heap memory.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_allow(
    document: *const Document,
    input_json: *const c_char,
    input_json_length: usize,
    allowed: *mut bool,
) -> *mut Error {
    let run = || {
        let (document, request) =
            arguments!(handle(document), request(input_json, input_json_length),);
        Ok(document.prepared.allow(&request)?)
    };
    // SAFETY: the caller upholds the contract of the header
    unsafe { decision::decide(allowed, run) }
}

/// Evaluates the document and returns it as JSON.
///
/// The input is JSON; NULL leaves `input` undefined. If the document is undefined, `out->data` is NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_evaluate_json(
    document: *const Document,
    input_json: *const c_char,
    input_json_length: usize,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        let (document, request, out) = arguments!(
            handle(document),
            request(input_json, input_json_length),
            output(out),
        );
        out.write(Bytes::new(document.prepared.evaluate_json(&request)?));
        Ok(())
    })
}

/// Evaluates the document for a request, which may be NULL, and returns its value; NULL if it is undefined.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_evaluate(
    document: *const Document,
    request: *const Request,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (document, mut valid_request, out) = unsafe {
            let document = argument::handle(document, "document")?;
            let valid_request = document.read_request(request)?;
            (document, valid_request, argument::output(out, "out")?)
        };
        out.write(boxed_or_null(document.value(&mut valid_request)?));
        Ok(())
    })
}

/// Evaluates the document for a request and returns it as JSON; `out->data` is NULL if it is undefined.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_evaluate_json_with(
    document: *const Document,
    request: *const Request,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (document, mut valid_request, out) = unsafe {
            let document = argument::handle(document, "document")?;
            let valid_request = document.read_request(request)?;
            (document, valid_request, argument::output(out, "out")?)
        };
        out.write(Bytes::new(document.text(&mut valid_request)?));
        Ok(())
    })
}

/// Decides if the document is exactly `true` for a request, which may be NULL. `*allowed` has the guarantees of
/// `solon_document_allow`: `false` from the start and on every error.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_allow_with(
    document: *const Document,
    request: *const Request,
    allowed: *mut bool,
) -> *mut Error {
    let run = || {
        // SAFETY: the caller upholds the contract of the header
        let (document, mut valid_request) = unsafe {
            let document = argument::handle(document, "document")?;
            (document, document.read_request(request)?)
        };
        valid_request.answer(
            |request| document.prepared.allow(request),
            |request, search| {
                let watched = document
                    .prepared
                    .explain(request, ExplainOptions::new(Detail::Notes).search(search));
                Ok(watched.result? == Some(EngineValue::from(true)))
            },
        )
    };
    // SAFETY: the caller upholds the contract of the header
    unsafe { decision::decide(allowed, run) }
}

/// Evaluates the document for many inputs, JSON texts, on one snapshot. The request has no input, and may be NULL.
///
/// Each input has a result, which `solon_bytes_free` frees; `data` is NULL if it is undefined. With `errors`, each input also has
/// an error or NULL. Without `errors`, the first error ends the call, and nothing is returned.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_evaluate_many_json(
    document: *const Document,
    request: *const Request,
    inputs_json: *const Text,
    input_count: usize,
    answers: *mut Bytes,
    errors: *mut *mut Error,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        unsafe {
            let inputs = argument::list(inputs_json, input_count, "inputs_json")?;
            let inputs = inputs.iter().enumerate().map(|(index, text)| {
                let read_text = |name: &str| argument::bytes(text.data, text.length, name);
                let text = read_text("inputs_json")
                    .or_else(|_| read_text(&format!("inputs_json[{index}]")))?;
                Ok(text.map_or(Input::Undefined, Input::Json))
            });
            let inputs: Result<Vec<Input<'_>>, Error> = inputs.collect();
            let document = argument::handle(document, "document")?;
            let evaluate = |valid_request: &mut ValidRequest<'_>| document.text(valid_request);
            let answers = (answers, Bytes::new as fn(_) -> _);
            document.evaluate_many(request, inputs?, evaluate, answers, errors)
        }
    })
}

/// Evaluates the document for many inputs that are values, like `solon_document_evaluate_many_json`; NULL leaves `input` undefined.
/// `solon_value_free` frees the results, which are NULL if they are undefined.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_evaluate_many(
    document: *const Document,
    request: *const Request,
    inputs: *const *const Value,
    input_count: usize,
    answers: *mut *mut Value,
    errors: *mut *mut Error,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        unsafe {
            let inputs = argument::list(inputs, input_count, "inputs")?;
            let inputs = inputs.iter().map(|input| {
                let input = input.as_ref();
                input.map_or(Input::Undefined, |input| Input::Value(&input.0))
            });
            let document = argument::handle(document, "document")?;
            let evaluate = |valid_request: &mut ValidRequest<'_>| document.value(valid_request);
            let answers = (answers, boxed_or_null as fn(_) -> _);
            document.evaluate_many(request, inputs.collect(), evaluate, answers, errors)
        }
    })
}

/// Evaluates the document for a request and explains the result. `detail` is one of `SOLON_DETAIL_…`. An evaluation that fails
/// has an explanation, too, whose accessors return the error.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_explain(
    document: *const Document,
    request: *const Request,
    detail: DetailLevel,
    out: *mut *mut Explanation,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (document, mut valid_request, out) = unsafe {
            let document = argument::handle(document, "document")?;
            let valid_request = document.read_request(request)?;
            (document, valid_request, argument::output(out, "out")?)
        };
        let detail = explanation::detail(detail)?;
        let explanation = valid_request.searched(|request, search| {
            document
                .prepared
                .explain(request, ExplainOptions::new(detail).search(search))
        });
        out.give(Explanation(AnyExplanation::Document(explanation)));
        Ok(())
    })
}

/// Returns the handle of a value, or NULL.
fn boxed_or_null(value: Option<EngineValue>) -> *mut Value {
    value.map_or(ptr::null_mut(), Value::boxed)
}

impl Document {
    /// # Safety
    /// See [`ValidRequest::read`].
    unsafe fn read_request(&self, request: *const Request) -> Result<ValidRequest<'_>, Error> {
        // SAFETY: by this function's contract
        unsafe { ValidRequest::read(request, self.engine.limits()) }
    }

    fn value(&self, valid_request: &mut ValidRequest<'_>) -> Result<Option<EngineValue>, Error> {
        valid_request.answer(
            |request| self.prepared.evaluate(request),
            |request, search| {
                let watched = self
                    .prepared
                    .explain(request, ExplainOptions::new(Detail::Notes).search(search));
                watched.result
            },
        )
    }

    fn text(&self, valid_request: &mut ValidRequest<'_>) -> Result<Option<Vec<u8>>, Error> {
        valid_request.answer(
            |request| self.prepared.evaluate_json(request),
            |request, search| {
                let watched = self
                    .prepared
                    .explain(request, ExplainOptions::new(Detail::Notes).search(search));
                Ok(watched.result?.map(|value| {
                    let mut text = Vec::new();
                    json::write(value.borrow(), &mut text);
                    text
                }))
            },
        )
    }

    /// Evaluates the document for each input, on one snapshot.
    ///
    /// # Safety
    /// See [`ValidRequest::read`]. `answers.0` is NULL or has an element for each input, and so has `errors`.
    unsafe fn evaluate_many<'a, R, T>(
        &'a self,
        request: *const Request,
        inputs: Vec<Input<'a>>,
        evaluate: impl Fn(&mut ValidRequest<'_>) -> Result<Option<R>, Error>,
        (answers, give): (*mut T, fn(Option<R>) -> T),
        errors: *mut *mut Error,
    ) -> Result<(), Error> {
        if answers.is_null() && !inputs.is_empty() {
            return Err(argument::null("answers"));
        }
        let now = self.engine.snapshot();
        // SAFETY: by this function's contract
        let mut valid_request = unsafe { self.read_request(request) }?;
        if !valid_request.is_without_input() {
            return Err(argument_error(
                "the request has an input in addition to the list of inputs",
            ));
        }
        let mut results = Vec::with_capacity(inputs.len());
        for input in inputs {
            valid_request.input = input;
            match valid_request.with_snapshot(&now, &evaluate) {
                Err(error) if errors.is_null() => return Err(error),
                result_of_input => results.push(result_of_input),
            }
        }
        for (index, result_of_input) in results.into_iter().enumerate() {
            let (value, error) = match result_of_input {
                Ok(value_of_input) => (value_of_input, ptr::null_mut()),
                Err(error) => (None, Box::into_raw(Box::new(error))),
            };
            // SAFETY: there is an element for each input, by this function's contract
            unsafe {
                answers.add(index).write(give(value));
                if !errors.is_null() {
                    errors.add(index).write(error);
                }
            }
        }
        Ok(())
    }
}
