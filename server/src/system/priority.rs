//! Scheduling priority of threads.

/// Increment of the nice value of a thread with a lower priority. A thread with the normal priority preempts it, and gets nine times its
/// share of a processor if both can run.
#[cfg(target_os = "linux")]
pub const LOWER: i32 = 10;

/// Sets the priority of the calling thread below that of the main thread, until it ends: a process without privileges cannot raise it
/// again. A thread inherits the priority of the one that starts it, so the nice value is not an increment. Only Linux has nice values
/// of threads; elsewhere nothing changes.
pub fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpid, getpriority_process, setpriority_process};
        // if it fails, the thread only delays others more
        if let Ok(normal) = getpriority_process(Some(getpid())) {
            let _ = setpriority_process(None, (normal + LOWER).min(19));
        }
    }
}
