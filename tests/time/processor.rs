//! Processor time in tests: the measure of work that does not depend on what else runs on the machine.

use std::time::Duration;

/// Processor time that the calling thread has used. Zero on systems that do not report it, where bounds on it are not tested.
pub fn thread_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(time).expect("a clock does not run backwards")
    }
    #[cfg(not(unix))]
    Duration::ZERO
}

/// Calls `run` and returns its result and the processor time that the calling thread used for it. Threads that `run` starts
/// are not counted.
pub fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = thread_time();
    let result = run();
    (result, thread_time().saturating_sub(start))
}
