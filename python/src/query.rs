//! `solon.Query`: a prepared query.

use ::engine::trace::Detail;
use ::engine::{ExplainOptions, PreparedQuery, Solution, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::asynchronous::{explain_on_pool, on_pool};
use crate::convert::to_python;
use crate::error::from_engine;
use crate::explanation::{Explanation, detail};
use crate::guard::no_truth_value;
use crate::input::given;
use crate::running::LatencyEstimate;
use crate::shared::Shared;

/// A prepared query: call it with an input. It follows changes of its engine and takes the same options as documents.
///
/// Created by ``Engine.query``.
#[pyclass(frozen, module = "solon")]
pub struct Query {
    prepared: PreparedQuery,
    text: String,
    shared: Shared,
}

impl Query {
    pub fn new(prepared: PreparedQuery, text: String, shared: Shared) -> Self {
        Self {
            prepared,
            text,
            shared,
        }
    }

    fn rows<'py>(&self, py: Python<'py>, rows: &[Solution]) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let is_true = |row: &&Solution| !row.values.contains(&Value::from(false));
        for row in rows.iter().filter(is_true) {
            list.append(self.bindings(py, row)?)?;
        }
        Ok(list)
    }

    fn bindings<'py>(&self, py: Python<'py>, row: &Solution) -> PyResult<Bound<'py, PyDict>> {
        let bindings = PyDict::new(py);
        for (name, value) in &row.bindings {
            bindings.set_item(&**name, to_python(py, value, self.shared.settings)?)?;
        }
        Ok(bindings)
    }
}

#[pymethods]
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments that are read by a function of their own are not lent"
)]
impl Query {
    /// Returns all solutions, each a dict of the query's variables, in the order of evaluation. If there are none, the list is
    /// empty: ``if engine.query("input.x > 1")(input):`` tests if the query is true.
    #[pyo3(signature = (input=None, **options))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let request = self.shared.request(input.as_ref(), options)?;
        let rows = request.answer(
            py,
            &LatencyEstimate::slow(),
            |request| self.prepared.solutions(request),
            |request, search| {
                let explained = self
                    .prepared
                    .explain(request, ExplainOptions::new(Detail::Notes).search(search));
                explained.result
            },
        );
        self.rows(py, &rows?)
    }

    /// Returns all solutions in the format of OPA's API: dicts of ``bindings``, of the ``values`` of the query's expressions, and
    /// of those ``expressions``, each with its ``text`` and ``location``. Here an expression may be false.
    #[pyo3(signature = (input=None, **options))]
    fn solutions<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let request = self.shared.request(input.as_ref(), options)?;
        let pinned = match request.snapshot() {
            Some(snapshot) => self.prepared.pin_to(snapshot),
            None => self.prepared.pin(),
        };
        let pinned = pinned.map_err(|error| from_engine(py, &error))?;
        let rows = request.answer(
            py,
            &LatencyEstimate::slow(),
            |request| pinned.solutions(request),
            |request, search| pinned.search(request, search.cross_check(true)),
        )?;
        let expressions = PyList::empty(py);
        for expression in pinned.expressions() {
            let (text, location) = (PyDict::new(py), PyDict::new(py));
            location.set_item("row", expression.row)?;
            location.set_item("col", expression.col)?;
            text.set_item("text", &expression.text)?;
            text.set_item("location", location)?;
            expressions.append(text)?;
        }
        let settings = self.shared.settings;
        let list = PyList::empty(py);
        for row in &rows {
            let solution = PyDict::new(py);
            let values = row.values.iter();
            let values = values.map(|value| to_python(py, value, settings));
            solution.set_item("bindings", self.bindings(py, row)?)?;
            solution.set_item("values", values.collect::<PyResult<Vec<_>>>()?)?;
            solution.set_item("expressions", &expressions)?;
            list.append(solution)?;
        }
        Ok(list)
    }

    /// Evaluates and explains the result, like ``Document.explain``.
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
        Explanation::new(py, &explanation, self.shared.settings, |rows| {
            Ok(self.rows(py, rows)?.into_any().unbind())
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

    /// ``solutions`` on another thread, as an awaitable.
    #[pyo3(signature = (input=None, **options))]
    fn solutions_async<'py>(
        slf: &Bound<'py, Self>,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        on_pool(&slf.getattr("solutions")?, input, options)
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
            "Query",
            "call it, or compare it with `None`",
        ))
    }

    fn __repr__(&self) -> String {
        format!("solon.Query({:?})", self.text)
    }
}
