//! Documents that are found without memory and a machine, where rules do no more than look things up and compare them.

use std::sync::atomic::{AtomicU8, Ordering};

use super::document::{DocumentHandle, ResolvedEntry};
use super::{Input, Request};
use crate::eval::{FastPath, FastResult, InputSource};
use crate::host::Cancel;
use crate::program::RuleId;
use crate::snapshot::SnapshotState;

/// Whether glances at a document pay. They are given up when more fail than tell something.
#[derive(Default)]
pub(crate) struct FastPathStats {
    failed: AtomicU8,
}

impl FastPathStats {
    /// Failures, beyond what succeeds, after which there are no more glances.
    const MAX_FAILURES: u8 = 16;

    #[inline]
    fn is_worthwhile(&self) -> bool {
        self.failed.load(Ordering::Relaxed) < Self::MAX_FAILURES
    }

    /// The rules are others now.
    pub fn reset(&self) {
        self.failed.store(0, Ordering::Relaxed);
    }

    /// Threads may count at once and lose some: it is an estimate.
    #[inline]
    fn count(&self, glimpse: &FastResult<'_>) {
        let failed = self.failed.load(Ordering::Relaxed);
        match glimpse {
            FastResult::Unsure => self
                .failed
                .store(failed.saturating_add(1), Ordering::Relaxed),
            // most often there is nothing to write, and threads do not meet here
            _ if failed > 0 => self.failed.store(failed - 1, Ordering::Relaxed),
            _ => {}
        }
    }
}

impl DocumentHandle {
    /// What a glance at the input shows of the document.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "what it finds was just written in parts, and is slow to move as a whole"
    )]
    pub(super) fn fast_path<'e>(
        &'e self,
        found: ResolvedEntry,
        state: &'e SnapshotState,
        request: &Request<'e>,
    ) -> FastResult<'e> {
        let input = match request.input {
            Input::Undefined => None,
            Input::Value(value) => Some(InputSource::Value(value)),
            // memory is needed first
            Input::Json(_) | Input::Member { .. } => return FastResult::Unsure,
        };
        let Some(rule) = self.fast_path_rule(found, request) else {
            return FastResult::Unsure;
        };
        self.run_fast_path(rule, input, state, request)
    }

    /// What a glance tells of a rule.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for the whole")]
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

    /// The rule whose document is asked for, if it is one to be glanced at, and the request is neither cancelled nor to
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
            .filter(|_| !request.cancel.is_some_and(Cancel::is_cancelled))
    }
}
