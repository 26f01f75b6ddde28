//! What the server tells about itself.

mod counts;
mod log;

pub use counts::Counts;
pub use log::{Format, Level, dropped_lines, start_log};
