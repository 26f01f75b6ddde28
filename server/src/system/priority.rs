//! Scheduling priority of threads.

/// Increment of the nice value of a thread with a lower priority. A thread with the normal priority preempts it, and gets nine times its
/// share of a processor if both can run.
#[cfg(target_os = "linux")]
pub const LOWER: i32 = 10;

/// Lowers the priority of the calling thread until it ends: a process without privileges cannot raise it again. Only Linux has
/// nice values of threads; elsewhere nothing changes.
pub fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    // without it the thread only delays others more
    let _ = rustix::process::nice(LOWER);
}
