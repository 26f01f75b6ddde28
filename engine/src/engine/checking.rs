//! Checking changes without applying them.

use std::sync::Arc;

use super::Engine;
use super::change::{Change, CheckOptions};
use super::committing::make;
use super::compiling::CompileMode;
use crate::error::Error;
use crate::snapshot::{Snapshot, next_trial_version_id};
use crate::store::Transaction;
use crate::trace::Timer;

impl Engine {
    /// Returns the snapshot that a change would lead to, without applying the change. The snapshot is evaluated like
    /// any other ([`Request::snapshot`](crate::Request::snapshot),
    /// [`PreparedQuery::pin_to`](crate::PreparedQuery::pin_to)).
    ///
    /// ```
    /// use solon::{Change, CheckOptions, Engine, Request, Value};
    ///
    /// let engine = Engine::new();
    /// engine.set_module("p.rego", "package p\nallow := false")?;
    /// let allow = engine.prepare_document("data.p.allow")?;
    ///
    /// let mut change = Change::default();
    /// change.set_module("p.rego", "package p\nallow := true");
    /// let after = engine.check(change, CheckOptions::default())?;
    /// let request = Request::new();
    /// assert_eq!(allow.evaluate(&request.snapshot(&after))?, Some(Value::from(true)));
    /// assert_eq!(allow.evaluate(&request)?, Some(Value::from(false)));
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`Self::apply`], except for errors of the store.
    pub fn check(&self, change: Change, options: CheckOptions<'_>) -> Result<Snapshot, Error> {
        let now;
        let before = match options.snapshot {
            Some(snapshot) => snapshot.state(),
            None => {
                now = self.now();
                &now
            }
        };
        let mode = CompileMode::with_plans(options.strict || self.inner.options.strict);
        let Change { modules, writes } = change;
        let edit = |transaction: &mut Transaction| make(writes, transaction);
        let mut next = self.prepare_commit(before, modules, edit, mode, Timer::default())?;
        if let Some(policy) = &mut next.policy {
            policy.version_id = next_trial_version_id();
        }
        let state = next.state(before, next_trial_version_id());
        Ok(Snapshot::new(Arc::new(state)))
    }

    /// Checks a change as [`Self::check`] does, without plans for an evaluation, which takes less time. The memory that it takes is
    /// freed by the next change or validation, or with the engine.
    ///
    /// # Errors
    /// Errors of [`Self::check`].
    pub fn validate(&self, change: Change) -> Result<(), Error> {
        let before = self.snapshot().into_state();
        let Change { modules, writes } = change;
        let edit = |transaction: &mut Transaction| make(writes, transaction);
        let options = CompileMode {
            strict: self.inner.options.strict,
            plans: false,
        };
        let next = self.prepare_commit(&before, modules, edit, options, Timer::default())?;
        let state = next.state(&before, next_trial_version_id());
        self.inner.shared.now.retire(state);
        Ok(())
    }
}
