//! Parts that the policy server and the control plane share.
//!
//! | module | contains |
//! |---|---|
//! | [`atomic_file`] | files that are replaced as a whole. |
//! | [`duration`] | durations as texts. |
//! | [`escapes`] | percent escapes of URLs. |
//! | [`metrics`] | metrics of requests, on top of `prometheus-client`. |
//! | [`private_files`] | files that only the user of the process can read. |
//! | [`substitution`] | environment variables in texts of configurations. |

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "a panic in a test is a failing test"
    )
)]

pub mod atomic_file;
pub mod duration;
pub mod escapes;
pub mod metrics;
pub mod private_files;
pub mod substitution;
