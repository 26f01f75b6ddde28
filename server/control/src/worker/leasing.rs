//! Transactions of the worker: leases of due bundles and results of attempts.

use std::collections::HashSet;

use solon_outbound::backoff::{after_failures, between};

use super::Stages;
use super::attempt::{AttemptResult, Ended, Shared};
use crate::db::{DbError, Due, Lease, LiveLease, Mode};
use crate::model::{Phase, Status, StatusRecord};

/// The retry of a failed build is delayed as the fifth one of a client is: about one second.
const FIRST_FAILURES: u32 = 5;

/// Message of the record of a bundle whose first build was cancelled.
const CANCELLED: &str =
    "worker stopped due to a configuration change or shutdown before completing a build iteration";

/// Why a running attempt is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelReason {
    Changed,
    LeaseLost,
    Stopped,
}

impl<S: Stages> Shared<S> {
    /// Returns the leases of running attempts, and renews them and those that are kept if `is_due`.
    pub async fn current_leases(&self, is_due: bool) -> Result<Vec<LiveLease>, DbError> {
        let mode = if is_due { Mode::Write } else { Mode::Read };
        let mut transaction = self.database.begin(mode).await?;
        let held = if is_due {
            transaction.renew_leases(&self.options.instance).await
        } else {
            transaction.live_leases(&self.options.instance).await
        };
        transaction.settle(held).await
    }

    /// Runs due triggers, and takes leases of at most `free` due bundles except for those that are `running`. Returns them with
    /// the names of the bundles, and `true` if more bundles may be due.
    pub async fn take_due(
        &self,
        free: usize,
        running: &HashSet<i64>,
    ) -> Result<(Vec<(Lease, String)>, bool), DbError> {
        let Self {
            database, options, ..
        } = self;
        let mut transaction = database.begin(Mode::Read).await?;
        let triggers = transaction.due_triggers().await;
        let due = transaction
            .due_builds(&options.instance, i64::try_from(free).unwrap_or(i64::MAX))
            .await;
        transaction.roll_back().await;
        if !triggers?.is_empty() {
            let mut transaction = database.begin(Mode::Write).await?;
            let run = transaction.run_due_triggers().await;
            transaction.settle(run).await?;
        }
        let due = due?;
        let has_more = due.len() >= free;
        let mut taken = Vec::new();
        if due.is_empty() {
            return Ok((taken, has_more));
        }
        let mut transaction = database.begin(Mode::Write).await?;
        for Due { bundle, name } in due {
            if running.contains(&bundle) {
                continue;
            }
            if let Some(lease) = transaction.take_lease(bundle, &options.instance).await? {
                taken.push((lease, name));
            }
        }
        transaction.commit().await?;
        Ok((taken, has_more))
    }
}

/// Records the result of an attempt and ends its lease in one transaction.
pub async fn finish<S: Stages>(
    shared: &Shared<S>,
    lease: &Lease,
    name: &str,
    ended: Result<Ended, CancelReason>,
) -> Result<(), DbError> {
    let mut transaction = shared.database.begin(Mode::Write).await?;
    // An unchanged bundle is recorded only if its last result was a failure.
    let is_new = match &ended {
        Ok(ended) => !matches!(ended.result, AttemptResult::Unchanged(_)) || lease.failures > 0,
        Err(_) => true,
    };
    // the statement that ends the lease compares the token itself, so nothing needs to be checked before it if it is the only one
    if is_new && !transaction.has_lease(lease).await? {
        transaction.roll_back().await;
        tracing::warn!(
            bundle = name,
            "the lease of a bundle was lost; its result is not recorded"
        );
        return Ok(());
    }
    let Ok(ended) = ended else {
        if transaction.latest_status(lease.bundle).await?.is_none() {
            let record = StatusRecord {
                revision: String::new(),
                phase: Phase::Sync,
                status: Status::Cancelled,
                error_message: CANCELLED.to_owned(),
            };
            transaction.record_status(lease.bundle, &record).await?;
        }
        transaction.release_lease(lease).await?;
        return transaction.commit().await;
    };
    let record = ended.result.record();
    match &ended.result {
        AttemptResult::Published(published) | AttemptResult::Unchanged(published) => {
            // instances that start at the same time do not stay in step
            let delay = between(ended.interval.mul_f64(0.95), ended.interval);
            let is_held = transaction
                .end_with_success(lease, published, delay)
                .await?;
            if !is_held {
                tracing::warn!(bundle = name, "the lease of a bundle was lost");
            }
        }
        AttemptResult::Failed(failure, _) => {
            let failures = u32::try_from(lease.failures).unwrap_or(u32::MAX);
            let keeps = failure.phase != Phase::Push;
            let longest = ended.interval.max(shared.options.interval);
            let delay = after_failures(failures.saturating_add(FIRST_FAILURES), longest);
            tracing::warn!(
                bundle = name,
                phase = failure.phase.as_str(),
                status = failure.status.as_str(),
                message = failure.message,
                "a bundle was not built"
            );
            transaction.end_with_failure(lease, keeps, delay).await?;
        }
        AttemptResult::Abandoned => transaction.release_lease(lease).await?,
    }
    if let Some(record) = record.filter(|_| is_new) {
        let recorded = transaction.record_attempt(lease, &record, ended.durations);
        recorded.await?;
    }
    transaction.commit().await
}
