//! `solon.Snapshot`: a snapshot of policy and data.

use std::collections::BTreeMap;

use pyo3::prelude::*;

use crate::convert::to_python;
use crate::error::from_engine;
use crate::path;
use crate::settings::Settings;

/// Snapshot of the policy and the data of an engine, for several decisions on the same state: ``allow(input, snapshot=snapshot)``.
///
/// Created by ``Engine.snapshot`` and ``Change.check``.
#[pyclass(frozen, module = "solon")]
pub struct Snapshot {
    pub snapshot: ::engine::Snapshot,
    pub settings: Settings,
}

#[pymethods]
impl Snapshot {
    /// The number of changes of the engine before the snapshot.
    #[getter]
    fn generation(&self) -> u64 {
        self.snapshot.generation()
    }

    /// Texts of the modules, by name.
    #[getter]
    fn modules(&self) -> BTreeMap<String, String> {
        let modules = self.snapshot.modules();
        let texts = modules.map(|(name, module)| (name.to_owned(), module.source.text.to_string()));
        texts.collect()
    }

    /// Returns the data at a path; ``StoreError`` if there is none.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the stable ABI lends no text"
    )]
    fn get<'py>(&self, py: Python<'py>, path: String) -> PyResult<Bound<'py, PyAny>> {
        let path = path::path(py, &path)?;
        match self.snapshot.documents().read(&path) {
            Ok(value) => to_python(py, value, self.settings),
            Err(error) => Err(from_engine(py, &error.into())),
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "<solon.Snapshot, generation {}>",
            self.snapshot.generation()
        )
    }
}
