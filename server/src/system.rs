//! What is asked of the system beside what the standard library does.

mod processor;
pub mod signals;

pub use processor::thread_time;
