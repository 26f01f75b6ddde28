//! Metrics of one request, and those that a decision log adds.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use solon::trace::Timer;

use super::call::Call;
use super::decision_log::LoggedDecision;
use crate::config::Spelling;
use crate::http::RequestExt as _;
use crate::json::JsonFields;
use crate::telemetry::{Measurement, Metrics};

/// Creates the metrics that a request selects: timers with `metrics`, and more with `instrument`.
pub fn metrics_of(request: &Call<'_>) -> Metrics {
    Metrics::when(request.params().flag("metrics") || is_instrumented(request))
}

/// Creates the metrics that a request selects and those that its decision log event contains.
pub fn of_decision(request: &Call<'_>, logged: Option<&LoggedDecision>) -> Metrics {
    match logged {
        Some(_) => metrics_of(request).logged(),
        None => metrics_of(request),
    }
}

/// Creates the metrics of a request that cannot select any: those that its decision log event contains.
pub fn of_log(logged: Option<&LoggedDecision>) -> Metrics {
    match logged {
        Some(_) => Metrics::when(false).logged(),
        None => Metrics::when(false),
    }
}

/// Returns `true` if a request selects all metrics by the parameter `instrument`.
pub fn is_instrumented(request: &Call<'_>) -> bool {
    request.params().flag("instrument")
}

/// Durations of the engine's stages for a request, and their sum. The caller measures the remaining time.
pub struct Stages<'m> {
    metrics: &'m Metrics,
    is_instrumented: bool,
    recorded: Cell<Duration>,
}

impl<'m> Stages<'m> {
    pub fn from_request(request: &Call<'_>, metrics: &'m Metrics) -> Self {
        Self {
            is_instrumented: is_instrumented(request),
            ..Self::of_change(metrics)
        }
    }

    /// Creates the stages for a change of policies.
    pub fn of_change(metrics: &'m Metrics) -> Self {
        Self {
            metrics,
            is_instrumented: false,
            recorded: Cell::default(),
        }
    }

    /// Records a stage. Stages of compilation are recorded only for instrumented requests.
    pub fn record(&self, name: &str, took: Duration) {
        self.recorded.set(self.recorded.get() + took);
        // stages of modules have two prefixes
        let is_stage = name.starts_with("compile_sta") || name.starts_with("query_compile_stage");
        if self.is_instrumented || !is_stage {
            self.metrics.add(name, took);
        }
    }

    /// Returns a timer that calls the given function, or a disabled timer if nothing is measured.
    pub fn timer<'t>(&self, on_stage: &'t dyn Fn(&str, Duration)) -> Timer<'t> {
        if self.metrics.is_on() {
            Timer::new(on_stage)
        } else {
            Timer::default()
        }
    }

    /// Starts the timer of an evaluation, if it is measured. Stages recorded before are not part of it.
    pub fn begin(&self) -> Option<Instant> {
        self.recorded.take();
        self.metrics.start()
    }

    /// Returns the duration of an evaluation without the recorded stages.
    pub fn rest(&self, start: Instant) -> Duration {
        start.elapsed().saturating_sub(self.recorded.get())
    }
}

/// Adds the metrics to a response, if they were selected.
pub fn add(fields: &mut JsonFields, metrics: &Metrics, spelling: Spelling) {
    if metrics.is_shown {
        fields.typed("metrics", &spelled(metrics, spelling));
    }
}

/// Returns names and values as responses contain them.
pub fn spelled(metrics: &Metrics, spelling: Spelling) -> BTreeMap<String, Measurement> {
    metrics.renamed(|name| spelling.metric(name).into_owned())
}
