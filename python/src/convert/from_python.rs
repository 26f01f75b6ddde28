//! Converts Python objects to values.

use ::engine::Limits;
use ::engine::Value;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PySet,
    PyString, PyTuple,
};

use super::number;
use super::objects::{self, Other};
use super::records::{self, NameMatch};
use crate::error::{Family, conversion_error};
use crate::guard::attached;
use crate::settings::Settings;

/// Converts an object to a value.
///
/// # Errors
/// `InputError`, with the path of the rejected object.
pub fn from_python(object: &Bound<'_, PyAny>, settings: Settings) -> PyResult<Value> {
    attached(object.py(), || {
        let reader = Reader { settings, depth: 0 };
        reader.convert(object).map_err(|fail| match fail {
            Fail::Raised(error) => error,
            Fail::Refused { message, mut path } => {
                path.reverse();
                let location = if path.is_empty() {
                    String::new()
                } else {
                    format!("at /{}: ", path.join("/"))
                };
                conversion_error(object.py(), Family::Input, &format!("{location}{message}"))
            }
        })
    })
}

/// Reason why an object cannot be converted.
pub(super) enum Fail {
    /// Python raised an exception during the conversion.
    Raised(PyErr),
    /// It has no value. The path is collected while the error propagates, innermost key first.
    Refused { message: String, path: Vec<String> },
}

impl Fail {
    pub(super) fn unsupported(message: impl Into<String>) -> Self {
        Self::Refused {
            message: message.into(),
            path: Vec::new(),
        }
    }

