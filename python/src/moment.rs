//! `solon.Moment`: policy and data as they were.

use std::collections::BTreeMap;

use pyo3::prelude::*;

use crate::convert::to_python;
use crate::error::from_engine;
use crate::settings::Settings;

/// The policy and the data of an engine at one moment, for decisions that are to rest on the same:
/// ``allow(input, moment=moment)``.
///
/// Made by ``Engine.moment`` and ``Change.check``.
#[pyclass(frozen, module = "solon")]
pub struct Moment {
    pub moment: ::engine::Snapshot,
    pub settings: Settings,
}

#[pymethods]
impl Moment {
    /// Which change of its engine led here.
    #[getter]
    fn generation(&self) -> u64 {
        self.moment.generation()
    }

    /// The texts of its modules, by name.
    #[getter]
    fn modules(&self) -> BTreeMap<String, String> {
        let modules = self.moment.modules();
        let texts = modules.map(|(name, module)| (name.to_owned(), module.source.text.to_string()));
        texts.collect()
    }

    /// The data at a path with slashes; ``StoreError`` when there is none.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the stable ABI lends no text"
    )]
    fn get<'py>(&self, py: Python<'py>, path: String) -> PyResult<Bound<'py, PyAny>> {
        match self.moment.read(&path) {
            Ok(value) => to_python(py, value, self.settings),
            Err(error) => Err(from_engine(py, &error)),
        }
    }

    fn __repr__(&self) -> String {
        format!("<solon.Moment, generation {}>", self.moment.generation())
    }
}
