//! The fast path: documents whose rules only look up and compare values are evaluated without an arena and a machine.

use std::sync::atomic::{AtomicU8, Ordering};

use super::document::{DocumentHandle, ResolvedEntry};
use super::{Input, Request};
use crate::eval::{FastPath, FastResult, InputSource};
use crate::program::RuleId;
use crate::snapshot::SnapshotState;

/// Estimates whether the fast path is worthwhile for a document. It is disabled when it fails more often than it
/// succeeds.
#[derive(Default)]
pub(crate) struct FastPathStats {
    failed: AtomicU8,
}

impl FastPathStats {
    /// Number of failures in excess of successes that disables the fast path.
    const MAX_FAILURES: u8 = 16;

    #[inline]
    fn is_worthwhile(&self) -> bool {
        self.failed.load(Ordering::Relaxed) < Self::MAX_FAILURES
    }

    /// Forgets all failures, because the rules have changed.
    pub fn reset(&self) {
        self.failed.store(0, Ordering::Relaxed);
    }

    /// Counts an outcome. Concurrent updates may be lost: it is an estimate.
    #[inline]
    fn count(&self, glimpse: &FastResult<'_>) {
        let failed = self.failed.load(Ordering::Relaxed);
        match glimpse {
            FastResult::Unsure => self
                .failed
                .store(failed.saturating_add(1), Ordering::Relaxed),
            // most often there is nothing to write, so that threads do not contend
            _ if failed > 0 => self.failed.store(failed - 1, Ordering::Relaxed),
            _ => {}
        }
    }
}

impl DocumentHandle {
    /// Evaluates the document on the fast path, if the input needs no parsing.
    #[inline]
    pub(super) fn fast_path<'e>(
        &'e self,
        found: ResolvedEntry,
        state: &'e SnapshotState,
        request: &Request<'e>,
    ) -> FastResult<'e> {
        let input = match request.input {
            Input::Undefined => None,
            Input::Value(value) => Some(InputSource::Value(value)),
            // parsing needs an arena.
            Input::Json(_) | Input::Member { .. } => return FastResult::Unsure,
        };
        let Some(rule) = self.fast_path_rule(found, request) else {
            return FastResult::Unsure;
        };
        if request.check_start(&self.shared).is_err() {
            // the machine returns the error
            return FastResult::Unsure;
        }
        self.run_fast_path(rule, input, state, request)
    }

    /// Evaluates a rule on the fast path.
    #[inline]
    pub(super) fn run_fast_path<'e>(
        &self,
        rule: RuleId,
        input: Option<InputSource<'e>>,
        state: &'e SnapshotState,
        request: &Request<'_>,
    ) -> FastResult<'e> {
        let turns = request.bounds(&self.shared).steps.unwrap_or(u64::MAX);
        let program = &*state.policy.program;
        let data = state.documents.root();
        let glimpse = FastPath::new(program, input, data, turns).rule(rule);
        self.fast_path_stats.count(&glimpse);
        glimpse
    }

    /// Returns the rule of the document if the fast path applies: it must be worthwhile, and the evaluation must not
    /// end with the first error of a built-in.
    #[inline]
    pub(super) fn fast_path_rule(
        &self,
        found: ResolvedEntry,
        request: &Request<'_>,
    ) -> Option<RuleId> {
        found
            .whole_rule()
            .filter(|_| self.fast_path_stats.is_worthwhile())
            .filter(|_| !request.strict_builtin_errors)
    }
}
