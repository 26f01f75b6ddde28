//! What a search may leave out, and how it is measured.

use std::time::Instant;

use super::builtin_errors::BuiltinErrors;
use super::machine::Topdown;
use crate::trace::{Count, Instruments, Observer, Operation};

/// What a search may leave out because the answer does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shortcuts {
    /// Rules that cannot match, as their index tells.
    pub indexing: bool,
    /// Rules behind the first one that matches, where all have the same value.
    pub early_exit: bool,
}

impl Shortcuts {
    /// Whether rules that cannot match are left out.
    #[must_use]
    pub fn indexing(mut self, indexing: bool) -> Self {
        self.indexing = indexing;
        self
    }

    /// Whether rules behind the first one that matches are left out, where all have the same value.
    #[must_use]
    pub fn early_exit(mut self, early_exit: bool) -> Self {
        self.early_exit = early_exit;
        self
    }
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
///
/// ```
/// use solon::trace::Coverage;
/// use solon::{Engine, Request, SearchOptions};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow if input.x\nallow if input.y")?;
/// let query = engine.prepare_query("data.p.allow")?;
/// let mut coverage = Coverage::default();
/// query.search_as(&Request::new().input_json(br#"{"x": true}"#), SearchOptions::default().observer(&mut coverage))?;
/// let modules = engine.modules();
/// let report = coverage.report(&[], modules.iter().map(|(_, module)| &**module));
/// assert_eq!((report.covered_lines, report.not_covered_lines), (1, 1));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Default)]
#[non_exhaustive]
pub struct SearchOptions<'o> {
    /// Who is told each step.
    pub observer: Option<&'o mut dyn Observer>,
    /// What is measured.
    pub instruments: Option<&'o Instruments>,
    /// What may be left out.
    pub shortcuts: Shortcuts,
    /// Where errors of built-ins are collected.
    pub builtin_errors: Option<&'o BuiltinErrors>,
}

impl<'o> SearchOptions<'o> {
    /// Tells somebody each step.
    #[must_use]
    pub fn observer(mut self, observer: &'o mut dyn Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Measures itself.
    #[must_use]
    pub fn instruments(mut self, instruments: &'o Instruments) -> Self {
        self.instruments = Some(instruments);
        self
    }

    /// Leaves out what it may.
    #[must_use]
    pub fn shortcuts(mut self, shortcuts: Shortcuts) -> Self {
        self.shortcuts = shortcuts;
        self
    }

    /// Collects the errors of built-ins.
    #[must_use]
    pub fn builtin_errors(mut self, faults: &'o BuiltinErrors) -> Self {
        self.builtin_errors = Some(faults);
        self
    }
}

impl<'e> Topdown<'e> {
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
