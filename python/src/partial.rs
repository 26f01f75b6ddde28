//! `solon.Partial`: partial evaluation of a query.

use ::engine::{ExplainOptions, PreparedPartial, Residuals as EngineResiduals};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::asynchronous::{explain_on_pool, on_pool};
use crate::convert::json_to_python;
use crate::explanation::{Explanation, detail};
use crate::guard::no_truth_value;
use crate::input::given;
use crate::running::LatencyEstimate;
use crate::settings::Settings;
use crate::shared::Shared;

/// A query prepared for partial evaluation: call it with the known part of the input.
///
/// Created by ``Engine.partial``.
#[pyclass(frozen, module = "solon")]
pub struct Partial {
    prepared: PreparedPartial,
    text: String,
    shared: Shared,
}

impl Partial {
    pub fn new(prepared: PreparedPartial, text: String, shared: Shared) -> Self {
        Self {
            prepared,
            text,
            shared,
        }
    }
}

#[pymethods]
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments that are read by a function of their own are not lent"
)]
impl Partial {
    /// Returns the residuals; options are those of ``Document``.
    #[pyo3(signature = (input=None, **options))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Residuals> {
        let request = self.shared.request(input.as_ref(), options)?;
        let residuals = request.answer(
            py,
            &LatencyEstimate::slow(),
            |request| self.prepared.evaluate(request),
            |request, search| self.prepared.search(request, search),
        )?;
        Residuals::new(py, &residuals, self.shared.settings)
    }

    /// Returns the residuals and explains them, like ``Document.explain``.
    #[pyo3(signature = (input=None, *, detail="full", **options))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        detail: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Explanation> {
        let (request, detail) = (
            self.shared.request(input.as_ref(), options)?,
            self::detail(detail)?,
        );
        let explanation = request.searched(py, |request, search| {
            Ok(self
                .prepared
                .explain(request, ExplainOptions::new(detail).search(search)))
        })?;
        let settings = self.shared.settings;
        Explanation::new(py, &explanation, settings, |residuals| {
            Ok(Py::new(py, Residuals::new(py, residuals, settings)?)?.into_any())
        })
    }

    /// A call on another thread, as an awaitable. If the task is cancelled, the evaluation ends soon.
    #[pyo3(signature = (input=None, **options))]
    fn evaluate_async<'py>(
        slf: &Bound<'py, Self>,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        on_pool(slf.as_any(), input, options)
    }

    /// ``explain`` on another thread, as an awaitable.
    #[pyo3(signature = (input=None, *, detail="full", **options))]
    fn explain_async<'py>(
        slf: &Bound<'py, Self>,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        detail: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        explain_on_pool(slf.as_any(), input, detail, options)
    }

    /// Text of the query.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[expect(clippy::unused_self, reason = "Python calls it on the object")]
    fn __bool__(&self) -> PyResult<bool> {
        Err(no_truth_value(
            "Partial",
            "call it, or compare it with `None`",
        ))
    }

    fn __repr__(&self) -> String {
        format!("solon.Partial({:?})", self.text)
    }
}

/// Residuals of a query, which is true if one of ``queries`` is. If there are none, it is never true; an empty text among them is
/// always true.
#[pyclass(frozen, module = "solon")]
pub struct Residuals {
    queries: Vec<String>,
    support: Vec<String>,
    tree: Py<PyAny>,
}

impl Residuals {
    fn new(py: Python<'_>, residuals: &EngineResiduals, settings: Settings) -> PyResult<Self> {
        let text = residuals.json("support", solon_syntax::json::Options::default(), "");
        Ok(Self {
            queries: residuals.query_texts(),
            support: residuals.support_texts(),
            tree: json_to_python(py, &text, settings)?.unbind(),
        })
    }
}

#[pymethods]
impl Residuals {
    /// The residual queries, as Rego text.
    #[getter]
    fn queries(&self) -> Vec<String> {
        self.queries.clone()
    }

    /// The modules that the queries refer to, as Rego text.
    #[getter]
    fn support(&self) -> Vec<String> {
        self.support.clone()
    }

    /// Queries and modules as syntax trees in OPA's format.
    #[getter]
    fn tree(&self, py: Python<'_>) -> Py<PyAny> {
        self.tree.clone_ref(py)
    }

    #[expect(clippy::unused_self, reason = "Python calls it on the object")]
    fn __bool__(&self) -> PyResult<bool> {
        Err(no_truth_value("Residuals", "look at `queries`"))
    }

    fn __repr__(&self) -> String {
        format!("<solon.Residuals, {} queries>", self.queries.len())
    }
}
