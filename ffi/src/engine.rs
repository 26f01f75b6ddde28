//! The engine: modules, data, decisions.

use std::ffi::c_char;
use std::sync::Arc;

use solon_host::SystemHost;

use crate::argument;
use crate::bytes::Bytes;
use crate::error::Error;
use crate::guard::guard;

/// A policy engine. Several threads may change it and ask it at once: a decision sees the modules and the data of
/// one moment, and never waits.
pub struct Engine(pub(crate) ::engine::Engine);

/// The handle of an engine that Rust made, with functions of its own perhaps, for C to ask.
impl From<::engine::Engine> for Engine {
    fn from(engine: ::engine::Engine) -> Self {
        Self(engine)
    }
}

/// Makes an engine without modules and data. Policies that ask for the time get the system's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_engine_new(out: *mut *mut Engine) -> *mut Error {
    guard(|| {
        let out = argument::output(out, "out")?;
        let engine = ::engine::Engine::builder()
            .host(Arc::new(SystemHost))
            .build();
        // SAFETY: not NULL, and the caller's to write
        unsafe { out.write(Box::into_raw(Box::new(Engine(engine)))) };
        Ok(())
    })
}

/// Frees an engine that no thread uses any more; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_engine_free(engine: *mut Engine) {
    // SAFETY: `solon_engine_new` made it of a box, and the caller frees it once
    unsafe { argument::free(engine) };
}

/// Adds a module, or replaces the one of that name, and compiles it together with the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_engine_set_module(
    engine: *const Engine,
    name: *const c_char,
    name_length: usize,
    text: *const c_char,
    text_length: usize,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules for handles and text
        let (engine, name, text) = unsafe {
            (
                argument::handle(engine, "engine")?,
                argument::text(name, name_length, "name")?,
                argument::text(text, text_length, "text")?,
            )
        };
        Ok(engine.0.set_module(name, text)?)
    })
}

/// Removes a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_engine_remove_module(
    engine: *const Engine,
    name: *const c_char,
    name_length: usize,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules for handles and text
        let (engine, name) = unsafe {
            (
                argument::handle(engine, "engine")?,
                argument::text(name, name_length, "name")?,
            )
        };
        Ok(engine.0.remove_module(name)?)
    })
}

/// Replaces all data by a JSON object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_engine_set_data_json(
    engine: *const Engine,
    json: *const c_char,
    json_length: usize,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules for handles and bytes
        let (engine, data) = unsafe {
            (
                argument::handle(engine, "engine")?,
                argument::value(json, json_length, "json")?,
            )
        };
        Ok(engine.0.put("/", data)?)
    })
}

/// Evaluates the document at a path below `data`, like `authz/allow`, and gives it as JSON.
///
/// The input is JSON; NULL leaves `input` undefined. When the document is undefined, `out->data` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_engine_evaluate_json(
    engine: *const Engine,
    path: *const c_char,
    path_length: usize,
    input_json: *const c_char,
    input_json_length: usize,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules for handles, text and bytes
        let (engine, path, request) = unsafe {
            (
                argument::handle(engine, "engine")?,
                argument::text(path, path_length, "path")?,
                argument::request(input_json, input_json_length, "input_json")?,
            )
        };
        let out = argument::output(out, "out")?;
        let document = engine.0.prepare_document(path)?;
        let answer = document.evaluate_json(&request)?;
        // SAFETY: not NULL, and the caller's to write
        unsafe { out.write(Bytes::new(answer)) };
        Ok(())
    })
}
