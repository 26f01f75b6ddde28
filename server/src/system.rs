//! System calls that the standard library does not provide.

mod priority;
mod processor;
pub mod signals;

#[cfg(all(test, target_os = "linux"))]
pub use priority::LOWER;
pub use priority::lower_thread_priority;
pub use processor::thread_time;

/// Disables huge pages for the memory of this process (Linux). Otherwise the stack of each waiting thread would take 2 MiB.
pub fn disable_huge_pages() {
    #[cfg(target_os = "linux")]
    // without it the process only uses more memory
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}
