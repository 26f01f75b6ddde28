//! Objects that are converted by their class: data classes, models, enumerations, dates.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDelta, PyString, PyType};

use super::from_python::Fail;
use crate::settings::{Datetimes, Settings};

/// Replacement that is converted instead of the object.
pub(super) enum Other<'py> {
    Object(Bound<'py, PyAny>),
    Fields(Fields<'py>),
}

/// Names and values of the fields of an object.
type Fields<'py> = Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>;

type Class = PyOnceLock<Py<PyType>>;

/// Returns the replacement of an object of a class that JSON does not have, such as an `Enum` or a `datetime`.
pub(super) fn other<'py>(
    object: &Bound<'py, PyAny>,
    settings: Settings,
) -> Result<Other<'py>, Fail> {
    static ENUM: Class = PyOnceLock::new();
    static DATE: Class = PyOnceLock::new();
    static DATETIME: Class = PyOnceLock::new();
    let py = object.py();
    if object.is_instance(ENUM.import(py, "enum", "Enum")?)? {
        return Ok(Other::Object(object.getattr("value")?));
    }
    if object.is_instance(DATETIME.import(py, "datetime", "datetime")?)? {
        return datetime(object, settings.datetimes).map(Other::Object);
    }
    if object.is_instance(DATE.import(py, "datetime", "date")?)? {
        return match settings.datetimes {
            Datetimes::Refused => Err(Fail::unsupported(DATETIMES)),
            _ => Ok(Other::Object(object.call_method0("isoformat")?)),
        };
    }
    // classes have these attributes, too, but are not values
    if !object.is_instance_of::<PyType>() {
        if object.hasattr("__dataclass_fields__")? {
            return fields(object).map(Other::Fields);
        }
        if object.hasattr("model_dump")? && object.hasattr("model_fields_set")? {
            return Ok(Other::Object(object.call_method0("model_dump")?));
        }
        if object.hasattr("__index__")? {
            let index = py.import("operator")?.getattr("index")?;
            return Ok(Other::Object(index.call1((object,))?));
        }
    }
    Err(Fail::unsupported(format!(
        "an object of type `{}` cannot be converted to a Rego value",
        object.get_type().fully_qualified_name()?
    )))
}

/// Returns names and values, without the copies that `dataclasses.asdict` makes.
fn fields<'py>(object: &Bound<'py, PyAny>) -> Result<Fields<'py>, Fail> {
    let fields = object.py().import("dataclasses")?;
    let fields = fields.call_method1("fields", (object,))?;
    let pair = |field: PyResult<Bound<'py, PyAny>>| {
        let name = field?.getattr("name")?;
        let value = object.getattr(name.cast::<PyString>().map_err(PyErr::from)?)?;
        Ok((name, value))
    };
    fields.try_iter()?.map(pair).collect()
}

const DATETIMES: &str = "dates and times cannot be converted to Rego values; create the engine with datetimes=\"rfc3339\" or \"ns\"";

fn datetime<'py>(object: &Bound<'py, PyAny>, policy: Datetimes) -> Result<Bound<'py, PyAny>, Fail> {
    if policy == Datetimes::Refused {
        return Err(Fail::unsupported(DATETIMES));
    }
    let py = object.py();
    if object.getattr("tzinfo")?.is_none() {
        return Err(Fail::unsupported(
            "a datetime without a time zone is ambiguous",
        ));
    }
    if policy == Datetimes::Rfc3339 {
        return Ok(object.call_method0("isoformat")?);
    }
    let module = py.import("datetime")?;
    let utc = module.getattr("timezone")?.getattr("utc")?;
    let epoch = module
        .getattr("datetime")?
        .call1((1970, 1, 1, 0, 0, 0, 0, utc))?;
    // a float of seconds would lose the microseconds
    let microsecond = PyDelta::new(py, 0, 0, 1, false)?;
    let microseconds = object.sub(epoch)?.floor_div(microsecond)?;
    Ok(microseconds.mul(1000)?)
}
