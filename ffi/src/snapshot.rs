//! Snapshots of policy and data.

use std::ffi::c_char;

use ::engine::Error as EngineError;

use crate::argument::{self, arguments};
use crate::error::Error;
use crate::guard::{guard, guard_or};
use crate::value::Value;

/// Snapshot of the modules and the data of an engine. Several threads may use it at once. A request that names it is evaluated on
/// it instead of the current state.
pub struct Snapshot(pub(crate) ::engine::Snapshot);

/// Returns the number of changes before the snapshot; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_snapshot_generation(snapshot: *const Snapshot) -> u64 {
    guard_or(0, || {
        // SAFETY: the caller upholds the contract of the header
        unsafe { snapshot.as_ref() }.map_or(0, |snapshot| snapshot.0.generation())
    })
}

/// Returns the data at a path. The value lives as long as the snapshot. Fails with `SOLON_ERROR_STORE` if there
/// is none.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_snapshot_get(
    snapshot: *const Snapshot,
    path: *const c_char,
    path_length: usize,
    out: *mut *const Value,
) -> *mut Error {
    guard(|| {
        let (snapshot, path, out) =
            arguments!(handle(snapshot), path(path, path_length), output(out));
        let value = snapshot.0.documents().read(&path);
        out.write(Value::handle_of(value.map_err(EngineError::from)?));
        Ok(())
    })
}

/// Frees a snapshot; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_snapshot_free(snapshot: *mut Snapshot) {
    // SAFETY: it was created from a `Box`, and the caller frees it once
    unsafe { argument::free(snapshot) };
}
