//! `solon.Explanation`: a result and its explanation.

use ::engine::trace::{Detail, Spelling};
use ::engine::{Error, Explanation as EngineExplanation, TraceLines};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::convert::{json_to_python, to_python};
use crate::error::from_engine;
use crate::guard::no_truth_value;
use crate::settings::Settings;

/// A result and its explanation, step by step. ``str`` shows the steps; so do notebooks.
///
/// Created by ``Document.explain``, ``Query.explain`` and ``Partial.explain``.
#[pyclass(frozen, module = "solon")]
pub struct Explanation {
    result: Result<Py<PyAny>, Error>,
    lines: Vec<String>,
    json: Py<PyAny>,
}

/// Returns the detail of that name, or raises `ValueError` with the valid names.
pub fn detail(name: &str) -> PyResult<Detail> {
    Detail::from_name(name).ok_or_else(|| {
        PyValueError::new_err(format!(
            "detail must be \"full\", \"debug\", \"fails\" or \"notes\", not {name:?}"
        ))
    })
}

/// Converts the JSON of a value to an object.
pub fn json_of<'py>(
    py: Python<'py>,
    value: &impl Serialize,
    settings: Settings,
) -> PyResult<Bound<'py, PyAny>> {
    let value = ::engine::to_value(value);
    let value = value.map_err(|error| PyValueError::new_err(error.to_string()))?;
    to_python(py, &value, settings)
}

impl Explanation {
    /// Creates an explanation; `convert` converts its result to an object.
    pub fn new<T>(
        py: Python<'_>,
        explanation: &EngineExplanation<T>,
        settings: Settings,
        convert: impl FnOnce(&T) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Self> {
        let python_error = |error: Error| from_engine(py, &error);
        let lines = explanation
            .lines(TraceLines::default().locations(true))
            .map_err(python_error)?;
        let text = explanation.json(Spelling::Lower).map_err(python_error)?;
        let result = match &explanation.result {
            Ok(result) => Ok(convert(result)?),
            Err(error) => Err(error.clone()),
        };
        Ok(Self {
            result,
            lines,
            json: json_to_python(py, &text, settings)?.unbind(),
        })
    }
}

#[pymethods]
impl Explanation {
    /// The result; raises the exception that the evaluation ended with.
    #[getter]
    fn result(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &self.result {
            Ok(result) => Ok(result.clone_ref(py)),
            Err(error) => Err(from_engine(py, error)),
        }
    }

    /// The steps as human-readable lines, each with its file and row.
    #[getter]
    fn lines(&self) -> Vec<String> {
        self.lines.clone()
    }

    /// The steps in OPA's format: a list of dicts.
    #[getter]
    fn events(&self, py: Python<'_>) -> Py<PyAny> {
        self.json.clone_ref(py)
    }

    fn __str__(&self) -> String {
        self.lines.join("\n")
    }

    #[expect(clippy::unused_self, reason = "Python calls it on the object")]
    fn __bool__(&self) -> PyResult<bool> {
        Err(no_truth_value("Explanation", "use `result`"))
    }

    fn __repr__(&self) -> String {
        format!("<solon.Explanation, {} steps>", self.lines.len())
    }

    fn _repr_html_(&self) -> String {
        let mut html = String::from("<pre class=\"solon-explanation\">");
        for line in &self.lines {
            for c in line.chars() {
                match c {
                    '&' => html.push_str("&amp;"),
                    '<' => html.push_str("&lt;"),
                    '>' => html.push_str("&gt;"),
                    other => html.push(other),
                }
            }
            html.push('\n');
        }
        html.push_str("</pre>");
        html
    }
}
