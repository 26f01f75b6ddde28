//! External authorization of the real server: with a client of gRPC, over HTTP, and with a real Envoy, nginx and Caddy.

#![allow(
    dead_code,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a panic here is a failing test, and each target uses some of what they share"
)]

#[path = "http/authority.rs"]
mod authority;
#[path = "envoy/caddy.rs"]
mod caddy;
#[path = "envoy/cases.rs"]
mod cases;
#[path = "envoy/checks.rs"]
mod checks;
#[path = "http/client.rs"]
mod client;
#[path = "envoy/fails.rs"]
mod fails;
#[path = "envoy/front_proxy.rs"]
mod front_proxy;
#[path = "envoy/nginx.rs"]
mod nginx;
#[path = "http/process.rs"]
mod process;
#[path = "envoy/proxy.rs"]
mod proxy;
#[path = "envoy/proxy_tls.rs"]
mod proxy_tls;
#[path = "../time/waiting.rs"]
mod waiting;
#[path = "envoy/web.rs"]
mod web;
