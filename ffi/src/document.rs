//! Documents that are prepared once and asked often.

use std::ffi::c_char;
use std::ptr;

use ::engine::trace::Detail;
use ::engine::{ExplainOptions, Input, PreparedDocument, Value as EngineValue, json};

use crate::argument::{self, arguments, refused};
use crate::bytes::{Bytes, Text};
use crate::decision;
use crate::engine::Engine;
use crate::error::Error;
use crate::explanation::{self, DetailLevel, Explanation, Told};
use crate::guard::guard;
use crate::request::{Asked, Request};
use crate::value::Value;

/// A prepared document. Several threads may ask it at once; it follows its engine, which it keeps alive.
pub struct Document {
    prepared: PreparedDocument,
    engine: ::engine::Engine,
}

/// Prepares the document at a path below `data`, like `authz/allow`. A path that leads nowhere is undefined when asked.
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
            prepared: engine.0.prepare_document_at(&path)?,
            engine: engine.0.clone(),
        });
        Ok(())
    })
}

/// The same for a path that somebody is to have written something for: `SOLON_ERROR_UNKNOWN_PATH` where there is neither a
/// rule nor data.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_prepare_known(
    engine: *const Engine,
    path: *const c_char,
    path_length: usize,
    out: *mut *mut Document,
) -> *mut Error {
    guard(|| {
        let (engine, path, out) = arguments!(handle(engine), text(path, path_length), output(out));
        out.give(Document {
            prepared: engine.0.prepare_existing_document(path)?,
            engine: engine.0.clone(),
        });
        Ok(())
    })
}

/// Frees a document that no thread uses any more; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_document_free(document: *mut Document) {
    // SAFETY: `solon_engine_prepare` made it of a box, and the caller frees it once
    unsafe { argument::free(document) };
}

/// Decides whether the document is exactly `true` for an input, JSON text; NULL leaves `input` undefined.
///
/// `*allowed` is `false` before anything else happens and stays so on every error: a NULL document, an input that is not JSON,
/// a limit, a bug of the engine. It is `true` only after a decision that is `true`; undefined and any other value are `false`.
/// Without an error no memory of the system is allocated.
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
    // SAFETY: the caller keeps the rules of the header
    unsafe { decision::decide(allowed, run) }
}

/// Evaluates the document and gives it as JSON.
///
/// The input is JSON; NULL leaves `input` undefined. When the document is undefined, `out->data` is NULL.
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

/// Asks the document by a request, and gives its value; NULL when it is undefined. The request may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_ask(
    document: *const Document,
    request: *const Request,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (document, mut asked, out) = unsafe {
            let document = argument::handle(document, "document")?;
            let asked = document.asked(request)?;
            (document, asked, argument::output(out, "out")?)
        };
        out.write(made(document.value(&mut asked)?));
        Ok(())
    })
}

/// Asks the document by a request, and gives it as JSON; `out->data` is NULL when it is undefined.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_ask_json(
    document: *const Document,
    request: *const Request,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (document, mut asked, out) = unsafe {
            let document = argument::handle(document, "document")?;
            let asked = document.asked(request)?;
            (document, asked, argument::output(out, "out")?)
        };
        out.write(Bytes::new(document.text(&mut asked)?));
        Ok(())
    })
}

/// Decides by a request, which may be NULL, whether the document is exactly `true`. `*allowed` is as for
/// `solon_document_allow`: `false` from the beginning and on every error.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_ask_allow(
    document: *const Document,
    request: *const Request,
    allowed: *mut bool,
) -> *mut Error {
    let run = || {
        // SAFETY: the caller keeps the rules of the header
        let (document, mut asked) = unsafe {
            let document = argument::handle(document, "document")?;
            (document, document.asked(request)?)
        };
        asked.answer(
            |request| document.prepared.allow(request),
            |request, search| {
                let watched = document
                    .prepared
                    .explain(request, ExplainOptions::new(Detail::Notes).search(search));
                Ok(watched.result? == Some(EngineValue::Bool(true)))
            },
        )
    };
    // SAFETY: the caller keeps the rules of the header
    unsafe { decision::decide(allowed, run) }
}

