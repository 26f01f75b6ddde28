//! Inputs of decisions.

use ::engine::Value;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;

use crate::convert::from_python;
use crate::error::{Family, conversion_error};
use crate::settings::Settings;
use crate::undefined;

/// Converts an argument that may be missing. `None` is not missing: it is the value `null`.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the form that arguments are read by"
)]
pub fn given<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(Some(object.clone()))
}

/// A `str` or `bytes`, whose text is read without a copy.
pub enum Text {
    Str(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl Text {
    pub fn of_str(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = text.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone().into()));
        }
        Ok(Self::Str(text.extract()?))
    }

    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Str(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

pub enum Input {
    Undefined,
    Value(Value),
    Json(Text),
}

/// Size of JSON, in bytes, from which on the interpreter's lock is released while it is parsed.
const LARGE: usize = 8 << 10;

impl Input {
    /// Reads an object; a missing object and `UNDEFINED` leave `input` undefined.
    pub fn from_python(object: Option<&Bound<'_, PyAny>>, settings: Settings) -> PyResult<Self> {
        match object {
            Some(object) if !undefined::is_undefined(object) => {
                Ok(Self::Value(from_python(object, settings)?))
            }
            _ => Ok(Self::Undefined),
        }
    }

    /// Uses JSON text or bytes instead of an object.
    pub fn or_json(self, json: &Bound<'_, PyAny>) -> PyResult<Self> {
        if !matches!(self, Self::Undefined) {
            let message = "give either input or input_json";
            return Err(conversion_error(json.py(), Family::Input, message));
        }
        Ok(Self::Json(Text::of_str(json)?))
    }

    /// Returns `true` if parsing takes longer than releasing the interpreter's lock.
    pub fn is_large(&self) -> bool {
        matches!(self, Self::Json(text) if text.as_bytes().len() >= LARGE)
    }

    /// Adds the input to a request. JSON text is parsed when the request is evaluated.
    pub fn put<'i>(&'i self, request: ::engine::Request<'i>) -> ::engine::Request<'i> {
        match self {
            Self::Undefined => request,
            Self::Value(input) => request.input(input),
            Self::Json(text) => request.input_json(text.as_bytes()),
        }
    }
}
