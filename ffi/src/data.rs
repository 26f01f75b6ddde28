//! The data of an engine.

use std::ffi::c_char;

use ::engine::store::{Operation, PatchStep};
use ::engine::{Change as EngineChange, Error as EngineError, Path, Value as EngineValue, json};

use crate::argument::{self, arguments};
use crate::bytes::Bytes;
use crate::engine::Engine;
use crate::error::Error;
use crate::guard::guard;
use crate::value::Value;

/// Parses the operations of a patch, a JSON array.
///
/// # Safety
/// See [`argument::bytes`].
pub(crate) unsafe fn patch(
    json: *const c_char,
    json_length: usize,
) -> Result<Vec<PatchStep>, Error> {
    // SAFETY: by this function's contract
    let patch = unsafe { argument::value(json, json_length, "json") }?;
    Ok(PatchStep::parse(&patch).map_err(EngineError::from)?)
}

/// Replaces all data with a JSON object.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_set_data_json(
    engine: *mut Engine,
    json: *const c_char,
    json_length: usize,
) -> *mut Error {
    guard(|| {
        let (engine, data) = arguments!(handle(engine), value(json, json_length));
        Ok(engine.0.put("data", data)?)
    })
}

/// Replaces all data with a YAML mapping, parsed as OPA parses YAML.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_set_data_yaml(
    engine: *mut Engine,
    yaml: *const c_char,
    yaml_length: usize,
) -> *mut Error {
    guard(|| {
        let (engine, data) = arguments!(handle(engine), yaml_value(yaml, yaml_length));
        Ok(engine.0.put("data", data)?)
    })
}

/// Returns the data at a path; the empty path is all data. Fails with `SOLON_ERROR_STORE` if there is none.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_get(
    engine: *const Engine,
    path: *const c_char,
    path_length: usize,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (value, out) = unsafe {
            (
                read(engine, path, path_length)?,
                argument::output(out, "out")?,
            )
        };
        out.give(Value(value));
        Ok(())
    })
}

/// Returns the data at a path as JSON, like `solon_engine_get`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_get_json(
    engine: *const Engine,
    path: *const c_char,
    path_length: usize,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (value, out) = unsafe {
            (
                read(engine, path, path_length)?,
                argument::output(out, "out")?,
            )
        };
        let mut text = Vec::new();
        json::write(value.borrow(), &mut text);
        out.write(Bytes::new(Some(text)));
        Ok(())
    })
}

/// # Safety
/// Same contract as the exported C functions.
unsafe fn read(
    engine: *const Engine,
    path: *const c_char,
    path_length: usize,
) -> Result<EngineValue, Error> {
    // SAFETY: by this function's contract
    let (engine, path) = unsafe {
        (
            argument::handle(engine, "engine")?,
            argument::path(path, path_length, "path")?,
        )
    };
    let snapshot = engine.0.data_snapshot();
    Ok(snapshot.read(&path).map_err(EngineError::from)?.clone())
}

/// Writes data at a path, and creates missing parent objects. The caller keeps the value.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_put(
    engine: *mut Engine,
    path: *const c_char,
    path_length: usize,
    value: *const Value,
) -> *mut Error {
    guard(|| {
        let (engine, path, value) =
            arguments!(handle(engine), path(path, path_length), handle(value),);
        put(engine, path, value.0.clone())
    })
}

/// Writes JSON as data at a path, and creates missing parent objects.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_put_json(
    engine: *mut Engine,
    path: *const c_char,
    path_length: usize,
    json: *const c_char,
    json_length: usize,
) -> *mut Error {
    guard(|| {
        let (engine, path, value) = arguments!(
            handle(engine),
            path(path, path_length),
            value(json, json_length),
        );
        put(engine, path, value)
    })
}

fn put(engine: &Engine, path: Path, value: EngineValue) -> Result<(), Error> {
    let mut change = EngineChange::default();
    change.put(path, value);
    Ok(engine.0.apply(change)?)
}

/// Applies a JSON patch (RFC 6902) to the data, an array of operations: all of them or, on an error, none.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_patch_json(
    engine: *mut Engine,
    json: *const c_char,
    json_length: usize,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (engine, steps) = unsafe {
            (
                argument::handle(engine, "engine")?,
                patch(json, json_length)?,
            )
        };
        let mut change = EngineChange::default();
        change.patch(steps);
        Ok(engine.0.apply(change)?)
    })
}

/// Removes the data at a path.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_delete(
    engine: *mut Engine,
    path: *const c_char,
    path_length: usize,
) -> *mut Error {
    guard(|| {
        let (engine, path) = arguments!(handle(engine), path(path, path_length));
        let mut change = EngineChange::default();
        change.write(Operation::Remove, path, EngineValue::NULL);
        Ok(engine.0.apply(change)?)
    })
}
