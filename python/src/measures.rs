//! `solon.Coverage`, `solon.Profile` and `solon.Metrics`: measurements of evaluations.

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
use crate::snapshot::Snapshot;

/// Locks a measurement for one evaluation. Fails if it is in use, because waiting with the interpreter's lock held could
/// deadlock.
fn lock_for_use<'m, T>(mutex: &'m Mutex<T>, name: &str) -> PyResult<MutexGuard<'m, T>> {
    match mutex.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => Err(PyValueError::new_err(format!(
            "{name} is in use by an evaluation"
        ))),
    }
}

/// Lines of the modules that were evaluated: ``allow(input, coverage=coverage)``. Makes evaluations slower.
#[pyclass(frozen, module = "solon")]
#[derive(Default)]
pub struct Coverage(Mutex<EngineCoverage>);

impl Coverage {
    pub fn lock_for_use(&self) -> PyResult<MutexGuard<'_, EngineCoverage>> {
        lock_for_use(&self.0, "coverage")
    }
}

#[pymethods]
impl Coverage {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Returns the report for the modules of a snapshot, in OPA's format: ``{"files": {…}, "covered_lines": …, "coverage": …}``.
    fn report<'py>(&self, py: Python<'py>, snapshot: &Snapshot) -> PyResult<Bound<'py, PyAny>> {
        let modules = snapshot.snapshot.modules().map(|(_, module)| &**module);
        let report = self.lock_for_use()?.report(&[], modules);
        json_of(py, &report, snapshot.settings)
    }
}

/// Evaluation time by row of the modules: ``allow(input, profile=profile)``. Makes evaluations slower.
#[pyclass(frozen, module = "solon")]
#[derive(Default)]
pub struct Profile(Mutex<EngineProfile>);

impl Profile {
    pub fn lock_for_use(&self) -> PyResult<MutexGuard<'_, EngineProfile>> {
        lock_for_use(&self.0, "profile")
    }
}

#[pymethods]
impl Profile {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Returns the rows, slowest first, and resets the profile: dicts of ``file``, ``row``, ``col``, ``time_ns``, ``evals``,
    /// ``redos`` and ``expressions``. The snapshot supplies the file names; the file of a query has no name.
    fn rows<'py>(&self, py: Python<'py>, snapshot: &Snapshot) -> PyResult<Bound<'py, PyList>> {
        let modules = snapshot.snapshot.modules().map(|(_, module)| &**module);
        let rows = std::mem::take(&mut *self.lock_for_use()?).finish(modules);
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

/// Times and counts of evaluations, by the names that OPA uses: ``allow(input, metrics=metrics)``. Repeated measurements are
/// added. With ``instrument=True`` the steps of evaluations are measured, too, which makes evaluations slower.
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

    /// Returns the measurements so far: ``{"timer_rego_query_eval_ns": …}``.
    fn report(&self) -> BTreeMap<String, u64> {
        let measured = self.lock();
        let numbers = measured.numbers();
        numbers
            .map(|(name, number)| (name.to_owned(), number))
            .collect()
    }
}

impl Metrics {
    /// Locks the metrics. The lock is never held during an evaluation.
    fn lock(&self) -> MutexGuard<'_, EngineMetrics> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if the steps of evaluations are measured, too.
    pub fn is_instrumented(&self) -> bool {
        self.instrument
    }

    /// Measures the time of an evaluation, and adds the measurements of `http.send`.
    pub fn evaluation<R>(&self, send_metrics: &SendMetrics, evaluate: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = evaluate();
        let mut measured = self.lock();
        measured.since("rego_query_eval", start);
        measured.add_http_sends(send_metrics);
        result
    }

    /// Runs a function that measures its stages. Nothing is measured without `metrics`.
    pub fn timing<R>(metrics: Option<&Self>, run: impl FnOnce(Timer<'_>) -> R) -> R {
        match metrics {
            None => run(Timer::default()),
            Some(metrics) => {
                let on_stage = |name: &str, took: Duration| metrics.lock().time(name, took);
                run(Timer::new(&on_stage))
            }
        }
    }

    /// Adds the measurements of a `topdown` evaluation.
    pub fn instruments(&self, instruments: &Instruments) {
        self.lock().instruments(instruments);
    }
}
