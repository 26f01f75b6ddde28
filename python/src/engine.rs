//! `solon.Engine`.

use std::sync::Arc;
use std::time::Duration;

use ::engine::store::Path;
use ::engine::{Capabilities, Host, Limits, OfflineHost};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use solon_host::SystemHost;

use crate::change::{Change, version};
use crate::convert::{Fractions, from_python, to_python};
use crate::document::{Document, Query};
use crate::guard::detached;
use crate::input::Input;
use crate::undefined;

/// A policy engine: modules and data, asked from any number of threads.
///
/// With ``decimal=True`` numbers with a fraction or an exponent come back as ``decimal.Decimal``, exact to the last
/// digit, instead of as ``float``. ``rego`` is the language of modules that do not say, ``"v1"`` or ``"v0"``. ``strict``
/// makes the checks of strict mode. A decision may take ``time_limit`` seconds (no bound unless given) and ``memory_limit``
/// bytes (1 GiB unless given). With ``offline=True`` policies reach no network: asking for it raises ``EvalError``.
/// ``capabilities`` is JSON text in OPA's form that says what policies may use.
#[pyclass(frozen, module = "solon")]
pub struct Engine {
    pub engine: ::engine::Engine,
    pub fractions: Fractions,
}

#[pymethods]
#[expect(
    clippy::needless_pass_by_value,
    reason = "text cannot be borrowed from an object of the stable ABI"
)]
impl Engine {
    #[new]
    #[pyo3(signature = (
        *, strict=false, decimal=false, rego=None, time_limit=None, memory_limit=None, offline=false, capabilities=None
    ))]
    fn new(
        strict: bool,
        decimal: bool,
        rego: Option<String>,
        time_limit: Option<f64>,
        memory_limit: Option<usize>,
        offline: bool,
        capabilities: Option<String>,
    ) -> PyResult<Self> {
        let mut limits = Limits::default();
        if let Some(seconds) = time_limit {
            let time = Duration::try_from_secs_f64(seconds);
            limits =
                limits.time(Some(time.map_err(|error| {
                    PyValueError::new_err(format!("time_limit: {error}"))
                })?));
        }
        if memory_limit.is_some() {
            limits = limits.memory(memory_limit);
        }
        let host: Arc<dyn Host> = if offline {
            Arc::new(OfflineHost)
        } else {
            Arc::new(SystemHost)
        };
        let mut builder = ::engine::Engine::builder()
            .strict(strict)
            .limits(limits)
            .host(host);
        if let Some(rego) = rego {
            builder = builder.version(version(&rego)?);
        }
        if let Some(text) = capabilities {
            let read = Capabilities::from_json(text.as_bytes());
            builder = builder.capabilities(
                read.map_err(|error| PyValueError::new_err(format!("capabilities: {error}")))?,
            );
        }
        Ok(Self {
            engine: builder.build(),
            fractions: if decimal {
                Fractions::Decimal
            } else {
                Fractions::Float
            },
        })
    }

    /// Adds a module, or replaces the one of that name, and compiles it together with the others.
    fn set_module(&self, py: Python<'_>, name: String, text: String) -> PyResult<()> {
        detached(py, || self.engine.set_module(&name, &text))
    }

    /// Adds or replaces several modules at once, a dict of texts by name: they may call one another.
    fn set_modules(
        &self,
        py: Python<'_>,
        modules: std::collections::BTreeMap<String, String>,
    ) -> PyResult<()> {
        let named = modules.iter();
        let named = named.map(|(name, text)| (name.as_str(), text.as_str()));
        detached(py, || self.engine.set_modules(named))
    }

    /// Removes a module.
    fn remove_module(&self, py: Python<'_>, name: String) -> PyResult<()> {
        detached(py, || self.engine.remove_module(&name))
    }

    /// The texts of all modules, by name.
    #[getter]
    fn modules(&self) -> std::collections::BTreeMap<String, String> {
        let modules = self.engine.modules().into_iter();
        let texts = modules.map(|(name, module)| (name, module.source.text.to_string()));
        texts.collect()
    }

    /// Replaces all data by a dict.
    fn set_data(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = from_python(data)?;
        detached(py, || self.engine.put("/", data))
    }

    /// Replaces all data by a JSON text.
    fn set_data_json(&self, py: Python<'_>, text: Vec<u8>) -> PyResult<()> {
        detached(py, || {
            let data = ::engine::json::read(&text)?;
            self.engine.put("/", data)
        })
    }

    /// The data at a path with slashes; ``StoreError`` when there is none.
    fn get<'py>(&self, py: Python<'py>, path: String) -> PyResult<Bound<'py, PyAny>> {
        let value = detached(py, || self.engine.read(&path))?;
        to_python(py, &value, self.fractions)
    }

    /// Writes data at a path with slashes, making the objects around it.
    fn put(&self, py: Python<'_>, path: String, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = from_python(value)?;
        detached(py, || self.engine.put(&path, value))
    }

    /// Removes the data at a path with slashes; ``StoreError`` when there is none.
    fn delete(&self, py: Python<'_>, path: String) -> PyResult<()> {
        detached(py, || self.engine.remove(&path))
    }

    /// Changes modules and data as one: ``with engine.change() as change:``.
    fn change(&self) -> Change {
        Change::new(self.engine.clone())
    }

    /// How many changes there were: it grows with each.
    #[getter]
    fn generation(&self) -> u64 {
        self.engine.generation()
    }

    /// Prepares a document, by its path (``"authz/allow"``) or its reference (``"data.authz.allow"``).
    ///
    /// With ``known=True`` a path below which there is neither a rule nor data raises ``SolonError``: it is misspelt.
    #[pyo3(signature = (document, *, known=false))]
    fn prepare(&self, py: Python<'_>, document: String, known: bool) -> PyResult<Document> {
        let path = Path::from_reference(&document);
        let path = path.unwrap_or_else(|| Path::from_slashes(&document));
        let text = path.segments().join("/");
        let prepared = detached(py, || {
            if known {
                self.engine.prepare_known_document(&text)
            } else {
                self.engine.prepare_document_at(&path)
            }
        });
        Ok(Document {
            prepared: prepared?,
            path: text,
            fractions: self.fractions,
        })
    }

    /// Prepares a query, like ``"x := data.roles[_]; x != input.role"``.
    fn query(&self, py: Python<'_>, text: String) -> PyResult<Query> {
        let query = detached(py, || self.engine.prepare_query(&text));
        Ok(Query {
            prepared: query?,
            text,
            fractions: self.fractions,
        })
    }

    /// The document at a path below ``data``, like ``"authz/allow"``; ``UNDEFINED`` when it has no value.
    ///
    /// Without ``input``, or with ``UNDEFINED``, ``input`` is undefined in the policy; ``None`` is its ``null``. What is asked
    /// often is better prepared.
    #[pyo3(
        signature = (path, input=Input::Undefined),
        text_signature = "($self, path, input=UNDEFINED)"
    )]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        path: String,
        #[pyo3(from_py_with = Input::from_python)] input: Input,
    ) -> PyResult<Bound<'py, PyAny>> {
        let answer = detached(py, || {
            self.engine
                .prepare_document(&path)?
                .evaluate(&input.request())
        });
        match answer? {
            Some(value) => to_python(py, &value, self.fractions),
            None => Ok(undefined::get(py)?.into_bound(py).into_any()),
        }
    }
}
