//! Parts that the policy server and the control plane share.
//!
//! | module | contains |
//! |---|---|
//! | [`duration`] | durations as texts. |
//! | [`escapes`] | percent escapes of URLs. |
//! | [`metrics`] | metrics of requests, on top of `prometheus-client`. |
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

pub mod duration;
pub mod escapes;
pub mod metrics;
pub mod substitution;
