//! Helpers for the tests of the package; not included in releases.

use ::engine::HostFunction;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::engine::Engine;
use crate::error::from_engine;
use crate::settings::Settings;

const POLICY: &str = "package t
panics := boom(input.x)
sound := input.x";

/// Returns an engine with a document whose evaluation panics, and one that works.
#[pyfunction]
pub fn _faulty_engine(py: Python<'_>) -> PyResult<Engine> {
    #[expect(clippy::panic, reason = "what a panic becomes is what is tested")]
    let boom = HostFunction::new("boom", "x: any => y: any", |_, _| panic!("injected"));
    let boom = boom.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let builder = ::engine::Engine::builder().function(boom);
    let engine = builder.map_err(|error| from_engine(py, &error))?.build();
    engine
        .set_module("t.rego", POLICY)
        .map_err(|error| from_engine(py, &error))?;
    Ok(Engine::from_engine(engine, Settings::read(false, None)?))
}
