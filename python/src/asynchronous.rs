//! Asynchronous variants of evaluating methods: the synchronous method runs on a thread of the event loop's pool.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::undefined;

/// Returns a coroutine that calls `evaluate` with an input and options.
pub fn on_pool<'py>(
    evaluate: &Bound<'py, PyAny>,
    input: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = evaluate.py();
    let input = match input {
        Some(input) => input,
        None => undefined::get(py)?.into_bound(py).into_any(),
    };
    let asynchronous = py.import("solon._asynchronous")?;
    asynchronous.call_method("call", (evaluate, input), options)
}

/// Returns a coroutine that calls the method `explain` of an object.
pub fn explain_on_pool<'py>(
    object: &Bound<'py, PyAny>,
    input: Option<Bound<'py, PyAny>>,
    detail: &str,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = match options {
        Some(options) => options.copy()?,
        None => PyDict::new(object.py()),
    };
    options.set_item("detail", detail)?;
    on_pool(&object.getattr("explain")?, input, Some(&options))
}
