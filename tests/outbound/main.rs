//! The HTTP client of services, against servers of this process.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failing test"
)]

#[path = "../host/certificates.rs"]
#[expect(dead_code, reason = "each test target uses some of it")]
mod certificates;
mod client;
mod credentials;
mod server;
mod tls;
