//! Native module of the Python package `solon`; `python/solon` is the package that users import.
//!
//! It contains no policy logic: it converts Python objects to values, calls the engine, and converts values to Python objects.

mod asynchronous;
mod bundle;
mod cancel;
mod change;
mod convert;
mod document;
mod engine;
mod error;
mod explanation;
mod filters;
mod format;
mod function;
mod guard;
mod input;
mod measures;
mod options;
mod partial;
mod path;
mod query;
mod request;
mod running;
mod settings;
mod shared;
mod snapshot;
mod stack;
#[cfg(feature = "testing")]
mod testing;
mod undefined;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Native module of `solon`.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<engine::Engine>()?;
    module.add_function(wrap_pyfunction!(format::format, module)?)?;
    module.add_class::<bundle::Bundle>()?;
    module.add_class::<change::Change>()?;
    module.add_class::<document::Document>()?;
    module.add_class::<query::Query>()?;
    module.add_class::<partial::Partial>()?;
    module.add_class::<partial::Residuals>()?;
    module.add_class::<filters::Filter>()?;
    module.add_class::<filters::Filters>()?;
    module.add_class::<snapshot::Snapshot>()?;
    module.add_class::<cancel::Cancel>()?;
    module.add_class::<explanation::Explanation>()?;
    module.add_class::<measures::Coverage>()?;
    module.add_class::<measures::Profile>()?;
    module.add_class::<measures::Metrics>()?;
    module.add_class::<undefined::UndefinedType>()?;
    #[cfg(feature = "testing")]
    module.setattr(
        "_faulty_engine",
        wrap_pyfunction!(testing::_faulty_engine, module)?,
    )?;
    module.add("UNDEFINED", undefined::get(module.py())?)
}
