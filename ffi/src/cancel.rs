//! Cancels evaluations from other threads.

use std::ffi::c_int;

use crate::argument::{self, arguments};
use crate::error::Error;
use crate::guard::{guard, guard_or};

/// Cancels the evaluations whose requests name it. Several threads may use it at once.
pub struct Cancel(pub(crate) ::engine::Cancel);

/// Creates a cancellation handle.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_cancel_new(out: *mut *mut Cancel) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Cancel(::engine::Cancel::default()));
        Ok(())
    })
}

/// Cancels all current and future evaluations whose requests name it. They fail with `SOLON_ERROR_CANCELLED`. Does nothing for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_cancel_cancel(cancel: *mut Cancel) {
    guard_or((), || {
        // SAFETY: the caller upholds the contract of the header
        if let Some(cancel) = unsafe { cancel.as_ref() } {
            cancel.0.cancel();
        }
    });
}

/// Returns 1 if it was cancelled, and 0 otherwise or for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_cancel_is_cancelled(cancel: *const Cancel) -> c_int {
    guard_or(0, || {
        // SAFETY: the caller upholds the contract of the header
        let cancel = unsafe { cancel.as_ref() };
        cancel.map_or(0, |cancel| c_int::from(cancel.0.is_cancelled()))
    })
}

/// Frees the handle, which no evaluation may still use; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_cancel_free(cancel: *mut Cancel) {
    // SAFETY: `solon_cancel_new` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(cancel) };
}
