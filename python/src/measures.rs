//! `solon.Coverage`, `solon.Profile` and `solon.Metrics`: what is noted of evaluations.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use ::engine::SendMetrics;
use ::engine::trace::{
    Coverage as EngineCoverage, Instruments, Metrics as EngineMetrics, Profile as EngineProfile,
    Timer,
};
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
        let modules = moment.moment.modules().map(|(_, module)| &**module);
        let rows = std::mem::take(&mut *self.taken()?).finish(modules);
        let list = PyList::empty(py);
        for row in rows {
            let dict = PyDict::new(py);
            dict.set_item("file", &row.file)?;
            dict.set_item("row", row.span.row)?;
            dict.set_item("col", row.span.col)?;
            dict.set_item("time_ns", row.nanoseconds())?;
            dict.set_item("evals", row.evals)?;
            dict.set_item("redos", row.redos)?;
            dict.set_item("expressions", row.expressions)?;
            list.append(dict)?;
        }
        Ok(list)
    }
}

/// Times and counts of evaluations, by the names that OPA publishes them under: ``allow(input, metrics=metrics)``. What is
/// measured again is added. With ``instrument=True`` the steps of evaluations are measured, too, which makes them slower.
#[pyclass(frozen, module = "solon")]
pub struct Metrics {
    measured: Mutex<EngineMetrics>,
    instrument: bool,
}

#[pymethods]
impl Metrics {
    #[new]
    #[pyo3(signature = (*, instrument=false))]
    fn new(instrument: bool) -> Self {
        Self {
            measured: Mutex::default(),
            instrument,
        }
    }

    /// What was measured so far: ``{"timer_rego_query_eval_ns": …}``.
    fn report(&self) -> BTreeMap<String, u64> {
        let measured = self.lock();
        let numbers = measured.numbers();
        numbers
            .map(|(name, number)| (name.to_owned(), number))
            .collect()
    }
}

impl Metrics {
    /// Nobody keeps it locked while something is evaluated.
    fn lock(&self) -> MutexGuard<'_, EngineMetrics> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the steps of evaluations are measured, too.
    pub fn is_instrumented(&self) -> bool {
        self.instrument
    }

    /// Notes how long an evaluation took, and what `http.send` did.
    pub fn evaluation<R>(&self, sent: &SendMetrics, evaluate: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let answer = evaluate();
        let mut measured = self.lock();
        measured.since("rego_query_eval", start);
        measured.sent(sent);
        answer
    }

    /// Runs something that tells how long its stages take.
    pub fn timing<R>(metrics: Option<&Self>, run: impl FnOnce(Timer<'_>) -> R) -> R {
        match metrics {
            None => run(Timer::default()),
            Some(metrics) => {
                let hear = |name: &str, took: Duration| metrics.lock().time(name, took);
                run(Timer::new(&hear))
            }
        }
    }

    /// Notes what was measured of a search.
    pub fn instruments(&self, instruments: &Instruments) {
        self.lock().instruments(instruments);
    }
}
