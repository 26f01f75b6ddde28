//! Minimal Python wrapper of regorus, which Solon's Python module is compared with.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use regorus::Value;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Engine with one policy and one rule to evaluate.
#[pyclass(frozen)]
struct Engine {
    engine: Mutex<regorus::Engine>,
    rule: String,
}

fn failed(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (policy, data, rule))]
    fn new(policy: String, data: Option<&str>, rule: String) -> PyResult<Self> {
        let mut engine = regorus::Engine::new();
        let added = engine.add_policy("policy.rego".to_owned(), policy);
        added.map_err(failed)?;
        if let Some(data) = data {
            let data = Value::from_json_str(data).map_err(failed)?;
            engine.add_data(data).map_err(failed)?;
        }
        Ok(Self {
            engine: Mutex::new(engine),
            rule,
        })
    }

    /// Returns the value of the rule for an input object.
    fn evaluate<'py>(&self, input: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let value = self.ask(from_python(input)?)?;
        to_python(input.py(), &value)
    }

    /// Returns the value of the rule as JSON text, for an input as JSON text.
    fn evaluate_json(&self, input: &str) -> PyResult<String> {
        let value = self.ask(Value::from_json_str(input).map_err(failed)?)?;
        value.to_json_str().map_err(failed)
    }
}

impl Engine {
    fn ask(&self, input: Value) -> PyResult<Value> {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        engine.set_input(input);
        engine.eval_rule(self.rule.clone()).map_err(failed)
    }
}

fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::from(text.to_str()?));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(boolean) = object.cast::<PyBool>() {
        return Ok(Value::from(boolean.is_true()));
    }
    if let Ok(int) = object.cast::<PyInt>() {
        return Ok(Value::from(int.extract::<i64>()?));
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(Value::from(float.value()));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let pairs = dict.iter();
        let pairs = pairs.map(|(key, value)| Ok((from_python(&key)?, from_python(&value)?)));
        return Ok(Value::from(pairs.collect::<PyResult<BTreeMap<_, _>>>()?));
    }
    if let Ok(list) = object.cast::<PyList>() {
        let items = list.iter().map(|item| from_python(&item));
        return Ok(Value::from(items.collect::<PyResult<Vec<_>>>()?));
    }
    Err(PyTypeError::new_err("no value of Rego"))
}

fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Bool(boolean) => Ok(PyBool::new(py, *boolean).to_owned().into_any()),
        Value::Undefined | Value::Null => Ok(py.None().into_bound(py)),
        Value::String(text) => Ok(PyString::new(py, text).into_any()),
        // the compared policies return only the kinds above; any other value is returned as JSON text
        other => Ok(PyString::new(py, &other.to_json_str().map_err(failed)?).into_any()),
    }
}

/// Python module `regorus_wrapper`.
#[pymodule]
fn regorus_wrapper(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Engine>()
}