/// Asks the document for each of many inputs, JSON texts, on one moment. The request has no input, and may be NULL.
///
/// There is an answer for each input, which `solon_bytes_free` frees; `data` is NULL when it is undefined. With `errors`
/// there is an error beside each answer, or NULL; without it the first error ends it all, and there are no answers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_ask_many_json(
    document: *const Document,
    request: *const Request,
    inputs_json: *const Text,
    input_count: usize,
    answers: *mut Bytes,
    errors: *mut *mut Error,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        unsafe {
            let inputs = argument::list(inputs_json, input_count, "inputs_json")?;
            let inputs = inputs.iter().enumerate().map(|(at, text)| {
                let read = |name: &str| argument::bytes(text.data, text.length, name);
                let text = read("inputs_json").or_else(|_| read(&format!("inputs_json[{at}]")))?;
                Ok(text.map_or(Input::Undefined, Input::Json))
            });
            let inputs: Result<Vec<Input<'_>>, Error> = inputs.collect();
            let document = argument::handle(document, "document")?;
            let ask = |asked: &mut Asked<'_>| document.text(asked);
            let answers = (answers, Bytes::new as fn(_) -> _);
            document.ask_many(request, inputs?, ask, answers, errors)
        }
    })
}

/// The same for inputs that are values; NULL leaves `input` undefined. `solon_value_free` frees the answers, which are NULL
/// when they are undefined.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_ask_many(
    document: *const Document,
    request: *const Request,
    inputs: *const *const Value,
    input_count: usize,
    answers: *mut *mut Value,
    errors: *mut *mut Error,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        unsafe {
            let inputs = argument::list(inputs, input_count, "inputs")?;
            let inputs = inputs.iter().map(|input| {
                let input = input.as_ref();
                input.map_or(Input::Undefined, |input| Input::Value(&input.0))
            });
            let document = argument::handle(document, "document")?;
            let ask = |asked: &mut Asked<'_>| document.value(asked);
            let answers = (answers, made as fn(_) -> _);
            document.ask_many(request, inputs.collect(), ask, answers, errors)
        }
    })
}

/// Asks the document by a request, and tells how the answer was found. `detail` is one of `SOLON_DETAIL_…`. An evaluation
/// that ends with an error has an explanation, too; its accessors tell the error.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_document_explain(
    document: *const Document,
    request: *const Request,
    detail: DetailLevel,
    out: *mut *mut Explanation,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (document, mut asked, out) = unsafe {
            let document = argument::handle(document, "document")?;
            let asked = document.asked(request)?;
            (document, asked, argument::output(out, "out")?)
        };
        let detail = explanation::detail(detail)?;
        let told = asked.searched(|request, search| {
            document
                .prepared
                .explain(request, ExplainOptions::new(detail).search(search))
        });
        out.give(Explanation(Told::Document(told)));
        Ok(())
    })
}

/// The handle of a value, or NULL.
fn made(value: Option<EngineValue>) -> *mut Value {
    value.map_or(ptr::null_mut(), Value::boxed)
}

impl Document {
    /// # Safety
    /// As for [`Asked::read`].
    unsafe fn asked(&self, request: *const Request) -> Result<Asked<'_>, Error> {
        // SAFETY: by this function's contract
        unsafe { Asked::read(request, self.engine.limits()) }
    }

    fn value(&self, asked: &mut Asked<'_>) -> Result<Option<EngineValue>, Error> {
        asked.answer(
            |request| self.prepared.evaluate(request),
            |request, search| {
                let watched = self
                    .prepared
                    .explain(request, ExplainOptions::new(Detail::Notes).search(search));
                watched.result
            },
        )
    }

    fn text(&self, asked: &mut Asked<'_>) -> Result<Option<Vec<u8>>, Error> {
        asked.answer(
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

    /// Asks for each input, on one moment.
    ///
    /// # Safety
    /// As for [`Asked::read`]; `answers.0` is NULL or has a place for each input, and so has `errors`.
    unsafe fn ask_many<'a, R, T>(
        &'a self,
        request: *const Request,
        inputs: Vec<Input<'a>>,
        ask: impl Fn(&mut Asked<'_>) -> Result<Option<R>, Error>,
        (answers, give): (*mut T, fn(Option<R>) -> T),
        errors: *mut *mut Error,
    ) -> Result<(), Error> {
        if answers.is_null() && !inputs.is_empty() {
            return Err(argument::null("answers"));
        }
        let now = self.engine.snapshot();
        // SAFETY: by this function's contract
        let mut asked = unsafe { self.asked(request) }?;
        if !asked.is_without_input() {
            return Err(refused("the request has an input beside the many"));
        }
        let mut found = Vec::with_capacity(inputs.len());
        for input in inputs {
            asked.input = input;
            match asked.at(&now, &ask) {
                Err(error) if errors.is_null() => return Err(error),
                answer => found.push(answer),
            }
        }
        for (at, answer) in found.into_iter().enumerate() {
            let (answer, error) = match answer {
                Ok(answer) => (answer, ptr::null_mut()),
                Err(error) => (None, Box::into_raw(Box::new(error))),
            };
            // SAFETY: there is a place for each input, by this function's contract
            unsafe {
                answers.add(at).write(give(answer));
                if !errors.is_null() {
                    errors.add(at).write(error);
                }
            }
        }
        Ok(())
    }
}
