//! `solon.Document` and `solon.Query`: what is prepared once and asked often.

use ::engine::{PreparedDocument, PreparedQuery, Solution, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::{Fractions, to_python};
use crate::guard::detached;
use crate::input::Input;
use crate::undefined;

/// A document that is prepared: call it with an input. It follows the engine: after a change it answers by what is new.
///
/// Made by ``Engine.prepare``.
#[pyclass(frozen, module = "solon")]
pub struct Document {
    pub prepared: PreparedDocument,
    pub path: String,
    pub fractions: Fractions,
}

#[pymethods]
impl Document {
    /// The document for an input; ``UNDEFINED`` when it has no value.
    ///
    /// ``input_json`` takes JSON text or bytes instead of an object. With ``strict_builtin_errors`` the first error of a
    /// built-in function raises ``EvalError``.
    #[pyo3(
        signature = (input=Input::Undefined, *, input_json=None, strict_builtin_errors=false)
    )]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = Input::from_python)] input: Input,
        input_json: Option<&Bound<'py, PyAny>>,
        strict_builtin_errors: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let input = input.of(input_json)?;
        let answer = detached(py, || {
            let request = input.request();
            self.prepared
                .evaluate(&request.strict_builtin_errors(strict_builtin_errors))
        });
        self.answer(py, answer?)
    }

    /// The document for each of many inputs, in their order, on one moment of the engine.
    fn many<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let inputs: PyResult<Vec<Input>> = inputs
            .try_iter()?
            .map(|input| Input::from_python(&input?))
            .collect();
        let inputs = inputs?;
        let bound = self.prepared.bind();
        let answers: PyResult<Vec<Option<Value>>> = detached(py, || {
            let answers = inputs.iter().map(|input| bound.evaluate(&input.request()));
            answers.collect()
        });
        let list = PyList::empty(py);
        for answer in answers? {
            list.append(self.answer(py, answer)?)?;
        }
        Ok(list)
    }

    /// The steps by which the document is found, as lines for people.
    #[pyo3(
        signature = (input=Input::Undefined, *, input_json=None),
        text_signature = "($self, input=UNDEFINED, *, input_json=None)"
    )]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = Input::from_python)] input: Input,
        input_json: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<String>> {
        let input = input.of(input_json)?;
        detached(py, || {
            let explained = self
                .prepared
                .explain(&input.request(), ::engine::trace::Detail::Full);
            explained.answer.as_ref().map_err(Clone::clone)?;
            explained.lines(true, false)
        })
    }

    /// The path below ``data``, with slashes.
    #[getter]
    fn path(&self) -> &str {
        &self.path
    }

    fn __repr__(&self) -> String {
        format!("solon.Document({:?})", self.path)
    }
}

impl Document {
    fn answer<'py>(&self, py: Python<'py>, answer: Option<Value>) -> PyResult<Bound<'py, PyAny>> {
        match answer {
            Some(value) => to_python(py, &value, self.fractions),
            None => Ok(undefined::get(py)?.into_bound(py).into_any()),
        }
    }
}

/// A query that is prepared: call it with an input. It follows the engine as documents do.
///
/// Made by ``Engine.query``.
#[pyclass(frozen, module = "solon")]
pub struct Query {
    pub prepared: PreparedQuery,
    pub text: String,
    pub fractions: Fractions,
}

#[pymethods]
impl Query {
    /// All solutions, each a dict of the query's variables, in the order they are found. Without one the list is empty:
    /// ``if engine.query("input.x > 1")(input):`` asks whether the query holds.
    #[pyo3(
        signature = (input=Input::Undefined, *, input_json=None, strict_builtin_errors=false)
    )]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = Input::from_python)] input: Input,
        input_json: Option<&Bound<'py, PyAny>>,
        strict_builtin_errors: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let input = input.of(input_json)?;
        let rows = detached(py, || {
            let request = input.request();
            self.prepared
                .solutions(&request.strict_builtin_errors(strict_builtin_errors))
        });
        let list = PyList::empty(py);
        let holds = |row: &Solution| !row.values.contains(&Value::Bool(false));
        for row in rows?.into_iter().filter(holds) {
            let bindings = PyDict::new(py);
            for (name, value) in &row.bindings {
                bindings.set_item(&**name, to_python(py, value, self.fractions)?)?;
            }
            list.append(bindings)?;
        }
        Ok(list)
    }

    /// The text.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("solon.Query({:?})", self.text)
    }
}
