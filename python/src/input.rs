//! What a decision is asked with.

use ::engine::{Request, Value};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::from_python;
use crate::error::{Family, refused};
use crate::undefined::UndefinedType;

/// The input of a decision.
pub enum Input {
    Undefined,
    Value(Value),
    Json(Vec<u8>),
}

impl Input {
    /// An object, or `UNDEFINED`.
    pub fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<UndefinedType>() {
            return Ok(Self::Undefined);
        }
        Ok(Self::Value(from_python(object)?))
    }

    /// One of an object and a JSON text.
    pub fn of(self, json: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(json) = json else {
            return Ok(self);
        };
        if !matches!(self, Self::Undefined) {
            let message = "give either input or input_json";
            return Err(refused(json.py(), Family::Input, message));
        }
        if let Ok(bytes) = json.cast::<PyBytes>() {
            return Ok(Self::Json(bytes.as_bytes().to_vec()));
        }
        Ok(Self::Json(json.extract::<String>()?.into_bytes()))
    }

    /// A request with it.
    pub fn request(&self) -> Request<'_> {
        match self {
            Self::Undefined => Request::new(),
            Self::Value(input) => Request::new().input(input),
            Self::Json(text) => Request::new().input_json(text),
        }
    }
}
