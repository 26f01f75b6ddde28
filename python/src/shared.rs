//! State that an engine shares with the objects created from it.

use ::engine::QuerySource;
use ::engine::bundle::Loaded;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use solon_host::SystemFiles;

use crate::guard::detached;
use crate::measures::Metrics;
use crate::request::Request;
use crate::settings::Settings;

/// The engine and its conversion settings.
#[derive(Clone)]
pub struct Shared {
    pub engine: ::engine::Engine,
    pub settings: Settings,
}

impl Shared {
    /// Reads the arguments of a call.
    pub fn request(
        &self,
        input: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Request> {
        Request::read(input, options, self)
    }

    /// Reads files and folders.
    pub fn loaded(
        &self,
        py: Python<'_>,
        paths: &[std::path::PathBuf],
        ignore: &[String],
        bundles: bool,
    ) -> PyResult<Loaded> {
        let paths: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
        detached(py, || {
            let loader = self.engine.loader(&SystemFiles)?.ignore(ignore);
            Ok(if bundles {
                loader.load_bundles(&paths)?
            } else {
                loader.load(&paths)?
            })
        })
    }
}

/// Context of a query: names it may refer to, and functions it must not call.
pub struct Context {
    pub package: Option<String>,
    pub imports: Vec<String>,
    pub unsafe_builtins: Vec<String>,
    pub metrics: Option<Py<Metrics>>,
}

impl Context {
    /// Prepares a query in this context without the interpreter's lock, so that other Python threads run.
    pub fn prepare<R: Send>(
        &self,
        py: Python<'_>,
        text: &str,
        prepare: impl FnOnce(QuerySource<'_>) -> Result<R, ::engine::Error> + Send,
    ) -> PyResult<R> {
        let metrics = self.metrics.as_ref().map(Py::get);
        detached(py, || {
            Metrics::timing(metrics, |timer| {
                let mut source = QuerySource::new(text)
                    .imports(&self.imports)
                    .unsafe_builtins(&self.unsafe_builtins)
                    .timer(timer);
                source.package = self.package.as_deref();
                prepare(source)
            })
        })
    }
}
