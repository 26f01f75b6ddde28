//! Times and counts of evaluations.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::time::Duration;

use ::engine::SendMetrics;
use ::engine::trace::{Instruments, Statistics, Timer};
use serde::Serialize;

use crate::argument;
use crate::bytes::Bytes;
use crate::error::Error;
use crate::guard::guard;

/// Times and counts by the names that OPA publishes them under. What is measured again is added. One thread at a time
/// uses it.
pub struct Metrics {
    measured: RefCell<BTreeMap<String, Measured>>,
    is_instrumented: bool,
}

/// One thing that was measured.
#[derive(Serialize)]
#[serde(untagged)]
enum Measured {
    /// Nanoseconds, or how often.
    Number(u64),
    /// The distribution of nanoseconds in the last evaluation.
    Histogram(Statistics),
}

impl Metrics {
    /// Whether the steps of evaluations are measured, too.
    pub(crate) fn is_instrumented(&self) -> bool {
        self.is_instrumented
    }

    /// Notes how long something took.
    pub(crate) fn add(&self, name: &str, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.sum(format!("timer_{name}_ns"), took);
    }

    fn sum(&self, name: String, number: u64) {
        let mut measured = self.measured.borrow_mut();
        let measured = measured.entry(name).or_insert(Measured::Number(0));
        if let Measured::Number(sum) = measured {
            *sum = sum.saturating_add(number);
        }
    }

    /// Notes what `http.send` did.
    pub(crate) fn sent(&self, sent: &SendMetrics) {
        if let Some((name, took)) = sent.timer() {
            self.add(name, took);
        }
        for (name, count) in sent.counters() {
            self.sum(format!("counter_{name}"), count);
        }
    }

    /// Notes what was measured of a search.
    pub(crate) fn instruments(&self, instruments: &Instruments) {
        for (name, total, statistics) in instruments.times() {
            self.add(name, total);
            let histogram = Measured::Histogram(statistics);
            let mut measured = self.measured.borrow_mut();
            measured.insert(format!("histogram_{name}"), histogram);
        }
        for (name, count) in instruments.counts() {
            self.sum(format!("counter_{name}"), count);
        }
    }

    /// Runs something that tells how long its stages take.
    pub(crate) fn timed<R>(&self, run: impl FnOnce(Timer<'_>) -> R) -> R {
        let hear = |name: &str, took: Duration| self.add(name, took);
        run(Timer::new(&hear))
    }
}

/// Makes one without anything measured. With `instrument` the steps of evaluations are measured, too, which makes them
/// slower.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_metrics_new(
    instrument: c_int,
    out: *mut *mut Metrics,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let out = unsafe { argument::output(out, "out") }?;
        out.give(Metrics {
            measured: RefCell::default(),
            is_instrumented: instrument != 0,
        });
        Ok(())
    })
}

/// Everything that was measured, a JSON object: `{"timer_rego_query_eval_ns": …}`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_metrics_json(metrics: *mut Metrics, out: *mut Bytes) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (metrics, out) = unsafe {
            (
                argument::handle(metrics, "metrics")?,
                argument::output(out, "out")?,
            )
        };
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
