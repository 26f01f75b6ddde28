//! Changes of modules and data that happen as one.

use std::ffi::c_char;

use ::engine::store::Operation;
use ::engine::{Change as EngineChange, Value as EngineValue};

use crate::argument::{self, arguments};
use crate::data;
use crate::error::Error;
use crate::guard::guard;
use crate::modules;
use crate::options::Rego;
use crate::value::Value;

/// Changes that are collected, and applied as one by `solon_engine_apply`. One thread at a time uses it.
#[derive(Default)]
pub struct Change(pub(crate) EngineChange);

/// Makes a change that changes nothing yet.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_change_new(out: *mut *mut Change) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Change::default());
        Ok(())
    })
}

/// Frees a change, applied or not; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_change_free(change: *mut Change) {
    // SAFETY: `solon_change_new` made it of a box, and the caller frees it once
    unsafe { argument::free(change) };
}

/// Adds a module, or replaces the one of that name. `rego` is one of `SOLON_REGO_…`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_change_set_module(
    change: *mut Change,
    name: *const c_char,
    name_length: usize,
    text: *const c_char,
    text_length: usize,
    rego: Rego,
) -> *mut Error {
    guard(|| {
        let (change, name, text) = arguments!(
            handle_mut(change),
            text(name, name_length),
            text(text, text_length),
        );
        modules::set(&mut change.0, name, text, rego)
    })
}

/// Removes a module.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_change_remove_module(
    change: *mut Change,
    name: *const c_char,
    name_length: usize,
) -> *mut Error {
    guard(|| {
        let (change, name) = arguments!(handle_mut(change), text(name, name_length));
        change.0.remove_module(name);
        Ok(())
    })
}

/// Writes a document at a path with slashes below `data`; the objects around it are made. The value stays the caller's.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_change_put(
    change: *mut Change,
    path: *const c_char,
    path_length: usize,
    value: *const Value,
) -> *mut Error {
    guard(|| {
        let (change, path, value) =
            arguments!(handle_mut(change), path(path, path_length), handle(value),);
        change.0.put(path, value.0.clone());
        Ok(())
    })
}

/// Writes a document, JSON text, at a path with slashes below `data`; the objects around it are made.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_change_put_json(
    change: *mut Change,
    path: *const c_char,
    path_length: usize,
    json: *const c_char,
    json_length: usize,
) -> *mut Error {
    guard(|| {
        let (change, path, value) = arguments!(
            handle_mut(change),
            path(path, path_length),
            value(json, json_length),
        );
        change.0.put(path, value);
        Ok(())
    })
}

/// Changes data by a JSON patch (RFC 6902), an array of operations, each of which sees what was changed before it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_change_patch_json(
    change: *mut Change,
    json: *const c_char,
    json_length: usize,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (change, steps) = unsafe {
            (
                argument::handle_mut(change, "change")?,
                data::patch(json, json_length)?,
            )
        };
        change.0.patch(steps);
        Ok(())
    })
}

/// Removes a document.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_change_delete(
    change: *mut Change,
    path: *const c_char,
    path_length: usize,
) -> *mut Error {
    guard(|| {
        let (change, path) = arguments!(handle_mut(change), path(path, path_length));
        change.0.write(Operation::Remove, path, EngineValue::Null);
        Ok(())
    })
}
