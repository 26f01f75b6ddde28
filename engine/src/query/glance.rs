//! Documents that are found without memory and a machine, where rules do no more than look things up and compare them.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU8, Ordering};

use super::{DocumentInner, Input, Request};
use crate::eval::{Entry, Given, Glance, Glimpse};
use crate::host::Cancel;
use crate::program::RuleId;
use crate::value::{V, Value};

/// Whether glances at a document pay. They are given up when more fail than tell something.
#[derive(Default)]
pub(crate) struct Glances {
    failed: AtomicU8,
}

impl Glances {
    /// Failures, beyond what succeeds, after which there are no more glances.
    const ENOUGH: u8 = 16;

    #[inline]
    fn pay(&self) -> bool {
        self.failed.load(Ordering::Relaxed) < Self::ENOUGH
    }

    /// Threads may count at once and lose some: it is an estimate.
    #[inline]
    fn count(&self, glimpse: &Glimpse<'_>) {
        let failed = self.failed.load(Ordering::Relaxed);
        match glimpse {
            Glimpse::Unsure => self
                .failed
                .store(failed.saturating_add(1), Ordering::Relaxed),
            // most often there is nothing to write, and threads do not meet here
            _ if failed > 0 => self.failed.store(failed - 1, Ordering::Relaxed),
            _ => {}
        }
    }
}

impl DocumentInner {
    /// The document, when a glance at the input shows it; else gives `read` back.
    #[inline]
    pub(super) fn glance<R, F: FnOnce(V<'_>) -> R>(
        &self,
        request: &Request<'_>,
        read: F,
    ) -> Result<Option<R>, F> {
        let input = match request.input {
            Input::Undefined => None,
            Input::Value(value) => Some(Given::Value(value)),
            // memory is needed first
            Input::Json(_) => return Err(read),
        };
        let Some(rule) = self.glanced(request) else {
            return Err(read);
        };
        let now = OnceCell::new();
        let data = || match request.snapshot {
            Some(snapshot) => snapshot.root(),
            None => now.get_or_init(|| self.basis.shared.current.load()).root(),
        };
        match self.glimpse(rule, input, data, request) {
            Glimpse::Found(value) => Ok(Some(read(value))),
            Glimpse::Undefined => Ok(None),
            Glimpse::Unsure => Err(read),
        }
    }

    /// What a glance tells of a rule.
    #[inline]
    pub(super) fn glimpse<'e>(
        &'e self,
        rule: RuleId,
        input: Option<Given<'e>>,
        data: impl Fn() -> &'e Value,
        request: &Request<'_>,
    ) -> Glimpse<'e> {
        let limits = request.limits.unwrap_or(&self.basis.shared.limits);
        let turns = limits.steps.unwrap_or(u64::MAX);
        let glimpse = Glance::new(&self.basis.program, input, data, turns).rule(rule);
        self.glances.count(&glimpse);
        glimpse
    }

    /// The rule whose document is asked for, if it is one to be glanced at, and the request is neither cancelled nor to
    /// end with the first error of a built-in.
    #[inline]
    pub(super) fn glanced(&self, request: &Request<'_>) -> Option<RuleId> {
        match &self.entry {
            Entry::Rule(rule, keys) if keys.is_empty() && self.glances.pay() => Some(*rule),
            _ => None,
        }
        .filter(|_| !request.strict_builtin_errors)
        .filter(|_| !request.cancel.is_some_and(Cancel::is_cancelled))
    }
}
