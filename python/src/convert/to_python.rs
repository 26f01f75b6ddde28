//! Converts values to Python objects.

use ::engine::Limits;
use ::engine::{Number, Value};
use ::engine::{Object, Set, json};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple, PyType};

use super::number::{self, Fractions};
use crate::error::{Family, conversion_error, from_engine};
use crate::guard::attached;
use crate::settings::Settings;

/// Converts a value to an object.
///
/// # Errors
/// `OutputError` if members or keys that differ in Rego, like `1` and `true`, are equal in Python.
pub fn to_python<'py>(
    py: Python<'py>,
    value: &Value,
    settings: Settings,
) -> PyResult<Bound<'py, PyAny>> {
    let writer = Writer {
        py,
        fractions: settings.fractions,
        frozen: false,
        depth: 0,
    };
    attached(py, || writer.write(value))
}

/// Converts JSON text that the engine wrote to an object.
///
/// # Errors
/// See [`to_python`].
pub fn json_to_python<'py>(
    py: Python<'py>,
    text: &str,
    settings: Settings,
) -> PyResult<Bound<'py, PyAny>> {
    let value = json::read(text.as_bytes()).map_err(|error| from_engine(py, &error.into()))?;
    to_python(py, &value, settings)
}

/// Maximum nesting of the created objects. It is limited because Python compares and prints objects recursively.
const NESTING: usize = 2 * Limits::NESTING;

#[derive(Clone, Copy)]
struct Writer<'py> {
    py: Python<'py>,
    fractions: Fractions,
    /// `true` if objects must be hashable, within a set or a key.
    frozen: bool,
    /// Number of enclosing collections.
    depth: usize,
}

impl<'py> Writer<'py> {
    fn frozen(self) -> Self {
        Self {
            frozen: true,
            ..self
        }
    }

    fn deeper(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }

    fn write(self, value: &Value) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let borrowed = value.borrow();
        if let Some(number) = borrowed.as_number() {
            return Ok(match number {
                Number::Int(int) => int.into_pyobject(py)?.into_any(),
                Number::Decimal(scale, coefficient) => {
                    number::decimal_object(py, scale, coefficient, self.fractions)?
                }
                Number::Text(text) => number::from_text(py, text, self.fractions)?,
            });
        }
        if let Some(text) = borrowed.as_text() {
            return Ok(PyString::new(py, &text.to_str()).into_any());
        }
        if let Some(boolean) = value.as_bool() {
            return Ok(PyBool::new(py, boolean).to_owned().into_any());
        }
        if self.depth == NESTING && !value.is_null() {
            let message = format!("nested deeper than {NESTING} levels");
            return Err(conversion_error(py, Family::Output, &message));
        }
        if let Some(items) = value.as_array() {
            let items = self.deeper().all(items)?;
            return Ok(if self.frozen {
                PyTuple::new(py, items)?.into_any()
            } else {
                PyList::new(py, items)?.into_any()
            });
        }
        if let Some(object) = value.as_object() {
            return self.deeper().object(object);
        }
        if let Some(set) = value.as_set() {
            return self.deeper().set(set);
        }
        Ok(py.None().into_bound(py))
    }

    fn all(self, items: &[Value]) -> PyResult<Vec<Bound<'py, PyAny>>> {
        items.iter().map(|item| self.write(item)).collect()
    }

    fn object(self, object: &Object) -> PyResult<Bound<'py, PyAny>> {
        static FROZEN: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let dict = PyDict::new(self.py);
        for (key, value) in object.iter() {
            dict.set_item(self.frozen().write(key)?, self.write(value)?)?;
        }
        self.same_size(dict.len(), object.len(), "keys of an object")?;
        if self.frozen {
            return FROZEN
                .import(self.py, "solon._frozen", "FrozenDict")?
                .call1((dict,));
        }
        Ok(dict.into_any())
    }

    fn set(self, set: &Set) -> PyResult<Bound<'py, PyAny>> {
        let items = self.frozen().all(set.items())?;
        let count = items.len();
        if self.frozen {
            let set = PyFrozenSet::new(self.py, items)?;
            self.same_size(set.len(), count, "members of a set")?;
            return Ok(set.into_any());
        }
        let set = PySet::new(self.py, items)?;
        self.same_size(set.len(), count, "members of a set")?;
        Ok(set.into_any())
    }

    /// Fails if members that are equal in Python would be lost.
    fn same_size(self, python: usize, rego: usize, kind: &str) -> PyResult<()> {
        if python == rego {
            return Ok(());
        }
        let message = format!("{kind} are equal in Python, like `1` and `true`, but not in Rego");
        Err(conversion_error(self.py, Family::Output, &message))
    }
}
