//! The control plane from its users' point of view: requests and responses, on each database that can be started.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    clippy::struct_field_names,
    reason = "a panic here is a failing test, and skipped tests are reported"
)]

#[path = "../servers/mod.rs"]
mod servers;
#[path = "../servers/tls.rs"]
mod tls;
#[path = "../time/waiting.rs"]
mod waiting;

mod allowed_hosts;
mod audit;
mod cases;
mod config;
mod contention;
mod database_texts;
mod database_tls;
mod databases;
mod description;
mod encrypted;
mod fleet;
mod gitops;
mod hostile;
mod key_sources;
mod killed;
mod load;
mod measured;
mod migrations;
mod older;
mod outage;
mod page;
mod plane;
mod races;
mod reloaded;
mod rolling;
mod secrecy;
mod sequences;
mod storage;
mod sync;
mod taken_over;
mod timing;
mod tokens;
mod worker;
