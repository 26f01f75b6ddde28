//! The metrics of one request.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::config::Spelling;
use crate::http::{Fields, Request};
use crate::telemetry::{Measured, Metrics};

/// Measures what a request asks for: timers with `metrics`, and with `instrument` what more there is.
pub fn asked(request: &Request<'_>) -> Metrics {
    Metrics::when(request.params.flag("metrics") || is_instrumented(request))
}

/// Whether a request asks for all that can be measured.
pub fn is_instrumented(request: &Request<'_>) -> bool {
    request.params.flag("instrument")
}

/// Notes a timer of the engine's; the stages of compiling are for those who look inside.
pub fn hear(metrics: &Metrics, instrumented: bool, name: &str, took: Duration) {
    // the stages of modules are spelled in two ways
    let is_stage = name.starts_with("compile_sta") || name.starts_with("query_compile_stage");
    if instrumented || !is_stage {
        metrics.add(name, took);
    }
}

/// Adds what was measured to an answer, if that was asked for.
pub fn add(answer: &mut Fields, metrics: &Metrics, spelling: Spelling) {
    if metrics.is_on() {
        answer.typed("metrics", &spelled(metrics, spelling));
    }
}

/// Names and values, as answers list them.
fn spelled(metrics: &Metrics, spelling: Spelling) -> BTreeMap<String, Measured> {
    let all = metrics.all().into_iter();
    all.map(|(name, value)| (spelling.metric(&name).into_owned(), value))
        .collect()
}
