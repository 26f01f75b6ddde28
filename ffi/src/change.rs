//! Changes of modules and data that are applied atomically.

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

/// Collected changes that `solon_engine_apply` applies atomically. Only one thread at a time may use it.
#[derive(Default)]
pub struct Change(pub(crate) EngineChange);

/// Creates an empty change.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_change_new(out: *mut *mut Change) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Change::default());
        Ok(())
    })
}

/// Frees a change, applied or not; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_change_free(change: *mut Change) {
    // SAFETY: `solon_change_new` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(change) };
}

/// Adds the module, or replaces the module of that name. `rego` is one of `SOLON_REGO_…`.
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

/// Removes a module. If there is none of this name, applying the change fails with `resource_not_found`.
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

/// Writes a document at a path below `data`, and creates missing parent objects. The caller keeps the value.
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

/// Writes a document, JSON text, at a path below `data`, and creates missing parent objects.
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

/// Applies a JSON patch (RFC 6902) to the data, an array of operations. Each operation applies to the result of the previous one.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_change_patch_json(
    change: *mut Change,
    json: *const c_char,
    json_length: usize,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
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
        change.0.write(Operation::Remove, path, EngineValue::NULL);
        Ok(())
    })
}
