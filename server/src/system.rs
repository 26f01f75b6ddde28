//! What is asked of the system beside what the standard library does.

pub mod huge_pages;
mod priority;

pub use priority::Priority;
