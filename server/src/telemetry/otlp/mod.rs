//! Export of spans, metrics and decision logs over OTLP.
//!
//! `opentelemetry_sdk` samples spans and batches them in memory. This module sends the messages of OTLP itself, so that the
//! proxies, the TLS options and the client of the server apply to collectors as well.
//!
//! - `collector`: a receiver over gRPC or HTTP
//! - `spans`: tracing of the process
//! - `requests`: spans of requests, in and out
//! - `stages`: spans of builds of the control plane
//! - `metrics`: metrics as OTLP messages
//! - `logs`: decision log events as OTLP messages
//! - `attributes`: attributes of messages

mod attributes;
mod collector;
mod logs;
mod metrics;
mod requests;
mod spans;
mod stages;

pub use collector::Collector;
pub use logs::logs_request;
pub use metrics::metrics_request;
pub use requests::{ClientSpan, RequestSpan, SpanFacts, observer};
pub use spans::{flush, is_traced, start};
pub use stages::StageTracer;
