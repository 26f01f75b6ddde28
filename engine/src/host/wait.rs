//! Waits for the host, limited by the time and the cancellation of an evaluation.

use std::fmt;
use std::sync::Arc;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::cancel::Cancel;

/// Interval between calls of the caller's hook during a wait.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Limits of a call of the host: a deadline and a cancellation handle.
#[derive(Clone, Copy, Default)]
pub struct Wait<'a> {
    until: Option<Instant>,
    cancel: Option<&'a Cancel>,
    on_poll: Option<&'a dyn Fn()>,
}

impl fmt::Debug for Wait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

/// The reason why a wait ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The deadline has passed.
    TimedOut,
    /// The evaluation was cancelled while it waited.
    Cancelled,
    /// The [`Reply`] was dropped without a value.
    Disconnected,
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "the deadline of the evaluation has passed",
            Self::Cancelled => "the evaluation was cancelled",
            Self::Disconnected => "the call ended without a result",
        })
    }
}

impl std::error::Error for WaitError {}

impl<'a> Wait<'a> {
    /// Creates the limits of a call. Without a deadline and a handle it waits forever.
    pub fn new(until: Option<Instant>, cancel: Option<&'a Cancel>) -> Self {
        Self {
            until,
            cancel,
            on_poll: None,
        }
    }

    /// Sets a hook that is called every 20 ms while this thread waits.
    #[must_use]
    pub(crate) fn on_poll(mut self, hook: Option<&'a dyn Fn()>) -> Self {
        self.on_poll = hook;
        self
    }

    /// Returns the same wait with its deadline at `at` or earlier.
    #[must_use]
    pub fn at_most_until(mut self, at: Option<Instant>) -> Self {
        self.until = match (self.until, at) {
            (Some(own), Some(at)) => Some(own.min(at)),
            (own, at) => own.or(at),
        };
        self
    }

    /// Returns the deadline, if there is one.
    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Returns the reason why the wait has ended, or `None` while it has not.
    pub fn check_ended(&self) -> Option<WaitError> {
        if self.cancel.is_some_and(Cancel::is_cancelled) {
            return Some(WaitError::Cancelled);
        }
        let late = self.until.is_some_and(|until| Instant::now() >= until);
        late.then_some(WaitError::TimedOut)
    }

    /// Blocks this thread until another thread sends a value or the wait ends. `pass` passes the [`Reply`] to that
    /// thread.
    ///
    /// # Errors
    /// The wait ended, or the [`Reply`] was dropped. A value that is sent later is dropped.
    pub fn reply<T>(&self, pass: impl FnOnce(Reply<T>)) -> Result<T, WaitError> {
        let slot = Arc::new(Mutex::new(ReplyState::Open));
        let reply = Reply {
            slot: slot.clone(),
            waiter: thread::current(),
        };
        let _waiting = self.cancel.map(Cancel::wakes_this_thread);
        pass(reply);
        loop {
            match std::mem::replace(&mut *slot.lock(), ReplyState::Open) {
                ReplyState::Filled(value) => return Ok(value),
                ReplyState::Abandoned => return Err(WaitError::Disconnected),
                ReplyState::Open => {}
            }
            match self.check_ended() {
                Some(over) => return Err(over),
                None => self.park(),
            }
        }
    }

    /// Blocks this thread for a duration, or until the wait ends.
    ///
    /// # Errors
    /// The reason why it ended early.
    pub fn pause(&self, time: Duration) -> Result<(), WaitError> {
        let end = Instant::now().checked_add(time);
        let _waiting = self.cancel.map(Cancel::wakes_this_thread);
        let pause = self.at_most_until(end);
        loop {
            match (self.check_ended(), pause.check_ended()) {
                (Some(over), _) => return Err(over),
                (None, Some(_)) => return Ok(()),
                (None, None) => pause.park(),
            }
        }
    }

    fn park(&self) {
        let left = self
            .until
            .map(|until| until.saturating_duration_since(Instant::now()));
        match (self.on_poll, left) {
            (Some(hook), left) => {
                thread::park_timeout(left.map_or(POLL_INTERVAL, |left| left.min(POLL_INTERVAL)));
                hook();
            }
            (None, Some(left)) => thread::park_timeout(left),
            (None, None) => thread::park(),
        }
    }
}

enum ReplyState<T> {
    Open,
    Filled(T),
    Abandoned,
}

/// Sends a value to a waiting thread. Dropping it ends the wait with an error.
pub struct Reply<T> {
    slot: Arc<Mutex<ReplyState<T>>>,
    waiter: Thread,
}

impl<T> Reply<T> {
    /// Sends the value and wakes the waiting thread.
    pub fn send(self, value: T) {
        *self.slot.lock() = ReplyState::Filled(value);
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let mut slot = self.slot.lock();
        if matches!(*slot, ReplyState::Open) {
            *slot = ReplyState::Abandoned;
        }
        drop(slot);
        self.waiter.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_ends_a_wait() {
        let answer = Wait::default().reply(|reply| {
            thread::spawn(move || reply.send(7));
        });
        assert_eq!(answer, Ok(7));
        let nobody = Wait::default().reply(|reply: Reply<u8>| drop(reply));
        assert_eq!(nobody, Err(WaitError::Disconnected));
    }

    #[test]
    fn time_and_cancellation_end_a_wait() {
        let cancel = Cancel::default();
        let soon = Instant::now() + Duration::from_millis(20);
        let mut kept = None;
        let late =
            Wait::new(Some(soon), Some(&cancel)).reply(|reply: Reply<u8>| kept = Some(reply));
        assert_eq!(late, Err(WaitError::TimedOut));
        let other = cancel.clone();
        thread::spawn(move || {
            // most often the pause has started by then; it ends in any case
            thread::sleep(Duration::from_millis(20));
            other.cancel();
        });
        let end = Instant::now() + Duration::from_mins(10);
        let pause = Wait::new(None, Some(&cancel)).pause(Duration::from_mins(10));
        assert_eq!(pause, Err(WaitError::Cancelled));
        assert!(Instant::now() < end);
        assert_eq!(Wait::default().pause(Duration::from_millis(1)), Ok(()));
    }

    #[test]
    fn a_waiting_thread_polls() {
        let cancel = Cancel::default();
        let looks = std::cell::Cell::new(0);
        let hook = || {
            looks.set(looks.get() + 1);
            if looks.get() == 3 {
                cancel.cancel();
            }
        };
        let wait = Wait::new(None, Some(&cancel)).on_poll(Some(&hook));
        let mut kept = None;
        let answer = wait.reply(|reply: Reply<u8>| kept = Some(reply));
        assert_eq!(answer, Err(WaitError::Cancelled));
        assert_eq!(looks.get(), 3);
    }
}
