//! Times and counts of evaluations.

use std::cell::{RefCell, RefMut};
use std::ffi::c_int;
use std::time::Duration;

use ::engine::trace::{Metrics as EngineMetrics, Timer};

use crate::argument::{self, arguments};
use crate::bytes::Bytes;
use crate::error::Error;
use crate::guard::guard;

/// Times and counts by the names that OPA publishes them under. What is measured again is added. One thread at a time
/// uses it.
pub struct Metrics {
    measured: RefCell<EngineMetrics>,
    is_instrumented: bool,
}

impl Metrics {
    /// Whether the steps of evaluations are measured, too.
    pub(crate) fn is_instrumented(&self) -> bool {
        self.is_instrumented
    }

    /// To note something, for as long as that takes.
    pub(crate) fn noting(&self) -> RefMut<'_, EngineMetrics> {
        self.measured.borrow_mut()
    }

    /// Runs something that tells how long its stages take.
    pub(crate) fn timed<R>(&self, run: impl FnOnce(Timer<'_>) -> R) -> R {
        let hear = |name: &str, took: Duration| self.noting().time(name, took);
        run(Timer::new(&hear))
    }
}

/// Makes one without anything measured. With `instrument` the steps of evaluations are measured, too, which makes them
/// slower.
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

/// Everything that was measured, a JSON object: `{"timer_rego_query_eval_ns": …}`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_metrics_json(metrics: *mut Metrics, out: *mut Bytes) -> *mut Error {
    guard(|| {
        let (metrics, out) = arguments!(handle(metrics), output(out));
        out.write(Bytes::json(&*metrics.measured.borrow())?);
        Ok(())
    })
}

/// Frees it; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_metrics_free(metrics: *mut Metrics) {
    // SAFETY: `solon_metrics_new` made it of a box, and the caller frees it once
    unsafe { argument::free(metrics) };
}
