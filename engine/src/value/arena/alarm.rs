//! Deadline and cancellation. Steps that take long by themselves, like sorting a million values, poll them and stop.
//! Their unfinished results are never used.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::Arena;

/// Deadline and cancellation flag of an evaluation.
#[derive(Default)]
pub(super) struct Alarm {
    deadline: Cell<Option<Instant>>,
    cancelled: RefCell<Option<Arc<AtomicBool>>>,
    ended: Cell<Option<Ended>>,
}

/// The reason why a long step was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The deadline has passed.
    Late,
    /// The caller cancelled the evaluation.
    Cancelled,
}

impl Arena {
    /// Sets the deadline and the cancellation flag of the evaluation.
    pub fn set_alarm(&self, deadline: Option<Instant>, cancelled: Option<Arc<AtomicBool>>) {
        self.alarm.deadline.set(deadline);
        self.alarm.cancelled.replace(cancelled);
    }

    /// Returns the reason why a step was interrupted, if one was.
    pub fn ended(&self) -> Option<Ended> {
        self.alarm.ended.get()
    }

    /// Returns `true` if a long step may continue. Otherwise its result must not be used.
    pub fn goes_on(&self) -> bool {
        if self.alarm.ended.get().is_none() {
            self.alarm.ended.set(self.alarm.poll());
        }
        self.alarm.ended.get().is_none()
    }
}

impl Alarm {
    #[cold]
    fn poll(&self) -> Option<Ended> {
        let cancelled = self.cancelled.borrow();
        if cancelled
            .as_ref()
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
        {
            return Some(Ended::Cancelled);
        }
        let is_late = self
            .deadline
            .get()
            .is_some_and(|deadline| Instant::now() >= deadline);
        is_late.then_some(Ended::Late)
    }
}
