//! Processor time.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the processor time that the calling thread has used. Unlike passed time it does not grow while the thread waits, for a
/// processor or for anything else.
pub fn thread_time() -> Duration {
    // this clock starts at zero
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
