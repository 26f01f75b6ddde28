//! Errors of built-ins that a search collects instead of failing with the first one.

use std::cell::RefCell;

use super::machine::Topdown;
use crate::limits;
use crate::runtime::{EvalError, Halt};

/// Collector for the errors of built-ins, in the order in which they occur.
#[derive(Debug, Default)]
pub struct BuiltinErrors(RefCell<Vec<EvalError>>);

impl BuiltinErrors {
    /// Returns the collected errors and clears the list.
    pub fn take(&self) -> Vec<EvalError> {
        self.0.take()
    }

    fn has_room(&self) -> bool {
        self.0.borrow().len() < limits::COLLECTED_ERRORS
    }
}

impl<'e> Topdown<'e> {
    /// Collects the errors of built-ins in `faults`, if there is a collector.
    #[must_use]
    pub fn collecting(mut self, faults: Option<&'e BuiltinErrors>) -> Self {
        self.builtin_errors = faults;
        self
    }

    /// Adds an error of a built-in to the collector, if there is one.
    pub(super) fn collect_builtin_error(&mut self, halt: Halt) {
        if let Some(faults) = self.builtin_errors.filter(|faults| faults.has_room()) {
            let mut error = *halt.into_error();
            error.stack = self.running();
            faults.0.borrow_mut().push(error);
        }
    }
}
