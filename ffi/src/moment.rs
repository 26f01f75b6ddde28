//! Moments: a policy and the data that belongs to it.

use std::ffi::c_char;

use crate::argument::{self, arguments};
use crate::error::Error;
use crate::guard::{guard, guard_or};
use crate::value::Value;

/// The modules and the data of an engine as they were when it was taken. Several threads may use it at once. A request
/// that names it asks it instead of what is current.
pub struct Moment(pub(crate) ::engine::Snapshot);

/// How many changes the engine had seen; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_moment_generation(moment: *const Moment) -> u64 {
    guard_or(0, || {
        // SAFETY: the caller keeps the rules of the header
        unsafe { moment.as_ref() }.map_or(0, |moment| moment.0.generation())
    })
}

/// The data at a path with slashes, which lives as long as the moment. `SOLON_ERROR_STORE` when there is none.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_moment_get(
    moment: *const Moment,
    path: *const c_char,
    path_length: usize,
    out: *mut *const Value,
) -> *mut Error {
    guard(|| {
        let (moment, path, out) = arguments!(handle(moment), text(path, path_length), output(out));
        out.write(Value::within(moment.0.read(path)?));
        Ok(())
    })
}

/// Frees a moment; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_moment_free(moment: *mut Moment) {
    // SAFETY: it was made of a box, and the caller frees it once
    unsafe { argument::free(moment) };
}
