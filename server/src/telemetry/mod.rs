//! Logs and metrics of the server.

mod counts;
mod exposition;
mod log;
mod metrics;
mod process;

pub use counts::{Counts, Request as CountedRequest};
pub use exposition::{messages, text as exposition};
pub use log::{CONSOLE, Format, Level, dropped_lines, start_log};
pub use metrics::{Measured, Metrics};
pub use process::{register as register_process, resident_bytes};
