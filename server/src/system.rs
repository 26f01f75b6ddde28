//! What is asked of the system beside what the standard library does.

mod priority;
mod processor;
pub mod signals;

pub use priority::Priority;
pub use processor::thread_time;
