//! Waiting in tests: for a condition, never for a time within which something is assumed to have happened.

#![allow(dead_code, reason = "each test target uses some of it")]

use std::time::{Duration, Instant};

/// Time after which a test that makes no progress fails. It only ends hangs: a loaded machine may take a hundred times as long
/// as an idle one.
pub const HANG: Duration = Duration::from_mins(2);

/// Pause between two checks of a condition.
pub const PAUSE: Duration = Duration::from_millis(10);

/// A wait that fails the test after [`HANG`].
pub struct Waiting<'a> {
    what: &'a str,
    end: Instant,
}

impl<'a> Waiting<'a> {
    /// Starts a wait. `what` completes the message "timed out waiting until …".
    pub fn until(what: &'a str) -> Self {
        Self {
            what,
            end: Instant::now() + HANG,
        }
    }

    /// Fails the test if the wait has hung.
    pub fn check(&self) {
        let what = self.what;
        assert!(Instant::now() < self.end, "timed out waiting until {what}");
    }

    /// Pauses the thread before the next check of a condition.
    pub fn pause(&self) {
        self.check();
        std::thread::sleep(PAUSE);
    }
}

/// Waits until a condition is true.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    wait_for(what, || condition().then_some(()));
}

/// Waits until there is a value, and returns it.
pub fn wait_for<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let waiting = Waiting::until(what);
    loop {
        if let Some(found) = find() {
            return found;
        }
        waiting.pause();
    }
}
