//! What is asked of the system beside what the standard library does.

pub mod huge_pages;
mod priority;
mod processor;
mod spare_memory;

pub use priority::Priority;
pub use processor::thread_time;
pub use spare_memory::{apart, give_back};
