//! Waiting for the outside, no longer than an evaluation may last.

use std::fmt;
use std::sync::Arc;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::cancel::Cancel;

/// How long a wait goes on before the caller's hook is called.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long a call to the outside may take.
#[derive(Clone, Copy, Default)]
pub struct Wait<'a> {
    until: Option<Instant>,
    cancel: Option<&'a Cancel>,
    at_looks: Option<&'a dyn Fn()>,
}

impl fmt::Debug for Wait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

/// Why a wait ended without what it was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The time is up.
    TimedOut,
    /// Somebody stopped the evaluation.
    Cancelled,
    /// Whoever was to answer is gone.
    Disconnected,
}

impl<'a> Wait<'a> {
    /// Up to a moment, or until told to stop.
    pub fn new(until: Option<Instant>, cancel: Option<&'a Cancel>) -> Self {
        Self {
            until,
            cancel,
            at_looks: None,
        }
    }

    /// With something to call now and then while this thread waits.
    #[must_use]
    pub(crate) fn on_poll(mut self, hook: Option<&'a dyn Fn()>) -> Self {
        self.at_looks = hook;
        self
    }

    /// As long as this one, but not past `moment`.
    #[must_use]
    pub fn at_most_until(mut self, moment: Option<Instant>) -> Self {
        self.until = match (self.until, moment) {
            (Some(own), Some(moment)) => Some(own.min(moment)),
            (own, moment) => own.or(moment),
        };
        self
    }

    /// The moment at which it ends; `None` when it has none.
    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Why it is over, if it is.
    pub fn check_ended(&self) -> Option<WaitError> {
        if self.cancel.is_some_and(Cancel::is_cancelled) {
            return Some(WaitError::Cancelled);
        }
        let late = self.until.is_some_and(|until| Instant::now() >= until);
        late.then_some(WaitError::TimedOut)
    }

    /// Blocks this thread until somebody answers or the wait is over. `ask` hands the [`Reply`] to whoever will
    /// answer from another thread.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn reply<T>(&self, ask: impl FnOnce(Reply<T>)) -> Result<T, WaitError> {
        let slot = Arc::new(Mutex::new(ReplyState::Open));
        let reply = Reply {
            slot: slot.clone(),
            waiter: thread::current(),
        };
        let _waiting = self.cancel.map(Cancel::wakes_this_thread);
        ask(reply);
        loop {
            match std::mem::replace(&mut *slot.lock(), ReplyState::Open) {
                ReplyState::Filled(answer) => return Ok(answer),
                ReplyState::Abandoned => return Err(WaitError::Disconnected),
                ReplyState::Open => {}
            }
            match self.check_ended() {
                Some(over) => return Err(over),
                None => self.park(),
            }
        }
    }

    /// Blocks this thread for a time, or until the wait is over.
    ///
    /// # Errors
    /// Why it ended early.
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
        match (self.at_looks, left) {
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

/// The duty to answer a thread that waits.
pub struct Reply<T> {
    slot: Arc<Mutex<ReplyState<T>>>,
    waiter: Thread,
}

impl<T> Reply<T> {
    /// Answers.
    pub fn send(self, answer: T) {
        *self.slot.lock() = ReplyState::Filled(answer);
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
            // most often the pause has begun by then; it ends in any case
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
