//! Times and counts of evaluations.

use std::cell::{RefCell, RefMut};
use std::ffi::c_int;
use std::time::Duration;

use ::engine::trace::{Metrics as EngineMetrics, Timer};

use crate::argument::{self, arguments};
use crate::bytes::Bytes;
use crate::error::Error;
use crate::guard::guard;

/// Times and counts by the names that OPA uses. Repeated measurements are added. Only one thread at a time may use it.
pub struct Metrics {
    measured: RefCell<EngineMetrics>,
    is_instrumented: bool,
}

impl Metrics {
    /// Returns `true` if the steps of evaluations are measured, too.
    pub(crate) fn is_instrumented(&self) -> bool {
        self.is_instrumented
    }

    /// Borrows it to record a measurement.
    pub(crate) fn noting(&self) -> RefMut<'_, EngineMetrics> {
        self.measured.borrow_mut()
    }

    /// Runs a function that measures its stages.
    pub(crate) fn timed<R>(&self, run: impl FnOnce(Timer<'_>) -> R) -> R {
        let on_stage = |name: &str, took: Duration| self.noting().time(name, took);
        run(Timer::new(&on_stage))
    }
}

/// Creates empty metrics. With `instrument` the steps of evaluations are measured, too, which makes evaluations slower.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_metrics_new(
    instrument: c_int,
    out: *mut *mut Metrics,
) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Metrics {
            measured: RefCell::default(),
            is_instrumented: instrument != 0,
        });
        Ok(())
    })
}

/// Returns all measurements, a JSON object: `{"timer_rego_query_eval_ns": …}`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_metrics_json(
    metrics: *const Metrics,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        let (metrics, out) = arguments!(handle(metrics), output(out));
        out.write(Bytes::json(&*metrics.measured.borrow())?);
        Ok(())
    })
}

/// Frees the metrics; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_metrics_free(metrics: *mut Metrics) {
    // SAFETY: `solon_metrics_new` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(metrics) };
}
