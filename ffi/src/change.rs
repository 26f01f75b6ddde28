//! Changes of modules and data that happen as one.

use std::ffi::{c_char, c_int};

use ::engine::store::{Operation, Path};
use ::engine::{Change as EngineChange, Value, Version};

use crate::argument;
use crate::engine::Engine;
use crate::error::{Code, Error};
use crate::guard::guard;

/// Changes that are collected, and applied as one by `solon_engine_apply`. One thread at a time uses it.
#[derive(Default)]
pub struct Change(EngineChange);

/// Makes a change that changes nothing yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_change_new(out: *mut *mut Change) -> *mut Error {
    guard(|| {
        let out = argument::output(out, "out")?;
        // SAFETY: not NULL, and the caller's to write
        unsafe { out.write(Box::into_raw(Box::default())) };
        Ok(())
    })
}

/// Frees a change, applied or not; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_change_free(change: *mut Change) {
    // SAFETY: `solon_change_new` made it of a box, and the caller frees it once
    unsafe { argument::free(change) };
}

/// Adds a module, or replaces the one of that name. `rego` is the version of its language, 0 or 1; -1 is that of the engine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_change_set_module(
    change: *mut Change,
    name: *const c_char,
    name_length: usize,
    text: *const c_char,
    text_length: usize,
    rego: c_int,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules for handles and text
        let (change, name, text) = unsafe {
            (
                argument::handle_mut(change, "change")?,
                argument::text(name, name_length, "name")?,
                argument::text(text, text_length, "text")?,
            )
        };
        match rego {
            -1 => change.0.set_module(name, text),
            0 => change.0.set_module_as(name, text, Version::V0),
            1 => change.0.set_module_as(name, text, Version::V1),
            other => {
                let message = format!("`rego` is {other}: it must be -1, 0 or 1");
                return Err(Error::new(Code::SolonErrorArgument, message));
            }
        };
        Ok(())
    })
}

/// Removes a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_change_remove_module(
    change: *mut Change,
    name: *const c_char,
    name_length: usize,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules for handles and text
        let (change, name) = unsafe {
            (
                argument::handle_mut(change, "change")?,
                argument::text(name, name_length, "name")?,
            )
        };
        change.0.remove_module(name);
        Ok(())
    })
}

/// Writes a document, JSON text, at a path with slashes below `data`; the objects around it are made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_change_put_json(
    change: *mut Change,
    path: *const c_char,
    path_length: usize,
    json: *const c_char,
    json_length: usize,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules for handles, text and bytes
        let (change, path, value) = unsafe {
            (
                argument::handle_mut(change, "change")?,
                argument::text(path, path_length, "path")?,
                argument::value(json, json_length, "json")?,
            )
        };
        change.0.put(Path::from_slashes(path), value);
        Ok(())
    })
}

/// Removes a document.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_change_delete(
    change: *mut Change,
    path: *const c_char,
    path_length: usize,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules for handles and text
        let (change, path) = unsafe {
            (
                argument::handle_mut(change, "change")?,
                argument::text(path, path_length, "path")?,
            )
        };
        let path = Path::from_slashes(path);
        change.0.write(Operation::Remove, path, Value::Null);
        Ok(())
    })
}

/// Applies a change: all of it happens, and every decision sees all of it or nothing, or there is an error and nothing
/// happens. The change is empty then, either way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_engine_apply(
    engine: *const Engine,
    change: *mut Change,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules for handles
        let (engine, change) = unsafe {
            (
                argument::handle(engine, "engine")?,
                argument::handle_mut(change, "change")?,
            )
        };
        Ok(engine.0.apply(std::mem::take(&mut change.0))?)
    })
}
