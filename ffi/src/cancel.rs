//! Stopping evaluations from other threads.

use std::ffi::c_int;

use crate::argument::{self, arguments};
use crate::error::Error;
use crate::guard::{guard, guard_or};

/// What stops the evaluations whose requests name it. Several threads may use it at once.
pub struct Cancel(pub(crate) ::engine::Cancel);

/// Makes something that evaluations can be stopped with.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_cancel_new(out: *mut *mut Cancel) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Cancel(::engine::Cancel::default()));
        Ok(())
    })
}

/// Stops every evaluation that was given it, now and later: they end with
/// `SOLON_ERROR_CANCELLED`. Nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_cancel_cancel(cancel: *const Cancel) {
    guard_or((), || {
        // SAFETY: the caller keeps the rules of the header
        if let Some(cancel) = unsafe { cancel.as_ref() } {
            cancel.0.cancel();
        }
    });
}

/// Whether it was told to stop: 1 or 0; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_cancel_is_cancelled(cancel: *const Cancel) -> c_int {
    guard_or(0, || {
        // SAFETY: the caller keeps the rules of the header
        let cancel = unsafe { cancel.as_ref() };
        cancel.map_or(0, |cancel| c_int::from(cancel.0.is_cancelled()))
    })
}

/// Frees it, when no evaluation has it any more; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_cancel_free(cancel: *mut Cancel) {
    // SAFETY: `solon_cancel_new` made it of a box, and the caller frees it once
    unsafe { argument::free(cancel) };
}
