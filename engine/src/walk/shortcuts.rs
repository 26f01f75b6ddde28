//! What a search may leave out, and how it is measured.

use std::time::Instant;

use super::faults::Faults;
use super::machine::Walk;
use crate::trace::{Count, Instruments, Observer, Operation};

/// What a search may leave out because the answer does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    /// Rules that cannot match, as their index tells.
    pub indexing: bool,
    /// Rules behind the first one that matches, where all have the same value.
    pub early_exit: bool,
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self {
            indexing: true,
            early_exit: true,
        }
    }
}

/// How a query is searched.
#[derive(Default)]
pub struct Search<'o> {
    /// Who is told each step.
    pub observer: Option<&'o mut dyn Observer>,
    /// What is measured.
    pub instruments: Option<&'o Instruments>,
    /// What may be left out.
    pub shortcuts: Shortcuts,
    /// Where errors of built-ins are collected.
    pub faults: Option<&'o Faults>,
}

impl<'e> Walk<'e> {
    /// The same search with other shortcuts, measured or not.
    #[must_use]
    pub fn tuned(mut self, shortcuts: Shortcuts, instruments: Option<&'e Instruments>) -> Self {
        self.shortcuts = shortcuts;
        self.instruments = instruments;
        self
    }

    /// When an operation begins, if that is measured.
    pub(super) fn begin(&self) -> Option<Instant> {
        self.instruments.map(|_| Instant::now())
    }

    /// An operation has ended.
    pub(super) fn end(&self, operation: Operation, start: Option<Instant>) {
        if let (Some(instruments), Some(start)) = (self.instruments, start) {
            instruments.took(operation, start);
        }
    }

    /// Counts something, if that is measured.
    pub(super) fn tally(&self, what: Count) {
        if let Some(instruments) = self.instruments {
            instruments.count(what);
        }
    }
}
