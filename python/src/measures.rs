//! `solon.Coverage`, `solon.Profile` and `solon.Metrics`: what is noted of evaluations.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use ::engine::SendMetrics;
use ::engine::trace::{Coverage as EngineCoverage, Instruments, Profile as EngineProfile};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::explanation::json_of;
use crate::moment::Moment;

/// What only one evaluation at a time writes to. Waiting for it while holding the interpreter's lock could last for ever.
fn taken<'m, T>(mutex: &'m Mutex<T>, name: &str) -> PyResult<MutexGuard<'m, T>> {
    match mutex.try_lock() {
        Ok(taken) => Ok(taken),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => Err(PyValueError::new_err(format!(
            "{name} is in use by an evaluation"
        ))),
    }
}

/// Which lines of the modules evaluations came by: ``allow(input, coverage=coverage)``. They are slower then.
#[pyclass(frozen, module = "solon")]
#[derive(Default)]
pub struct Coverage(Mutex<EngineCoverage>);

impl Coverage {
    pub fn taken(&self) -> PyResult<MutexGuard<'_, EngineCoverage>> {
        taken(&self.0, "coverage")
    }
}

#[pymethods]
impl Coverage {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The report on the modules of a moment, in OPA's form: ``{"files": {…}, "covered_lines": …, "coverage": …}``.
    fn report<'py>(&self, py: Python<'py>, moment: &Moment) -> PyResult<Bound<'py, PyAny>> {
        let modules = moment.moment.modules().map(|(_, module)| &**module);
        let report = self.taken()?.report(&[], modules);
        json_of(py, &report, moment.settings)
    }
}

/// How long the rows of the modules took: ``allow(input, profile=profile)``. Evaluations are slower then.
#[pyclass(frozen, module = "solon")]
#[derive(Default)]
pub struct Profile(Mutex<EngineProfile>);

impl Profile {
    pub fn taken(&self) -> PyResult<MutexGuard<'_, EngineProfile>> {
        taken(&self.0, "profile")
    }
}

#[pymethods]
impl Profile {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Gives the rows, those that took longest first, and begins anew: dicts of ``file``, ``row``, ``col``, ``time_ns``,
    /// ``evals``, ``redos`` and ``expressions``. The moment names the files; a query's has no name.
    fn rows<'py>(&self, py: Python<'py>, moment: &Moment) -> PyResult<Bound<'py, PyList>> {
        let mut rows = std::mem::take(&mut *self.taken()?).finish();
        rows.sort_by_key(|row| std::cmp::Reverse(row.time));
        let list = PyList::empty(py);
        for row in rows {
            let mut modules = moment.moment.modules();
            let module = modules.find(|(_, module)| module.source.id == row.span.source);
            let dict = PyDict::new(py);
            dict.set_item("file", module.map_or("", |(name, _)| name))?;
            dict.set_item("row", row.span.row)?;
            dict.set_item("col", row.span.col)?;
            dict.set_item("time_ns", nanoseconds(row.time))?;
            dict.set_item("evals", row.evals)?;
            dict.set_item("redos", row.redos)?;
            dict.set_item("expressions", row.expressions())?;
            list.append(dict)?;
        }
        Ok(list)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Times and counts of evaluations, by the names that OPA publishes them under: ``allow(input, metrics=metrics)``. What is
/// measured again is added. With ``instrument=True`` the steps of evaluations are measured, too, which makes them slower.
#[pyclass(frozen, module = "solon")]
pub struct Metrics {
    numbers: Mutex<BTreeMap<String, u64>>,
    instrument: bool,
}

#[pymethods]
impl Metrics {
    #[new]
    #[pyo3(signature = (*, instrument=false))]
    fn new(instrument: bool) -> Self {
        Self {
            numbers: Mutex::default(),
            instrument,
        }
    }

    /// What was measured so far: ``{"timer_rego_query_eval_ns": …}``.
    fn report(&self) -> BTreeMap<String, u64> {
        self.lock().clone()
    }
}

impl Metrics {
    /// Nobody keeps it locked: one number is added at a time.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the steps of evaluations are measured, too.
    pub fn is_instrumented(&self) -> bool {
        self.instrument
    }

    fn add(&self, name: String, number: u64) {
        let mut numbers = self.lock();
        let sum = numbers.entry(name).or_insert(0);
        *sum = sum.saturating_add(number);
    }

    /// Notes how long an evaluation took, and what `http.send` did.
    pub fn evaluation<R>(&self, sent: &SendMetrics, evaluate: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let answer = evaluate();
        let took = nanoseconds(start.elapsed());
        self.add("timer_rego_query_eval_ns".to_owned(), took);
        if let Some((name, took)) = sent.timer() {
            self.add(format!("timer_{name}_ns"), nanoseconds(took));
        }
        for (name, count) in sent.counters() {
            self.add(format!("counter_{name}"), count);
        }
        answer
    }

    /// Notes what was measured of a search.
    pub fn instruments(&self, instruments: &Instruments) {
        for (name, total, _) in instruments.times() {
            self.add(format!("timer_{name}_ns"), nanoseconds(total));
        }
        for (name, count) in instruments.counts() {
            self.add(format!("counter_{name}"), count);
        }
    }
}
