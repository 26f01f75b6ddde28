//! Solon and its peers side by side: one process, one allocator, rounds interleaved.

#![expect(
    clippy::print_stdout,
    clippy::missing_panics_doc,
    reason = "a command for people at a terminal"
)]

pub mod counts;
pub mod engines;
pub mod generate;
pub mod manifest;
pub mod oracle;
pub mod table;
pub mod threads;
pub mod timing;
