//! Files that are loaded at the start and with `--watch`, in addition to writes of clients: real servers with a store.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a panic here is a failing test"
)]

#[path = "loading/cases.rs"]
mod cases;
#[path = "http/client.rs"]
#[allow(dead_code, reason = "shared with other tests, which use the rest")]
mod client;
#[path = "http/inside.rs"]
#[allow(dead_code, reason = "shared with other tests, which use the rest")]
mod inside;
#[path = "loading/killed.rs"]
mod killed;
#[path = "loading/model.rs"]
mod model;
#[path = "loading/one_name.rs"]
mod one_name;
#[path = "../engine/recompile/random.rs"]
mod random;
#[path = "loading/sequences.rs"]
mod sequences;
#[path = "../time/waiting.rs"]
mod waiting;
#[path = "loading/world.rs"]
mod world;
