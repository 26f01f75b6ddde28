//! Documents that are prepared once and asked often.

use std::ffi::{c_char, c_int};

use ::engine::{PreparedDocument, V};

use crate::argument;
use crate::bytes::Bytes;
use crate::engine::Engine;
use crate::error::Error;
use crate::guard::{guard, guard_or};

/// A prepared document. Several threads may ask it at once; it follows its engine, which it keeps alive.
pub struct Document(PreparedDocument);

/// Prepares the document at a path below `data`, like `authz/allow`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_engine_prepare(
    engine: *const Engine,
    path: *const c_char,
    path_length: usize,
    out: *mut *mut Document,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules for handles and text
        let (engine, path) = unsafe {
            (
                argument::handle(engine, "engine")?,
                argument::text(path, path_length, "path")?,
            )
        };
        let out = argument::output(out, "out")?;
        let document = Document(engine.0.prepare_document(path)?);
        // SAFETY: not NULL, and the caller's to write
        unsafe { out.write(Box::into_raw(Box::new(document))) };
        Ok(())
    })
}

/// Frees a document that no thread uses any more; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_document_free(document: *mut Document) {
    // SAFETY: `solon_engine_prepare` made it of a box, and the caller frees it once
    unsafe { argument::free(document) };
}

/// Evaluates the document and gives it as JSON.
///
/// The input is JSON; NULL leaves `input` undefined. When the document is undefined, `out->data` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_document_evaluate_json(
    document: *const Document,
    input_json: *const c_char,
    input_json_length: usize,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules for handles and bytes
        let (document, request) = unsafe {
            (
                argument::handle(document, "document")?,
                argument::request(input_json, input_json_length, "input_json")?,
            )
        };
        let out = argument::output(out, "out")?;
        let answer = document.0.evaluate_json(&request)?;
        // SAFETY: not NULL, and the caller's to write
        unsafe { out.write(Bytes::new(answer)) };
        Ok(())
    })
}

/// Whether the document is `true`: 1 if it is, 0 if it is anything else or undefined, -1 where there is no answer
/// (a NULL document, an input that is not JSON, an evaluation that ended early). Whoever wants to know why asks
/// `solon_document_evaluate_json`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_document_allow(
    document: *const Document,
    input_json: *const c_char,
    input_json_length: usize,
) -> c_int {
    guard_or(-1, || {
        // SAFETY: the caller keeps the rules for handles and bytes
        let arguments = unsafe {
            (
                argument::handle(document, "document"),
                argument::request(input_json, input_json_length, "input_json"),
            )
        };
        let (Ok(document), Ok(request)) = arguments else {
            return -1;
        };
        let is_true = |value: V<'_>| matches!(value, V::Bool(true));
        match document.0.evaluate_with(&request, is_true) {
            Ok(allowed) => c_int::from(allowed.unwrap_or(false)),
            Err(_) => -1,
        }
    })
}

/// Gives back the memory that evaluations left to later ones: that of the pool and that of the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn solon_release_memory() {
    guard_or((), ::engine::release_memory);
}
