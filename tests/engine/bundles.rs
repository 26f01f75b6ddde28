//! Bundles: archives and folders are read as OPA reads them, hostile archives are rejected, signatures are verified,
//! bundles are activated.
//!
//! `tests/cases/bundles/read.json` lists bundles by their files, with OPA's result as an archive and as a folder: all
//! documents and rules, or an error. `SOLON_RECORD=ORACLE` records the results of an oracle again. A case in which
//! Solon differs on purpose has `solon`, and the reason in its note.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic here is a failing test"
)]

#[path = "bundles/activation.rs"]
mod activation;
#[path = "bundles/hostile.rs"]
mod hostile;
#[path = "bundles/limits.rs"]
mod limits;
#[path = "../time/processor.rs"]
mod processor;
#[path = "bundles/read.rs"]
mod read;
#[path = "bundles/signatures.rs"]
mod signatures;
#[path = "bundles/tarball.rs"]
mod tarball;
#[path = "bundles/write.rs"]
mod write;
