//! Logs, metrics and traces of the server.

mod counts;
mod exposition;
mod log;
mod metrics;
mod otlp;
mod process;

pub use counts::{RequestLabels as CountedRequest, ServerCounters};
pub use exposition::{messages, text as exposition};
pub use log::{CONSOLE, Format, Level, dropped_lines, start_log};
pub use metrics::{Measurement, Metrics};
pub use otlp::{
    ClientSpan, Collector, RequestSpan, SpanFacts, StageTracer, flush as flush_spans, is_traced,
    logs_request, metrics_request, observer as exchange_observer, start as start_tracing,
};
pub use process::{register as register_process, resident_bytes};
