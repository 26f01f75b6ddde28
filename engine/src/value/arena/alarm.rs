//! What ends an evaluation early. Steps that take long by themselves, like sorting a million values, look at it while
//! they go on; nobody uses what they leave unfinished.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::Arena;

/// When an evaluation ends.
#[derive(Default)]
pub(super) struct Alarm {
    deadline: Cell<Option<Instant>>,
    cancelled: RefCell<Option<Arc<AtomicBool>>>,
    ended: Cell<Option<Ended>>,
}

/// Why a long step was left unfinished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Time is up.
    Late,
    /// Somebody cancelled the evaluation.
    Cancelled,
}

impl Arena {
    /// Sets when the evaluation ends: at a time, or when somebody raises a flag.
    pub fn set_alarm(&self, deadline: Option<Instant>, cancelled: Option<Arc<AtomicBool>>) {
        self.alarm.deadline.set(deadline);
        self.alarm.cancelled.replace(cancelled);
    }

    /// Why a step was left unfinished, if one was.
    pub fn ended(&self) -> Option<Ended> {
        self.alarm.ended.get()
    }

    /// Whether a long step goes on. If not, what it makes is worth nothing.
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
        let late = self
            .deadline
            .get()
            .is_some_and(|deadline| Instant::now() >= deadline);
        late.then_some(Ended::Late)
    }
}
