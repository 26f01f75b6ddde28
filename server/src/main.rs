//! The `solon` command: policy server and tools.
//!
//! | module | holds |
//! |---|---|
//! | [`cli`] | the commands |
//! | [`app`] | a server from start to stop |
//! | [`api`] | what requests ask for |
//! | [`http`] | how requests and answers travel |
//! | [`files`] | policies and documents on disk |
//! | [`config`], [`telemetry`] | options; what the server tells about itself |
//! | [`wire`] | parts of errors that API and commands share |

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "a panic in a test is a failing test"
    )
)]

mod api;
mod app;
mod cli;
mod config;
mod http;
mod telemetry;
mod wire;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
