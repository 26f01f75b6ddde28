//! State of a failed evaluation that the search for its error needs.

use std::cell::Cell;

use crate::builtins::{BuiltinContext, ResumeState};

/// Clock, random numbers and remaining budget of a failed evaluation. With them the search for its error returns the
/// same results and does not spend a second budget.
#[derive(Default)]
pub(crate) struct Replay(Cell<Option<Box<ResumeState>>>);

impl Replay {
    /// Stores the state of a failed evaluation.
    #[cold]
    pub fn keep(&self, call: &mut BuiltinContext<'_>) {
        self.0.set(Some(Box::new(call.take_resume_state())));
    }

    /// Returns the stored state, and leaves the default one.
    pub fn take(&self) -> ResumeState {
        self.0.take().map(|left| *left).unwrap_or_default()
    }
}
