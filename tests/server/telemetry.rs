//! Traces and metrics of the real server, and of OPA's server where cases are recorded.

#![allow(
    dead_code,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a panic here is a failing test, and each target uses some of what they share"
)]

#[path = "telemetry/cases.rs"]
mod cases;
#[path = "http/client.rs"]
mod client;
#[path = "telemetry/export.rs"]
mod export;
#[path = "telemetry/handshakes.rs"]
mod handshakes;
#[path = "telemetry/logs.rs"]
mod logs;
#[path = "http/process.rs"]
mod process;
#[path = "telemetry/receiver.rs"]
mod receiver;
#[path = "decision_logs/sink.rs"]
mod sink;
#[path = "../servers/tls.rs"]
mod tls;
#[path = "../time/waiting.rs"]
mod waiting;

#[test]
fn requests_are_traced_as_opa_traces_them() {
    cases::run();
}
