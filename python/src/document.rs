//! `solon.Document`: a document that is prepared once and asked often.

use ::engine::trace::Detail;
use ::engine::{
    Error, ExplainOptions, PreparedDocument, Request as EngineRequest, SearchOptions, Value,
    ValueRef,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::to_python;
use crate::explanation::{Explanation, detail};
use crate::guard::no_truth_value;
use crate::input::{Input, given};
use crate::request::Request;
use crate::running::{Pace, Turn};
use crate::shared::Shared;
use crate::undefined;

/// Inputs of `many` that are read before they are asked about: values that are soon forgotten use the same memory again.
const BATCH: usize = 64;

/// A document that is prepared: call it with an input. It follows the engine: after a change it answers by what is new.
///
/// Made by ``Engine.prepare``. Beside the input a call takes ``input_json``, JSON text or bytes instead of an object;
/// ``strict_builtin_errors``, whether the first error of a built-in function raises ``EvalError``; ``moment``;
/// ``time_limit`` in seconds, ``step_limit``, ``memory_limit`` and ``explanation_limit`` in bytes; ``cancel``; ``print``, which
/// is called with each line that policies print; ``nd_cache``, a dict of what functions that are not deterministic answered,
/// which is asked first and filled; ``metadata`` and ``response_metadata``, dicts that functions of the host read and fill;
/// ``metrics``, ``coverage`` and ``profile``.
#[pyclass(frozen, module = "solon")]
pub struct Document {
    prepared: PreparedDocument,
    path: String,
    shared: Shared,
    pace: Pace,
}

impl Document {
    pub fn new(prepared: PreparedDocument, path: String, shared: Shared) -> Self {
        let pace = if prepared.may_block() {
            Pace::slow()
        } else {
            Pace::default()
        };
        Self {
            prepared,
            path,
            shared,
            pace,
        }
    }

    /// The document for what a call was given.
    pub fn ask<'py>(&self, py: Python<'py>, request: &Request) -> PyResult<Bound<'py, PyAny>> {
        let answer = request.answer(
            py,
            &self.pace,
            |request| self.prepared.evaluate(request),
            |request, search| {
                let explained = self
                    .prepared
                    .explain(request, ExplainOptions::new(Detail::Notes).search(search));
                explained.result
            },
        );
        self.answer(py, answer?.as_ref())
    }

    /// The document for each of many inputs, by the search.
    fn watched(
        &self,
        inputs: &[Input],
        request: &EngineRequest<'_>,
        mut search: SearchOptions<'_>,
    ) -> Result<Vec<Option<Value>>, Error> {
        let answers = inputs.iter().map(|input| {
            let mut own = SearchOptions::default();
            own.instruments = search.instruments;
            if let Some(observer) = &mut search.observer {
                own = own.observer(&mut **observer);
            }
            let watched = ExplainOptions::new(Detail::Notes).search(own);
            let told = self.prepared.explain(&input.put(*request), watched);
            told.result
        });
        answers.collect()
    }

    fn answer<'py>(&self, py: Python<'py>, answer: Option<&Value>) -> PyResult<Bound<'py, PyAny>> {
        match answer {
            Some(value) => to_python(py, value, self.shared.settings),
            None => Ok(undefined::get(py)?.into_bound(py).into_any()),
        }
    }
}

/// Returns a coroutine that calls `ask` on a thread of the event loop's pool.
fn on_pool<'py>(
    ask: &Bound<'py, PyAny>,
    input: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = ask.py();
    let input = match input {
        Some(input) => input,
        None => undefined::get(py)?.into_bound(py).into_any(),
    };
    let asynchronous = py.import("solon._aio")?;
    asynchronous.call_method("call", (ask, input), options)
}

#[pymethods]
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments that are read by a function of their own are not lent"
)]
impl Document {
    /// The document for an input; ``UNDEFINED`` when it has no value.
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
            None => self.ask(py, &request),
            Some(json) => self.ask(py, &request.or_json(json)?),
        }
    }

    /// ``True`` only if the document is exactly ``true`` for an input: undefined and every other value are ``False``. Options are
    /// those of a call. An evaluation that fails raises, and is not a permission.
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
            &self.pace,
            |request| self.prepared.allow(request),
            |request, search| {
                let explained = self
                    .prepared
                    .explain(request, ExplainOptions::new(Detail::Notes).search(search));
                Ok(explained.result? == Some(Value::Bool(true)))
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

    /// The document for each of many inputs, in their order, on one moment of the engine. Options are those of a call, but
    /// for ``input_json``.
    #[pyo3(signature = (inputs, **options))]
    fn many<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut inputs = inputs.try_iter()?;
        let request = self.shared.request(None, options)?;
        let now = || self.shared.engine.snapshot();
        let moment = request.moment().cloned().unwrap_or_else(now);
        // what one input is noted of is there for the next one
        let most = if request.notes() { usize::MAX } else { BATCH };
        let (list, mut batch) = (PyList::empty(py), Vec::new());
        let mut turn = Turn::begin();
        loop {
            batch.clear();
            for input in inputs.by_ref().take(most) {
                batch.push(Input::from_python(Some(&input?), self.shared.settings)?);
            }
            if batch.is_empty() {
                return Ok(list);
            }
            let long = turn.is_long(py)?.then(Pace::slow);
            let answers = request.answer(
                py,
                long.as_ref().unwrap_or(&self.pace),
                |request: &EngineRequest<'_>| {
                    let request = request.snapshot(&moment);
                    let mut answers = Vec::with_capacity(batch.len());
                    for input in &batch {
                        // an answer is made where it stays: one that is moved at once is waited for
                        let keep = |answer: ValueRef<'_>| answers.push(Some(answer.to_value()));
                        if self
                            .prepared
                            .evaluate_with(&input.put(request), keep)?
                            .is_none()
                        {
                            answers.push(None);
                        }
                    }
                    Ok(answers)
                },
                |request, search| self.watched(&batch, &request.snapshot(&moment), search),
            )?;
            for answer in &answers {
                list.append(self.answer(py, answer.as_ref())?)?;
            }
        }
    }

    /// Answers and tells how. ``detail`` is ``"full"``, ``"debug"`` (unification, too), ``"fails"`` or ``"notes"``; options are
    /// those of a call. An evaluation that ends early has an explanation, too.
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
        let told = request.searched(py, |request, search| {
            Ok(self
                .prepared
                .explain(request, ExplainOptions::new(detail).search(search)))
        })?;
        Explanation::new(py, &told, self.shared.settings, |answer| {
            Ok(self.answer(py, answer.as_ref())?.unbind())
        })
    }

    /// Answers on another thread: ``await allow.aio(input)``. What is cancelled ends soon. A decision that takes microseconds
    /// is better made by a plain call.
    #[pyo3(signature = (input=None, **options))]
    fn aio<'py>(
        slf: &Bound<'py, Self>,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        on_pool(slf.as_any(), input, options)
    }

    /// Whether an evaluation may wait for the outside, like ``http.send`` does.
    #[getter]
    fn may_block(&self) -> bool {
        self.prepared.may_block()
    }

    /// Whether a rule makes it, and not data alone.
    #[getter]
    fn has_rules(&self) -> bool {
        self.prepared.has_rules()
    }

    /// The path below ``data``, with slashes.
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
