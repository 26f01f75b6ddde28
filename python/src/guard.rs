//! The one wall between Rust and Python: a panic becomes `solon.InternalError`, which an `except Exception` catches, where
//! pyo3's own exception for it would not.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::engine::{Error, panic_message};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::from_engine;

/// Asks the engine, while other threads of Python run.
///
/// What `ask` touches may be seen after a panic. The engine allows that: a change becomes visible as a whole, at its end.
pub fn detached<T: Send>(
    py: Python<'_>,
    ask: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    let answer = py.detach(|| catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(internal));
    answer.map_err(|error| from_engine(py, &error))
}

/// Runs an evaluation, detached or not.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(run)).or_else(internal)
}

/// Runs what needs Python's objects.
pub fn attached<T>(py: Python<'_>, run: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|payload| internal(payload).map_err(|error| from_engine(py, &error)))
}

/// The error of an object that was taken for a condition, which it would always pass. `instead` is what to use.
pub fn no_truth_value(class: &str, instead: &str) -> PyErr {
    PyTypeError::new_err(format!("solon.{class} has no truth value: {instead}"))
}

#[cold]
fn internal<T>(payload: Box<dyn Any + Send>) -> Result<T, Error> {
    Err(Error::Internal(panic_message(payload)))
}
