//! Options of a search: optional shortcuts and measurements.

use std::time::Instant;

use super::builtin_errors::BuiltinErrors;
use super::machine::Topdown;
use crate::trace::{Count, Instruments, MeasuredOperation, Observer};

/// Shortcuts of a search that do not change the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shortcuts {
    /// If set, rules that the index excludes are skipped.
    pub indexing: bool,
    /// If set, rules after the first match are skipped, provided that all have the same value.
    pub early_exit: bool,
}

impl Shortcuts {
    /// Sets whether rules that the index excludes are skipped.
    #[must_use]
    pub fn indexing(mut self, indexing: bool) -> Self {
        self.indexing = indexing;
        self
    }

    /// Sets whether rules after the first match are skipped, provided that all have the same value.
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

/// Options of the tracing evaluator. An observer alone is enough.
///
/// ```
/// use solon::trace::Coverage;
/// use solon::{Engine, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow if input.x\nallow if input.y")?;
/// let query = engine.prepare_query("data.p.allow")?;
/// let mut coverage = Coverage::default();
/// query.search(&Request::new().input_json(br#"{"x": true}"#), &mut coverage)?;
/// let modules = engine.modules();
/// let report = coverage.report(&[], modules.iter().map(|(_, module)| &**module));
/// assert_eq!((report.covered_lines, report.not_covered_lines), (1, 1));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Default)]
#[non_exhaustive]
pub struct SearchOptions<'o> {
    /// Receives an event for each step.
    pub observer: Option<&'o mut dyn Observer>,
    /// Collects counts and times.
    pub instruments: Option<&'o Instruments>,
    /// Enabled shortcuts.
    pub shortcuts: Shortcuts,
    /// Collects the errors of built-ins.
    pub builtin_errors: Option<&'o BuiltinErrors>,
    /// `true` if a debug build also runs the fast evaluator; a different result is an internal error. Queries only.
    pub cross_check: bool,
}

impl<'o, O: Observer> From<&'o mut O> for SearchOptions<'o> {
    fn from(observer: &'o mut O) -> Self {
        Self::default().observer(observer)
    }
}

impl<'o> SearchOptions<'o> {
    /// Sets the observer, which receives an event for each step.
    #[must_use]
    pub fn observer(mut self, observer: &'o mut dyn Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Sets the collector for counts and times.
    #[must_use]
    pub fn instruments(mut self, instruments: &'o Instruments) -> Self {
        self.instruments = Some(instruments);
        self
    }

    /// Sets the enabled shortcuts. The default enables all.
    #[must_use]
    pub fn shortcuts(mut self, shortcuts: Shortcuts) -> Self {
        self.shortcuts = shortcuts;
        self
    }

    /// Sets whether a debug build also runs the fast evaluator; a different result is an internal error.
    #[must_use]
    pub fn cross_check(mut self, cross_check: bool) -> Self {
        self.cross_check = cross_check;
        self
    }

    /// Sets the collector for errors of built-ins.
    #[must_use]
    pub fn builtin_errors(mut self, faults: &'o BuiltinErrors) -> Self {
        self.builtin_errors = Some(faults);
        self
    }
}

impl<'e> Topdown<'e> {
    /// Sets the shortcuts and the collector for counts and times.
    #[must_use]
    pub fn tuned(mut self, shortcuts: Shortcuts, instruments: Option<&'e Instruments>) -> Self {
        self.shortcuts = shortcuts;
        self.instruments = instruments;
        self
    }

    /// Returns the start time of an operation if times are measured.
    pub(super) fn begin(&self) -> Option<Instant> {
        self.instruments.map(|_| Instant::now())
    }

    /// Records the end of an operation. Does nothing unless operations are measured.
    pub(super) fn end(&self, operation: MeasuredOperation, start: Option<Instant>) {
        if let (Some(instruments), Some(start)) = (self.instruments, start) {
            instruments.took(operation, start);
        }
    }

    /// Increments a counter if counts are collected.
    pub(super) fn tally(&self, what: Count) {
        if let Some(instruments) = self.instruments {
            instruments.count(what);
        }
    }
}
