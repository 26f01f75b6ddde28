//! Execution of handlers, separate from the protocol of their requests.
//!
//! - `executor`: the kinds of threads, and which handler runs on which
//! - `pool`: blocking threads for evaluations, with permits by the estimated latency
//! - `writer`: the serial execution of changes

mod executor;
mod pool;
mod writer;

pub use executor::{ExecContext, Executor, Longer};
pub use pool::{LatencyEstimate, NotRun, Pool, Stopwatch};
