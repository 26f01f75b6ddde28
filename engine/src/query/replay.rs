//! What a failed evaluation leaves to the search for its error.

use std::cell::Cell;

use crate::builtins::{BuiltinContext, ResumeState};

/// Where a failed evaluation leaves its clock, its randomness and the rest of its budget, so that the search for its
/// error sees the same and spends no second budget.
#[derive(Default)]
pub(crate) struct Replay(Cell<Option<Box<ResumeState>>>);

impl Replay {
    /// Keeps what an evaluation leaves that has failed.
    #[cold]
    pub fn keep(&self, call: &mut BuiltinContext<'_>) {
        self.0.set(Some(Box::new(call.take_resume_state())));
    }

    /// What it left.
    pub fn take(&self) -> ResumeState {
        self.0.take().map(|left| *left).unwrap_or_default()
    }
}
