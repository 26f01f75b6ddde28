//! What the server tells about itself.

mod counts;
mod family;
mod log;
mod metrics;
mod process;
mod timestamp;

pub use counts::{Counts, Request as CountedRequest};
pub use family::{Family, Kind, Sampled, json as messages, number, text as exposition};
pub use log::{Format, Level, dropped_lines, finish_log, start_log};
pub use metrics::{Measured, Metrics};
pub use process::{families as process_families, resident_bytes};
pub use timestamp::timestamp;
