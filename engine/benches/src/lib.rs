//! Benchmarks of Solon and its peers: one process, one allocator, interleaved rounds.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for people at a terminal"
)]

pub mod bindings;
pub mod bundling;
pub mod compiling;
pub mod control;
pub mod counts;
pub mod engines;
pub mod filtering;
pub mod generate;
pub mod growth;
pub mod loading;
pub mod manifest;
pub mod oracle;
pub mod profile;
pub mod serving;
pub mod side_by_side;
pub mod table;
pub mod threads;
pub mod timing;
pub mod usage;
pub mod written;
