//! The compiled half of the Python package `solon`; `python/solon` is the half that people import.
//!
//! It holds no policy logic: Python objects become values, the engine decides, values become Python objects.

mod change;
mod convert;
mod document;
mod engine;
mod error;
mod guard;
mod input;
#[cfg(feature = "testing")]
mod testing;
mod undefined;

use pyo3::prelude::*;

/// The compiled half of `solon`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<engine::Engine>()?;
    module.add_class::<change::Change>()?;
    module.add_class::<document::Document>()?;
    module.add_class::<document::Query>()?;
    module.add_class::<undefined::UndefinedType>()?;
    #[cfg(feature = "testing")]
    module.setattr(
        "_faulty_engine",
        wrap_pyfunction!(testing::_faulty_engine, module)?,
    )?;
    module.add("UNDEFINED", undefined::get(module.py())?)
}
