//! Panic guard between Rust and Python: a panic becomes `solon.InternalError`. `except Exception` catches it, unlike pyo3's own
//! exception for panics.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::engine::{Error, InternalError, panic_message};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::from_engine;

/// Calls the engine without the interpreter's lock, so that other Python threads run.
///
/// State that `evaluate` changed may be used after a panic. The engine allows that, because a change becomes visible as a whole, when
/// it is complete.
pub fn detached<T: Send>(
    py: Python<'_>,
    evaluate: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(evaluate)).unwrap_or_else(internal));
    result.map_err(|error| from_engine(py, &error))
}

/// Runs an evaluation, with or without the interpreter's lock.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(run)).or_else(internal)
}

/// Runs a function that needs Python objects.
pub fn attached<T>(py: Python<'_>, run: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|payload| internal(payload).map_err(|error| from_engine(py, &error)))
}

/// Returns the error for an object that is used as a condition, where it would always be true. `instead` is the replacement.
pub fn no_truth_value(class: &str, instead: &str) -> PyErr {
    PyTypeError::new_err(format!("solon.{class} has no truth value: {instead}"))
}

#[cold]
fn internal<T>(payload: Box<dyn Any + Send>) -> Result<T, Error> {
    Err(Error::Internal(InternalError::new(panic_message(payload))))
}
