//! Parts that the policy server and the control plane share.
//!
//! | module | holds |
//! |---|---|
//! | [`metrics`] | metrics of requests, on top of `prometheus-client` |

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "a panic in a test is a failing test"
    )
)]

pub mod metrics;
