//! Transactions of the worker: leases of due bundles and results of attempts.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use solon_outbound::backoff::{after_failures, between};

use super::Stages;
use super::attempt::{AttemptResult, Ended, Shared};
use super::running::{CancelReason, UnchangedBundle};
use crate::db::{DbError, Due, Lease, LiveLease, Mode, Transaction};
use crate::limits;
use crate::model::{Phase, Status, StatusRecord};

/// The retry of a failed build is delayed as the fifth one of a client is: about one second.
const FIRST_FAILURES: u32 = 5;

/// Message of the record of a bundle whose first build was cancelled.
const CANCELLED: &str =
    "worker stopped due to a configuration change or shutdown before completing a build iteration";

/// Due bundles, in the order in which they are built.
#[derive(Default)]
pub struct DueBundles {
    pub bundles: VecDeque<Due>,
    /// `true` if the query that found them stopped at its limit.
    has_more: bool,
    /// `true` if a poll has passed since the query.
    pub is_outdated: bool,
}

impl DueBundles {
    pub fn is_to_query(&self) -> bool {
        self.is_outdated || self.bundles.is_empty() && self.has_more
    }

    /// Returns `true` if no bundle is due until the next poll.
    pub fn is_exhausted(&self) -> bool {
        self.bundles.is_empty() && !self.is_to_query()
    }

    /// Takes at most `count` bundles.
    fn take(&mut self, count: usize) -> Vec<Due> {
        let count = count.min(self.bundles.len());
        self.bundles.drain(..count).collect()
    }
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

    /// Ends leases of attempts that have ended without recording a result, such as without the database. They would be renewed otherwise.
    pub async fn abandon(&self, leases: Vec<LiveLease>) -> Result<(), DbError> {
        let mut transaction = self.database.begin(Mode::Write).await?;
        for lease in leases {
            tracing::warn!(
                bundle = lease.bundle,
                "the result of a build is unknown; the bundle is built again"
            );
            let instance = &self.options.instance;
            transaction.abandon_lease(instance, lease).await?;
        }
        transaction.commit().await
    }

    /// Runs due triggers, and finds due bundles.
    pub async fn find_due(&self) -> Result<DueBundles, DbError> {
        let Self {
            database, options, ..
        } = self;
        let mut transaction = database.begin(Mode::Read).await?;
        let triggers = transaction.due_triggers().await;
        let due = transaction
            .due_builds(&options.instance, limits::DUE_BUNDLES)
            .await;
        transaction.roll_back().await;
        if !triggers?.is_empty() {
            let mut transaction = database.begin(Mode::Write).await?;
            let run = transaction.run_due_triggers().await;
            transaction.settle(run).await?;
        }
        let bundles = VecDeque::from(due?);
        Ok(DueBundles {
            has_more: i64::try_from(bundles.len()).is_ok_and(|count| count >= limits::DUE_BUNDLES),
            is_outdated: false,
            bundles,
        })
    }

    /// Records the results of attempts that found nothing changed, and takes leases of at most `free` due bundles except for
    /// those that are `running`, in one transaction. Returns the leases with the names of their bundles.
    pub async fn record_and_lease(
        &self,
        unchanged: &[UnchangedBundle],
        due: &mut DueBundles,
        free: usize,
        running: &HashSet<i64>,
    ) -> Result<Vec<(Lease, String)>, DbError> {
        let instance = &self.options.instance;
        let mut transaction = self.database.begin(Mode::Write).await?;
        for unchanged in unchanged {
            unchanged.record(&mut transaction).await?;
        }
        let mut taken = Vec::new();
        while taken.len() < free && !due.bundles.is_empty() {
            let next = due.take(free - taken.len());
            // another instance may have built a bundle since it was found
            for Due { bundle, name } in transaction.still_due(instance, next).await? {
                if running.contains(&bundle) {
                    continue;
                }
                if let Some(lease) = transaction.take_lease(bundle, instance).await? {
                    taken.push((lease, name));
                }
            }
        }
        transaction.commit().await?;
        Ok(taken)
    }
}

impl UnchangedBundle {
    /// Ends the lease. An earlier success stays recorded, so nothing is added.
    async fn record(&self, transaction: &mut Transaction) -> Result<(), DbError> {
        let Self {
            lease,
            name,
            published,
            interval,
        } = self;
        let delay = next_delay(*interval);
        // the statement compares the token itself
        if !transaction
            .end_with_success(lease, published, delay)
            .await?
        {
            tracing::warn!(bundle = name, "the lease of a bundle was lost");
        }
        Ok(())
    }
}

/// Returns the delay until the next attempt after a success. Instances that start at the same time do not stay in step.
fn next_delay(interval: Duration) -> Duration {
    between(interval.mul_f64(0.95), interval)
}

/// Records the result of an attempt and ends its lease in one transaction.
pub async fn finish<S: Stages>(
    shared: &Shared<S>,
    lease: &Lease,
    name: &str,
    ended: Result<Ended, CancelReason>,
) -> Result<(), DbError> {
    let mut transaction = shared.database.begin(Mode::Write).await?;
    if !transaction.has_lease(lease).await? {
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
            let delay = next_delay(ended.interval);
            transaction
                .end_with_success(lease, published, delay)
                .await?;
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
    if let Some(record) = record {
        let recorded = transaction.record_attempt(lease, &record, ended.durations);
        recorded.await?;
    }
    transaction.commit().await
}
