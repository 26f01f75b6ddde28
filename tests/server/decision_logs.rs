//! Decision logs of the real server, and of OPA's server where cases are recorded.

#![allow(
    dead_code,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a panic here is a failing test, and each target uses some of what they share"
)]

#[path = "decision_logs/cases.rs"]
mod cases;
#[path = "http/client.rs"]
mod client;
#[path = "decision_logs/load.rs"]
mod load;
#[path = "decision_logs/permissions.rs"]
mod permissions;
#[path = "http/process.rs"]
mod process;
#[path = "decision_logs/replay.rs"]
mod replay;
#[path = "decision_logs/sink.rs"]
mod sink;
#[path = "decision_logs/spool.rs"]
mod spool;
#[path = "decision_logs/sqlite.rs"]
mod sqlite;
#[path = "decision_logs/upload.rs"]
mod upload;
#[path = "../time/waiting.rs"]
mod waiting;

#[test]
fn recorded_decisions_are_logged_as_opa_logs_them() {
    cases::run();
}
