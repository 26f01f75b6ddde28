//! `solon.Change`: changes of modules and data that are applied atomically.

use std::sync::Mutex;

use ::engine::store::{Operation, PatchStep};
use ::engine::{Change as EngineChange, CheckOptions, Value, json};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::from_python;
use crate::error::from_engine;
use crate::guard::detached;
use crate::input::Text;
use crate::measures::Metrics;
use crate::options::version;
use crate::path;
use crate::shared::Shared;
use crate::snapshot::Snapshot;

/// Changes of modules and data that are applied atomically.
///
/// Used by ``with engine.change() as change:``. The change is applied at the end of the block, and discarded if the block raises.
#[pyclass(frozen, module = "solon")]
pub struct Change {
    shared: Shared,
    /// `None` after it was applied.
    change: Mutex<Option<EngineChange>>,
}

impl Change {
    pub fn new(shared: Shared) -> Self {
        Self {
            shared,
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
            None => Err(applied()),
        }
    }

    fn take_change(&self) -> Option<EngineChange> {
        let change = self.change.lock();
        change
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take()
    }
}

fn applied() -> PyErr {
    PyValueError::new_err("the change was applied already")
}

#[pymethods]
#[expect(
    clippy::needless_pass_by_value,
    reason = "text cannot be borrowed from an object of the stable ABI"
)]
impl Change {
    /// Adds the module, or replaces the module of that name; ``rego`` is ``"v0"`` or ``"v1"`` if it differs from the engine's.
    #[pyo3(signature = (name, text, *, rego=None))]
    pub fn set_module(&self, name: String, text: String, rego: Option<String>) -> PyResult<()> {
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

    /// Writes a document at a path below ``data``, and creates missing parent objects.
    fn put(&self, py: Python<'_>, path: String, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = path::path(py, &path)?;
        let value = from_python(value, self.shared.settings)?;
        self.add(|change| {
            change.put(path, value);
        })
    }

    /// Writes a document from JSON text, like ``put``.
    fn put_json(&self, py: Python<'_>, path: String, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = path::path(py, &path)?;
        let text = Text::of_str(text)?;
        let value = detached(py, || Ok(json::read(text.as_bytes())?))?;
        self.add(|change| {
            change.put(path, value);
        })
    }

    /// Removes a document.
    fn delete(&self, py: Python<'_>, path: String) -> PyResult<()> {
        let path = path::path(py, &path)?;
        self.add(|change| {
            change.write(Operation::Remove, path, Value::NULL);
        })
    }

    /// Loads files and folders into the change by OPA's rules, like ``Engine.load``.
    #[pyo3(signature = (*paths, ignore=Vec::new(), bundles=false))]
    fn load(
        &self,
        py: Python<'_>,
        paths: Vec<std::path::PathBuf>,
        ignore: Vec<String>,
        bundles: bool,
    ) -> PyResult<()> {
        let loaded = self.shared.loaded(py, &paths, &ignore, bundles)?;
        self.add(|change| {
            change.load(&loaded);
        })
    }

    /// Applies a JSON patch (RFC 6902), a list of dicts. Each operation applies to the result of the previous one.
    pub fn patch(&self, py: Python<'_>, operations: &Bound<'_, PyAny>) -> PyResult<()> {
        let patch = from_python(operations, self.shared.settings)?;
        let steps = PatchStep::parse(&patch).map_err(|error| from_engine(py, &error.into()))?;
        self.add(|change| {
            change.patch(steps);
        })
    }

    /// Checks the change without applying it, and returns the snapshot that it would create, which documents can be evaluated on.
    /// The change can still be applied.
    fn check(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let mut change = EngineChange::default();
        self.add(|change_of_self| change = change_of_self.clone())?;
        let snapshot = detached(py, || {
            self.shared.engine.check(change, CheckOptions::default())
        })?;
        let settings = self.shared.settings;
        Ok(Snapshot { snapshot, settings })
    }

    /// Applies the change atomically; on an exception nothing changes. ``with`` does so at its end. The times of parsing and
    /// compiling are added to ``metrics``.
    #[pyo3(signature = (*, metrics=None))]
    pub fn apply(&self, py: Python<'_>, metrics: Option<Py<Metrics>>) -> PyResult<()> {
        let change = self.take_change().ok_or_else(applied)?;
        let metrics = metrics.as_ref().map(Py::get);
        detached(py, || {
            Metrics::timing(metrics, |timer| {
                self.shared.engine.apply_with(|_| Ok(change), timer)
            })
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
        let change = self.take_change();
        if raised.is_none()
            && let Some(change) = change
        {
            detached(py, || self.shared.engine.apply(change))?;
        }
        Ok(false)
    }
}
