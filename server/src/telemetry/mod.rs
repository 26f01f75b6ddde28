//! What the server tells about itself.

mod log;

pub use log::{Format, Level, start_log};
