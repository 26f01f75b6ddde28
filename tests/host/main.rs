//! `http.send` and its like with the real host, against servers of this process.
//!
//! `SOLON_RECORD=ORACLE` records the results of another engine for the same servers.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a panic here is a failing test"
)]

mod bounds;
mod caching;
mod certificates;
mod engine;
mod links;
mod networks;
mod raw;
mod recorded;
mod server;
mod tls;
#[path = "../time/waiting.rs"]
mod waiting;
