//! `solon.Document`: a prepared document.

use ::engine::trace::Detail;
use ::engine::{
    Error, ExplainOptions, PreparedDocument, Request as EngineRequest, SearchOptions, Value,
    ValueRef,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};

use crate::asynchronous::{explain_on_pool, on_pool};
use crate::convert::to_python;
use crate::explanation::{Explanation, detail};
use crate::guard::no_truth_value;
use crate::input::{Input, given};
use crate::request::Request;
use crate::running::{LatencyEstimate, Turn};
use crate::shared::Shared;
use crate::undefined;

/// Inputs of `evaluate_many` that are converted before they are evaluated. The values are short-lived, so that batches reuse the same
/// memory.
const BATCH: usize = 64;

/// A prepared document: call it with an input. It follows changes of its engine.
///
/// Created by ``Engine.prepare``. A call also takes these options:
///
/// - ``input_json``: JSON text or bytes instead of an object.
/// - ``strict_builtin_errors``: the first error of a built-in function raises ``EvalError``.
/// - ``snapshot``: the snapshot to evaluate.
/// - ``time_limit`` in seconds, ``step_limit``, ``memory_limit`` and ``explanation_limit`` in bytes.
/// - ``cancel``: cancels the evaluation.
/// - ``print``: called with each line that policies print.
/// - ``nd_cache``: a dict of results of non-deterministic functions; they are looked up in it, and added to it.
/// - ``metadata`` and ``response_metadata``: dicts that host functions read and fill.
/// - ``metrics``, ``coverage`` and ``profile``: measurements to add to.
#[pyclass(frozen, module = "solon")]
pub struct Document {
    prepared: PreparedDocument,
    path: String,
    shared: Shared,
    /// Converts results that are defined to the type of `prepare`.
    convert: Option<Py<PyAny>>,
    estimate: LatencyEstimate,
}

impl Document {
    pub fn new(
        prepared: PreparedDocument,
        path: String,
        shared: Shared,
        convert: Option<Py<PyAny>>,
    ) -> Self {
        let estimate = if prepared.may_block() {
            LatencyEstimate::slow()
        } else {
            LatencyEstimate::default()
        };
        Self {
            prepared,
            path,
            shared,
            convert,
            estimate,
        }
    }

    /// Evaluates the document for a request.
    pub fn evaluate_request<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
    ) -> PyResult<Bound<'py, PyAny>> {
        let result = request.answer(
            py,
            &self.estimate,
            |request| self.prepared.evaluate(request),
            |request, search| {
                let explained = self
                    .prepared
                    .explain(request, ExplainOptions::new(Detail::Notes).search(search));
                explained.result
            },
        );
        self.to_result_type(py, result?.as_ref())
    }

    /// Evaluates the document for many inputs by `topdown`.
    fn evaluate_traced(
        &self,
        inputs: &[Input],
        request: &EngineRequest<'_>,
        mut search: SearchOptions<'_>,
    ) -> Result<Vec<Option<Value>>, Error> {
        let results = inputs.iter().map(|input| {
            let mut input_search = SearchOptions::default();
            input_search.instruments = search.instruments;
            if let Some(observer) = &mut search.observer {
                input_search = input_search.observer(&mut **observer);
            }
            let watched = ExplainOptions::new(Detail::Notes).search(input_search);
            let explanation = self.prepared.explain(&input.put(*request), watched);
            explanation.result
        });
        results.collect()
    }

    /// Converts a result to the type of `prepare`, or to an object without one.
    fn to_result_type<'py>(
        &self,
        py: Python<'py>,
        value_or_undefined: Option<&Value>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = self.answer(py, value_or_undefined)?;
        match &self.convert {
            Some(convert) if value_or_undefined.is_some() => convert.bind(py).call1((object,)),
            _ => Ok(object),
        }
    }

    fn answer<'py>(
        &self,
        py: Python<'py>,
        value_or_undefined: Option<&Value>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match value_or_undefined {
            Some(value) => to_python(py, value, self.shared.settings),
            None => Ok(undefined::get(py)?.into_bound(py).into_any()),
        }
    }
}

