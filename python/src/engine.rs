//! `solon.Engine`.

use std::sync::Arc;

use ::engine::{Request, Value};
use pyo3::prelude::*;
use solon_host::SystemHost;

use crate::convert::{Fractions, from_python, to_python};
use crate::error::from_engine;
use crate::undefined::{self, UndefinedType};

/// A policy engine: modules and data, asked from any number of threads.
///
/// With ``decimal=True`` numbers with a fraction or an exponent come back as ``decimal.Decimal``, exact to the last
/// digit, instead of as ``float``.
#[pyclass(frozen, module = "solon")]
pub struct Engine {
    engine: ::engine::Engine,
    fractions: Fractions,
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (*, strict=false, decimal=false))]
    fn new(strict: bool, decimal: bool) -> Self {
        Self {
            engine: ::engine::Engine::builder()
                .strict(strict)
                .host(Arc::new(SystemHost))
                .build(),
            fractions: if decimal {
                Fractions::Decimal
            } else {
                Fractions::Float
            },
        }
    }

    /// Adds a module, or replaces the one of that name, and compiles it together with the others.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "text cannot be borrowed from an object of the stable ABI"
    )]
    fn set_module(&self, py: Python<'_>, name: String, text: String) -> PyResult<()> {
        py.detach(|| self.engine.set_module(&name, &text))
            .map_err(|error| from_engine(py, &error))
    }

    /// Replaces all data by a dict.
    fn set_data(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = from_python(data)?;
        py.detach(|| self.engine.put("/", data))
            .map_err(|error| from_engine(py, &error))
    }

    /// The document at a path below ``data``, like ``"authz/allow"``; ``UNDEFINED`` when it has no value.
    ///
    /// Without ``input``, or with ``UNDEFINED``, ``input`` is undefined in the policy; ``None`` is its ``null``.
    #[pyo3(
        signature = (path, input=Input::Undefined),
        text_signature = "($self, path, input=UNDEFINED)"
    )]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "text cannot be borrowed from an object of the stable ABI"
    )]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        path: String,
        #[pyo3(from_py_with = Input::from_python)] input: Input,
    ) -> PyResult<Bound<'py, PyAny>> {
        let answer = py.detach(|| {
            let request = match &input {
                Input::Undefined => Request::new(),
                Input::Value(input) => Request::new().input(input),
            };
            self.engine.prepare_document(&path)?.evaluate(&request)
        });
        match answer {
            Ok(Some(value)) => to_python(py, &value, self.fractions),
            Ok(None) => Ok(undefined::get(py)?.into_bound(py).into_any()),
            Err(error) => Err(from_engine(py, &error)),
        }
    }
}

enum Input {
    Undefined,
    Value(Value),
}

impl Input {
    fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<UndefinedType>() {
            return Ok(Self::Undefined);
        }
        Ok(Self::Value(from_python(object)?))
    }
}
