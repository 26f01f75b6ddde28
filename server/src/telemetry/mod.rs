//! What the server tells about itself.

mod counts;
mod exposition;
mod log;
mod metrics;
mod process;
mod timestamp;

pub use counts::{Counts, Request as CountedRequest};
pub use exposition::{messages, text as exposition};
pub use log::{Format, Level, dropped_lines, finish_log, start_log};
pub use metrics::{Measured, Metrics};
pub use process::{register as register_process, resident_bytes};
pub use timestamp::timestamp;
