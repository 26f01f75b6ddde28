//! Outputs of decisions, which are `false` unless the policy returned `true`.

use crate::argument;
use crate::error::Error;
use crate::guard::guard;

/// Runs a decision. `*allowed` is `false` before `run` begins and after every error, and `true` only after `run` has returned
/// `true`.
///
/// # Safety
/// `allowed` is NULL, or writable by this call until it returns.
pub(crate) unsafe fn decide(
    allowed: *mut bool,
    run: impl FnOnce() -> Result<bool, Error>,
) -> *mut Error {
    if !allowed.is_null() {
        // SAFETY: not NULL, and the rest by this function's contract
        unsafe { allowed.write(false) };
    }
    guard(|| {
        // SAFETY: by this function's contract
        let output = unsafe { argument::output(allowed, "allowed") }?;
        if run()? {
            output.write(true);
        }
        Ok(())
    })
}
