//! What is asked of the system beside what the standard library does.

mod processor;
pub mod signals;

pub use processor::thread_time;

/// Keeps the kernel from backing memory of this process with huge pages (Linux). The stack of each thread that waits would take 2 MiB.
pub fn disable_huge_pages() {
    #[cfg(target_os = "linux")]
    // if the kernel refuses, the process takes more memory
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}
