//! Names of documents.

use ::engine::Path;
use pyo3::prelude::*;

use crate::error::from_engine;

/// Returns the path of a document from its name: a path with slashes, or a reference.
pub fn path(py: Python<'_>, name: &str) -> PyResult<Path> {
    name.parse()
        .map_err(|error: ::engine::PathError| from_engine(py, &error.into()))
}
