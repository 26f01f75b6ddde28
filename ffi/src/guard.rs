//! Panic guard between Rust and C: no panic crosses it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::error::{Error, SOLON_ERROR_INTERNAL};

/// Runs a function that can fail. Returns NULL or the error.
///
/// State that `run` changed may be used after a panic. The engine allows that, because a change becomes visible as a whole, when
/// it is complete.
pub(crate) fn guard(run: impl FnOnce() -> Result<(), Error>) -> *mut Error {
    let error = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => return ptr::null_mut(),
        Ok(Err(error)) => error,
        Err(payload) => Error::new(SOLON_ERROR_INTERNAL, describe(payload)),
    };
    Box::into_raw(Box::new(error))
}

/// Runs a function that cannot report an error.
pub(crate) fn guard_or<T>(fallback: T, run: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result,
        Err(payload) => {
            drop(describe(payload));
            fallback
        }
    }
}

fn describe(payload: Box<dyn Any + Send>) -> String {
    format!("internal error: {}", engine::panic_message(payload))
}

#[cfg(test)]
#[allow(clippy::panic, reason = "panics are what is tested")]
mod tests {
    use super::*;
    use crate::error::{Code, SOLON_OK, solon_error_code, solon_error_free};

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    fn code_of(run: impl FnOnce() -> Result<(), Error>) -> Code {
        let error = guard(run);
        // SAFETY: the guard just returned it
        unsafe {
            let code = solon_error_code(error);
            solon_error_free(error);
            code
        }
    }

    #[test]
    fn panics_become_internal_errors() {
        assert_eq!(code_of(|| Ok(())), SOLON_OK);
        assert_eq!(code_of(|| panic!("text")), SOLON_ERROR_INTERNAL);
        assert_eq!(code_of(|| panic!("{}", "string")), SOLON_ERROR_INTERNAL);
        assert_eq!(
            code_of(|| std::panic::panic_any(Bomb)),
            SOLON_ERROR_INTERNAL,
            "even with a payload that panics when dropped"
        );
        assert_eq!(guard_or(7, || panic!("not shown")), 7);
    }
}
