//! The metrics of one request.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use solon::trace::Timer;

use super::call::Call;
use super::decision_log::LoggedDecision;
use crate::config::Spelling;
use crate::http::RequestExt as _;
use crate::json::Fields;
use crate::telemetry::{Measured, Metrics};

/// Measures what a request asks for: timers with `metrics`, and with `instrument` what more there is.
pub fn asked(request: &Call<'_>) -> Metrics {
    Metrics::when(request.params().flag("metrics") || is_instrumented(request))
}

/// Measures what a request asks for, and what the log of its decision contains.
pub fn of_decision(request: &Call<'_>, logged: Option<&LoggedDecision>) -> Metrics {
    match logged {
        Some(_) => asked(request).logged(),
        None => asked(request),
    }
}

/// Whether a request asks for all that can be measured.
pub fn is_instrumented(request: &Call<'_>) -> bool {
    request.params().flag("instrument")
}

/// What the engine tells of the stages of a request, and how long all of them took together: the rest is told by whoever
/// asked.
pub struct Stages<'m> {
    metrics: &'m Metrics,
    is_instrumented: bool,
    heard: Cell<Duration>,
}

impl<'m> Stages<'m> {
    /// Those that a request asks for.
    pub fn of(request: &Call<'_>, metrics: &'m Metrics) -> Self {
        Self {
            is_instrumented: is_instrumented(request),
            ..Self::of_change(metrics)
        }
    }

    /// Those of a change of policies.
    pub fn of_change(metrics: &'m Metrics) -> Self {
        Self {
            metrics,
            is_instrumented: false,
            heard: Cell::default(),
        }
    }

    /// Notes a stage; those of compiling are for those who look inside.
    pub fn hear(&self, name: &str, took: Duration) {
        self.heard.set(self.heard.get() + took);
        // the stages of modules are spelled in two ways
        let is_stage = name.starts_with("compile_sta") || name.starts_with("query_compile_stage");
        if self.is_instrumented || !is_stage {
            self.metrics.add(name, took);
        }
    }

    /// The timer that tells `hear`; where nothing is measured, nobody is told.
    pub fn timer<'t>(&self, hear: &'t dyn Fn(&str, Duration)) -> Timer<'t> {
        if self.metrics.is_on() {
            Timer::new(hear)
        } else {
            Timer::default()
        }
    }

    /// When an evaluation begins, if that is measured. What was heard before is no part of it.
    pub fn begin(&self) -> Option<Instant> {
        self.heard.take();
        self.metrics.start()
    }

    /// How long an evaluation took beside what was heard.
    pub fn rest(&self, begun: Instant) -> Duration {
        begun.elapsed().saturating_sub(self.heard.get())
    }
}

/// Adds what was measured to an answer, if that was asked for.
pub fn add(answer: &mut Fields, metrics: &Metrics, spelling: Spelling) {
    if metrics.is_shown {
        answer.typed("metrics", &spelled(metrics, spelling));
    }
}

/// Names and values, as answers list them.
pub fn spelled(metrics: &Metrics, spelling: Spelling) -> BTreeMap<String, Measured> {
    let all = metrics.all().into_iter();
    all.map(|(name, value)| (spelling.metric(&name).into_owned(), value))
        .collect()
}
