//! Python objects to values.

use ::engine::Value;
use ::engine::internal::limits;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PySet,
    PyString, PyTuple,
};

use super::number;
use crate::error::{Family, refused};
use crate::guard::attached;

/// The value that an object is.
///
/// # Errors
/// `InputError`, with the place of what is refused.
pub fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    attached(object.py(), || {
        convert(object, 0).map_err(|fail| match fail {
            Fail::Raised(error) => error,
            Fail::Refused { message, mut path } => {
                path.reverse();
                let place = if path.is_empty() {
                    String::new()
                } else {
                    format!("at /{}: ", path.join("/"))
                };
                refused(object.py(), Family::Input, &format!("{place}{message}"))
            }
        })
    })
}

/// Why an object has no value.
enum Fail {
    /// Python raised while it was read.
    Raised(PyErr),
    /// It has none; the steps to it are collected on the way out, innermost first.
    Refused { message: String, path: Vec<String> },
}

impl Fail {
    fn refuse(message: impl Into<String>) -> Self {
        Self::Refused {
            message: message.into(),
            path: Vec::new(),
        }
    }

    fn below(mut self, step: impl FnOnce() -> String) -> Self {
        if let Self::Refused { path, .. } = &mut self {
            path.push(step());
        }
        self
    }
}

impl From<PyErr> for Fail {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

fn convert(object: &Bound<'_, PyAny>, depth: usize) -> Result<Value, Fail> {
    if let Ok(text) = object.cast::<PyString>() {
        return string(text);
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    // before int, of which it is a subclass
    if let Ok(boolean) = object.cast::<PyBool>() {
        return Ok(Value::Bool(boolean.is_true()));
    }
    if let Ok(int) = object.cast::<PyInt>() {
        return number::from_int(int)?.map_err(Fail::refuse);
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return number::from_float(float).map_err(Fail::refuse);
    }
    if depth == limits::NESTING {
        return Err(Fail::refuse(format!(
            "nested deeper than {} levels",
            limits::NESTING
        )));
    }
    let depth = depth + 1;
    if let Ok(dict) = object.cast::<PyDict>() {
        let pairs = dict.iter().map(|(key, value)| pair(&key, &value, depth));
        return Ok(Value::object(pairs.collect::<Result<_, _>>()?));
    }
    if let Ok(list) = object.cast::<PyList>() {
        return Ok(Value::array(items(list.iter(), depth)?));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return Ok(Value::array(items(tuple.iter(), depth)?));
    }
    if let Ok(set) = object.cast::<PySet>() {
        return Ok(Value::set(items(set.iter(), depth)?));
    }
    if let Ok(set) = object.cast::<PyFrozenSet>() {
        return Ok(Value::set(items(set.iter(), depth)?));
    }
    if let Some(decimal) = number::from_decimal(object)? {
        return decimal.map_err(Fail::refuse);
    }
    if object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>() {
        return Err(Fail::refuse(
            "bytes are no value of Rego; decode them to str first",
        ));
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        let mut pairs = Vec::new();
        for item in mapping.items()?.iter() {
            let (key, value) = item.extract()?;
            pairs.push(pair(&key, &value, depth)?);
        }
        return Ok(Value::object(pairs));
    }
    Err(Fail::refuse(format!(
        "an object of type `{}` is no value of Rego",
        object.get_type().fully_qualified_name()?
    )))
}

fn string(text: &Bound<'_, PyString>) -> Result<Value, Fail> {
    match text.to_cow() {
        Ok(text) => Ok(Value::string(&text)),
        Err(_) => Err(Fail::refuse(
            "a str with half of a surrogate pair is no value of Rego",
        )),
    }
}

fn pair(
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    depth: usize,
) -> Result<(Value, Value), Fail> {
    let step = || {
        key.str().map_or_else(
            |_| "?".to_owned(),
            |text| text.to_string_lossy().into_owned(),
        )
    };
    let converted = convert(key, depth).map_err(|fail| fail.below(step))?;
    let value = convert(value, depth).map_err(|fail| fail.below(step))?;
    Ok((converted, value))
}

fn items<'py>(
    objects: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
) -> Result<Vec<Value>, Fail> {
    objects
        .enumerate()
        .map(|(at, object)| convert(&object, depth).map_err(|fail| fail.below(|| at.to_string())))
        .collect()
}
