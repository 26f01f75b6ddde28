//! `solon.Filter`: the rows for which a rule is true, as a condition for a database.

use ::engine::{FilterQuery, PreparedFilters};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::asynchronous::on_pool;
use crate::convert::to_python;
use crate::guard::no_truth_value;
use crate::input::given;
use crate::running::LatencyEstimate;
use crate::shared::Shared;

/// A rule that is prepared to become a row filter: call it with the known part of the input.
///
/// Created by ``Engine.filters``.
#[pyclass(frozen, module = "solon")]
pub struct Filter {
    prepared: PreparedFilters,
    path: String,
    /// SQL condition that is never true.
    never_true: &'static str,
    shared: Shared,
}

impl Filter {
    pub fn new(
        prepared: PreparedFilters,
        path: String,
        never_true: &'static str,
        shared: Shared,
    ) -> Self {
        Self {
            prepared,
            path,
            never_true,
            shared,
        }
    }
}

#[pymethods]
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments that are read by a function of their own are not lent"
)]
impl Filter {
    /// Returns the filter for an input; options are those of ``Document``.
    #[pyo3(signature = (input=None, **options))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Filters> {
        let request = self.shared.request(input.as_ref(), options)?;
        let filters = request.answer(
            py,
            &LatencyEstimate::slow(),
            |request| self.prepared.compile(request),
            |request, _| self.prepared.compile(request),
        )?;
        let settings = self.shared.settings;
        let queries = PyDict::new(py);
        let parameters = PyDict::new(py);
        for filter in &filters.filters {
            let target = filter.target.to_string();
            let mut values = Vec::new();
            let query = match &filter.query {
                None if filter.target.is_sql() => {
                    Some(self.never_true.into_pyobject(py)?.into_any())
                }
                None => None,
                Some(FilterQuery::Sql(sql)) => {
                    for value in &sql.parameters {
                        values.push(to_python(py, value, settings)?);
                    }
                    Some(sql.text.as_str().into_pyobject(py)?.into_any())
                }
                Some(FilterQuery::Ucast(tree)) => Some(to_python(py, tree, settings)?),
            };
            queries.set_item(&target, query)?;
            parameters.set_item(&target, PyList::new(py, values)?)?;
        }
        let masks = filters.masks.as_ref();
        let masks = masks
            .map(|masks| to_python(py, masks, settings))
            .transpose()?;
        Ok(Filters {
            keeps: filters
                .filters
                .first()
                .is_some_and(|first| first.query.is_some()),
            queries: queries.unbind(),
            parameters: parameters.unbind(),
            masks: masks.map(Bound::unbind),
            hints: filters.hints.into_iter().map(|hint| hint.message).collect(),
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

    /// Path of the rule.
    #[getter]
    fn path(&self) -> &str {
        &self.path
    }

    #[expect(clippy::unused_self, reason = "Python calls it on the object")]
    fn __bool__(&self) -> PyResult<bool> {
        Err(no_truth_value(
            "Filter",
            "call it, or compare it with `None`",
        ))
    }

    fn __repr__(&self) -> String {
        format!("solon.Filter({:?})", self.path)
    }
}

/// Generated row filters, one for each target.
#[pyclass(frozen, module = "solon")]
pub struct Filters {
    keeps: bool,
    queries: Py<PyDict>,
    parameters: Py<PyDict>,
    masks: Option<Py<PyAny>>,
    hints: Vec<String>,
}

#[pymethods]
impl Filters {
    /// ``True`` if the filter for the first target can select any row.
    #[getter]
    fn keeps(&self) -> bool {
        self.keeps
    }

    /// The condition of the first target: SQL text, or a UCAST tree. It is empty if all rows are selected. If no row is selected,
    /// SQL is a condition that is never true, and UCAST is ``None``.
    #[getter]
    fn query<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        first(self.queries.bind(py))
    }

    /// The values of the placeholders of the first target, in order.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        first(self.parameters.bind(py))
    }

    /// The conditions by target.
    #[getter]
    fn queries(&self, py: Python<'_>) -> Py<PyDict> {
        self.queries.clone_ref(py)
    }

    /// The values of placeholders by target.
    #[getter]
    fn all_parameters(&self, py: Python<'_>) -> Py<PyDict> {
        self.parameters.clone_ref(py)
    }

    /// Masks of columns; ``None`` if nothing is masked or no row is selected.
    #[getter]
    fn masks(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.masks.as_ref().map(|masks| masks.clone_ref(py))
    }

    /// Suggestions for names that are not in the input.
    #[getter]
    fn hints(&self) -> Vec<String> {
        self.hints.clone()
    }

    #[expect(clippy::unused_self, reason = "Python calls it on the object")]
    fn __bool__(&self) -> PyResult<bool> {
        Err(no_truth_value("Filters", "use `keeps`"))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "<solon.Filters, {}>",
            self.queries.bind(py).repr()?
        ))
    }
}

fn first<'py>(all: &Bound<'py, PyDict>) -> Option<Bound<'py, PyAny>> {
    all.values().iter().next()
}
