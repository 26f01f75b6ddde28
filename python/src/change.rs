//! `solon.Change`: modules and data that change as one.

use std::sync::Mutex;

use ::engine::store::{Operation, Path};
use ::engine::{Change as EngineChange, Value, Version};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::from_python;
use crate::guard::detached;

/// Changes of modules and data that are applied as one, or not at all.
///
/// Used by ``with engine.change() as change:``; at the end of the block all of it happens, and where the block raises nothing
/// does.
#[pyclass(frozen, module = "solon")]
pub struct Change {
    engine: ::engine::Engine,
    /// Nothing once it is applied.
    change: Mutex<Option<EngineChange>>,
}

impl Change {
    pub fn new(engine: ::engine::Engine) -> Self {
        Self {
            engine,
            change: Mutex::new(Some(EngineChange::default())),
        }
    }

    fn add(&self, add: impl FnOnce(&mut EngineChange)) -> PyResult<()> {
        let mut change = self
            .change
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match &mut *change {
            Some(change) => {
                add(change);
                Ok(())
            }
            None => Err(PyValueError::new_err("the change was applied already")),
        }
    }
}

#[pymethods]
#[expect(
    clippy::needless_pass_by_value,
    reason = "text cannot be borrowed from an object of the stable ABI"
)]
impl Change {
    /// Adds a module, or replaces the one of that name; ``rego`` is ``"v0"`` or ``"v1"`` where it differs from the engine's.
    #[pyo3(signature = (name, text, *, rego=None))]
    fn set_module(&self, name: String, text: String, rego: Option<String>) -> PyResult<()> {
        let version = rego.as_deref().map(version).transpose()?;
        self.add(|change| {
            match version {
                Some(version) => change.set_module_as(&name, &text, version),
                None => change.set_module(&name, &text),
            };
        })
    }

    /// Removes a module.
    fn remove_module(&self, name: String) -> PyResult<()> {
        self.add(|change| {
            change.remove_module(&name);
        })
    }

    /// Writes a document at a path with slashes below ``data``, making the objects around it.
    fn put(&self, path: String, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = from_python(value)?;
        self.add(|change| {
            change.put(Path::from_slashes(&path), value);
        })
    }

    /// Removes a document.
    fn delete(&self, path: String) -> PyResult<()> {
        self.add(|change| {
            change.write(Operation::Remove, Path::from_slashes(&path), Value::Null);
        })
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        raised: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let mut change = self
            .change
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let change = change.take();
        if raised.is_none()
            && let Some(change) = change
        {
            detached(py, || self.engine.apply(change))?;
        }
        Ok(false)
    }
}

/// The Rego version that a text names.
pub fn version(text: &str) -> PyResult<Version> {
    match text {
        "v0" => Ok(Version::V0),
        "v1" => Ok(Version::V1),
        other => Err(PyValueError::new_err(format!(
            "rego must be \"v0\" or \"v1\", not {other:?}"
        ))),
    }
}