#[pymethods]
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments that are read by a function of their own are not lent"
)]
impl Document {
    /// Returns the document for an input; ``UNDEFINED`` if it has no value.
    #[pyo3(signature = (input=None, *, input_json=None, **options))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        input_json: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = self.shared.request(input.as_ref(), options)?;
        match input_json {
            None => self.evaluate_request(py, &request),
            Some(json) => self.evaluate_request(py, &request.or_json(json)?),
        }
    }

    /// Returns ``True`` only if the document is exactly ``true`` for an input: undefined and every other value are ``False``.
    /// Options are those of a call. An evaluation that fails raises an exception, which is not a permission.
    #[pyo3(signature = (input=None, *, input_json=None, **options))]
    fn allow<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        input_json: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<bool> {
        let mut request = self.shared.request(input.as_ref(), options)?;
        if let Some(json) = input_json {
            request = request.or_json(json)?;
        }
        request.answer(
            py,
            &self.estimate,
            |request| self.prepared.allow(request),
            |request, search| {
                let explained = self
                    .prepared
                    .explain(request, ExplainOptions::new(Detail::Notes).search(search));
                Ok(explained.result? == Some(Value::from(true)))
            },
        )
    }

    /// ``Document.allow`` on another thread: ``await document.allow_async(input)``.
    #[pyo3(signature = (input=None, **options))]
    fn allow_async<'py>(
        slf: &Bound<'py, Self>,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        on_pool(&slf.getattr("allow")?, input, options)
    }

    /// Evaluates the document for many inputs, in their order, on one snapshot of the engine. Options are those of a call, except
    /// ``input_json``.
    #[pyo3(signature = (inputs, **options))]
    fn evaluate_many<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut inputs = inputs.try_iter()?;
        let request = self.shared.request(None, options)?;
        let now = || self.shared.engine.snapshot();
        let snapshot = request.snapshot().cloned().unwrap_or_else(now);
        // all inputs in one batch, because an evaluation may record results that the next one uses
        let batch_size = if request.notes() { usize::MAX } else { BATCH };
        let (list, mut batch) = (PyList::empty(py), Vec::new());
        let mut quantum = Turn::begin();
        loop {
            batch.clear();
            for input in inputs.by_ref().take(batch_size) {
                batch.push(Input::from_python(Some(&input?), self.shared.settings)?);
            }
            if batch.is_empty() {
                return Ok(list);
            }
            let long = quantum.is_long(py)?.then(LatencyEstimate::slow);
            let results = request.answer(
                py,
                long.as_ref().unwrap_or(&self.estimate),
                |request: &EngineRequest<'_>| {
                    let request = request.snapshot(&snapshot);
                    let mut results = Vec::with_capacity(batch.len());
                    for input in &batch {
                        // the result is constructed in its final location: moving it right after it was written would stall
                        let keep = |result: ValueRef<'_>| results.push(Some(result.to_value()));
                        if self
                            .prepared
                            .evaluate_with(&input.put(request), keep)?
                            .is_none()
                        {
                            results.push(None);
                        }
                    }
                    Ok(results)
                },
                |request, search| {
                    self.evaluate_traced(&batch, &request.snapshot(&snapshot), search)
                },
            )?;
            for result in &results {
                list.append(self.to_result_type(py, result.as_ref())?)?;
            }
        }
    }

    /// Evaluates and explains the result. ``detail`` is ``"full"``, ``"debug"`` (with unification), ``"fails"`` or ``"notes"``;
    /// options are those of a call. An evaluation that fails has an explanation, too.
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
        Explanation::new(py, &explanation, self.shared.settings, |result| {
            Ok(self.answer(py, result.as_ref())?.unbind())
        })
    }

    /// Evaluates on another thread: ``await allow.evaluate_async(input)``. A cancelled evaluation ends soon. For a decision that takes
    /// microseconds, a plain call is faster.
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

    /// ``evaluate_many`` on another thread, as an awaitable. The inputs are iterated there.
    #[pyo3(signature = (inputs, **options))]
    fn evaluate_many_async<'py>(
        slf: &Bound<'py, Self>,
        inputs: Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        on_pool(&slf.getattr("evaluate_many")?, Some(inputs), options)
    }

    /// ``Document[T]`` in annotations: a document whose results have the type ``T``.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        item: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let types = class.py().import("types")?;
        types.call_method1("GenericAlias", (class, item))
    }

    /// Returns ``True`` if an evaluation may wait for external I/O, like ``http.send`` does.
    #[getter]
    fn may_block(&self) -> bool {
        self.prepared.may_block()
    }

    /// Returns ``True`` if a rule defines the document, and not data alone.
    #[getter]
    fn has_rules(&self) -> bool {
        self.prepared.has_rules()
    }

    /// The slash-separated path below ``data``.
    #[getter]
    fn path(&self) -> &str {
        &self.path
    }

    #[expect(clippy::unused_self, reason = "Python calls it on the object")]
    fn __bool__(&self) -> PyResult<bool> {
        Err(no_truth_value(
            "Document",
            "call it, or compare it with `None`",
        ))
    }

    fn __repr__(&self) -> String {
        format!("solon.Document({:?})", self.path)
    }
}
