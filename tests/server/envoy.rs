//! External authorization of the real server: with a client of gRPC, over HTTP, and with a real Envoy.

#![allow(
    dead_code,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a panic here is a failing test, and each target uses some of what they share"
)]

#[path = "envoy/cases.rs"]
mod cases;
#[path = "envoy/checks.rs"]
mod checks;
#[path = "http/client.rs"]
mod client;
#[path = "envoy/fails.rs"]
mod fails;
#[path = "http/process.rs"]
mod process;
#[path = "envoy/proxy.rs"]
mod proxy;
#[path = "../time/waiting.rs"]
mod waiting;
#[path = "envoy/web.rs"]
mod web;
