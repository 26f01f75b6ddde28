//! Processor time of the current thread.

use std::time::Duration;

#[cfg(unix)]
use rustix::time::{ClockId, clock_gettime};

/// Returns the processor time that the calling thread has used. Unlike elapsed time it does not grow while the thread waits, for a
/// processor or for anything else.
#[cfg(unix)]
pub fn thread_time() -> Duration {
    // this clock starts at zero
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Returns the time since the first call on the thread, which is the best approximation of processor time on this system.
#[cfg(not(unix))]
pub fn thread_time() -> Duration {
    use std::time::Instant;

    thread_local! {
        static FIRST: Instant = Instant::now();
    }
    FIRST.with(Instant::elapsed)
}