    fn within_step(mut self, step: impl FnOnce() -> String) -> Self {
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

#[derive(Clone, Copy)]
struct Reader {
    settings: Settings,
    /// Number of enclosing collections.
    depth: usize,
}

impl Reader {
    fn convert(self, object: &Bound<'_, PyAny>) -> Result<Value, Fail> {
        // Exact types are compared by address, and most objects have one of these types.
        if let Ok(text) = object.cast_exact::<PyString>() {
            return string(text);
        }
        if let Ok(int) = object.cast_exact::<PyInt>() {
            return number::from_int(int)?.map_err(Fail::unsupported);
        }
        if object.is_none() {
            return Ok(Value::NULL);
        }
        // `bool` has no subclasses.
        if let Ok(boolean) = object.cast::<PyBool>() {
            return Ok(Value::from(boolean.is_true()));
        }
        if let Ok(float) = object.cast_exact::<PyFloat>() {
            return number::from_float(float).map_err(Fail::unsupported);
        }
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            return self.nested()?.dict(dict);
        }
        if let Ok(list) = object.cast_exact::<PyList>() {
            return Ok(Value::array(self.nested()?.items(list.iter())?));
        }
        self.convert_subclass(object)
    }

    /// Converts an object into `target`. Returns `true` if Python code cannot have run. Plain strings and integers, the most
    /// frequent objects, are written in place: moving a value as a whole right after it was written field by field defeats store
    /// forwarding.
    #[inline]
    fn fill(self, target: &mut Value, object: &Bound<'_, PyAny>) -> Result<bool, Fail> {
        if let Ok(text) = object.cast_exact::<PyString>() {
            let text = text.to_str().map_err(|_| surrogate())?;
            *target = Value::string(text);
            return Ok(true);
        }
        if let Ok(int) = object.cast_exact::<PyInt>()
            && let Ok(small) = int.extract::<i64>()
        {
            *target = Value::from(small);
            return Ok(true);
        }
        *target = self.convert(object)?;
        Ok(false)
    }

    /// Returns the reader for the elements of a collection.
    fn nested(self) -> Result<Self, Fail> {
        if self.depth == Limits::NESTING {
            return Err(Fail::unsupported(format!(
                "nested deeper than {} levels",
                Limits::NESTING
            )));
        }
        Ok(Self {
            depth: self.depth + 1,
            ..self
        })
    }

    /// Converts an object of a subclass of these types, or of another class.
    fn convert_subclass(self, object: &Bound<'_, PyAny>) -> Result<Value, Fail> {
        if let Ok(text) = object.cast::<PyString>() {
            return string(text);
        }
        if let Ok(int) = object.cast::<PyInt>() {
            return number::from_int(int)?.map_err(Fail::unsupported);
        }
        if let Ok(float) = object.cast::<PyFloat>() {
            return number::from_float(float).map_err(Fail::unsupported);
        }
        let nested = self.nested()?;
        if let Ok(dict) = object.cast::<PyDict>() {
            return nested.dict(dict);
        }
        if let Ok(list) = object.cast::<PyList>() {
            return Ok(Value::array(nested.items(list.iter())?));
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return Ok(Value::array(nested.items(tuple.iter())?));
        }
        if let Ok(set) = object.cast::<PySet>() {
            return nested.set(set);
        }
        if let Ok(set) = object.cast::<PyFrozenSet>() {
            return Ok(Value::set(nested.items(set.iter())?));
        }
        if let Some(decimal) = number::from_decimal(object)? {
            return decimal.map_err(Fail::unsupported);
        }
        if object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>() {
            return Err(Fail::unsupported(
                "bytes cannot be converted to a Rego value; decode them to str first",
            ));
        }
        if let Ok(mapping) = object.cast::<PyMapping>() {
            let mut pairs = Vec::new();
            for item in mapping.items()?.iter() {
                let (key, value) = item.extract()?;
                pairs.push(nested.pair(&key, &value)?);
            }
            return Ok(Value::object(pairs));
        }
        match objects::other(object, self.settings)? {
            Other::Object(stand_in) => nested.convert(&stand_in),
            Other::Fields(fields) => {
                let pairs = fields.iter().map(|(name, value)| nested.pair(name, value));
                Ok(Value::object(pairs.collect::<Result<_, _>>()?))
            }
        }
    }

    fn dict(self, dict: &Bound<'_, PyDict>) -> Result<Value, Fail> {
        // Without the interpreter's lock, other threads could change it between two entries.
        with_critical_section(dict, || self.entries(dict))
    }

    fn entries(self, dict: &Bound<'_, PyDict>) -> Result<Value, Fail> {
        let (py, size) = (dict.py(), dict.len());
        let mut items = dict.iter();
        let Some(mut item) = items.next() else {
            return Ok(Value::object(Vec::new()));
        };
        let likely = records::likely(&item.0, size);
        let mut is_same = true;
        // For dicts without a record: the names, and the values in their order.
        let mut names = Vec::new();
        let mut values = Vec::new();
        let mut record = likely.map(|likely_record| (likely_record.unfilled(), likely_record));
        for index in 0.. {
            let (name, value) = &item;
            if let Some((object, likely_record)) = &mut record {
                let name_match = likely_record.knows(index, name);
                is_same &= name_match == NameMatch::Same;
                if name_match == NameMatch::No {
                    names.extend(likely_record.first(py, index));
                    values = likely_record.in_order(object.values(), index);
                    record = None;
                }
            }
            let target = match &mut record {
                Some((object, likely_record)) => likely_record
                    .value_at(object.values(), index)
                    .ok_or_else(changed_dict)?,
                None => {
                    names.push(name.clone());
                    values.push_mut(Value::NULL)
                }
            };
            let is_scalar = self.fill(target, value);
            let is_scalar = is_scalar.map_err(|fail| fail.within_step(|| text_of(name)))?;
            // Converting a collection may run code that changes the dict.
            if !is_scalar && dict.len() != size {
                return Err(changed_dict());
            }
            if index + 1 == size {
                break;
            }
            item = items.next().ok_or_else(changed_dict)?;
        }
        if let Some((object, likely_record)) = record {
            if !is_same {
                likely_record.miss(dict);
            }
            return Ok(Value::from(object.filled()));
        }
        if let Some(object) = records::read(&names, &mut values) {
            return Ok(Value::from(object));
        }
        let names = names.iter().map(|name| {
            let name_value = self.convert(name);
            name_value.map_err(|fail| fail.within_step(|| text_of(name)))
        });
        let names: Vec<_> = names.collect::<Result<_, _>>()?;
        Ok(Value::object(names.into_iter().zip(values).collect()))
    }

    fn set(self, set: &Bound<'_, PySet>) -> Result<Value, Fail> {
        // A copy, because converting a member may run code that changes the set.
        let items: Vec<_> = set.try_iter()?.collect::<PyResult<_>>()?;
        Ok(Value::set(self.items(items.into_iter())?))
    }

    fn pair(
        self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> Result<(Value, Value), Fail> {
        let step = || text_of(key);
        let converted = self.convert(key).map_err(|fail| fail.within_step(step))?;
        let value = self.convert(value).map_err(|fail| fail.within_step(step))?;
        Ok((converted, value))
    }

    fn items<'py>(
        self,
        objects: impl Iterator<Item = Bound<'py, PyAny>>,
    ) -> Result<Vec<Value>, Fail> {
        let convert = |(index, object): (usize, _)| {
            let value = self.convert(&object);
            value.map_err(|fail| fail.within_step(|| index.to_string()))
        };
        objects.enumerate().map(convert).collect()
    }
}

fn changed_dict() -> Fail {
    Fail::unsupported("the dict changed while it was read")
}

fn text_of(name: &Bound<'_, PyAny>) -> String {
    name.str().map_or_else(
        |_| "?".to_owned(),
        |text| text.to_string_lossy().into_owned(),
    )
}

fn string(text: &Bound<'_, PyString>) -> Result<Value, Fail> {
    let text = text.to_str().map_err(|_| surrogate())?;
    Ok(Value::string(text))
}

#[cold]
fn surrogate() -> Fail {
    Fail::unsupported("a str with a lone surrogate cannot be converted to a Rego value")
}
