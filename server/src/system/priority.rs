//! The priority of threads (Linux, where each has its own).

/// How far threads of long evaluations stand back behind those that read and answer, which need little and are waited for;
/// under full load they still have a part of the time.
#[cfg(target_os = "linux")]
const BACK: i32 = 5;

/// A priority, where the system tells it.
#[derive(Clone, Copy, Debug)]
pub struct Priority(#[cfg(target_os = "linux")] Option<i32>);

#[cfg(target_os = "linux")]
impl Priority {
    /// That of the calling thread.
    pub fn of_this_thread() -> Self {
        Self(rustix::process::getpriority_process(None).ok())
    }

    /// Lets threads of this priority go before the calling one; where that is refused, nothing changes.
    pub fn stand_back(self) {
        if let Some(priority) = self.0 {
            let _ = rustix::process::setpriority_process(None, priority.saturating_add(BACK));
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Priority {
    /// That of the calling thread.
    pub fn of_this_thread() -> Self {
        Self()
    }

    /// Lets threads of this priority go before the calling one; here they are all alike.
    pub fn stand_back(self) {}
}
