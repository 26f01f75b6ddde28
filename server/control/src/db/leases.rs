//! Leases: the right of one instance to build a bundle.
//!
//! A lease ends [`TERM`] after its last renewal, by the clock of the database. Each lease has a fencing token that is larger
//! than the tokens of all earlier leases of the bundle. Invariant: what an instance writes about a bundle, it writes in a
//! transaction that has checked its token, so that an instance that lost its lease without noticing writes nothing.
//!
//! An instance keeps the lease of a bundle between builds if its storage does not compare fencing tokens, or is a file system of
//! one machine. Until the instance ends, no other one publishes the bundle.

use std::time::Duration;

use super::driver::Cell;
use super::{DbError, Transaction};
use crate::model::StatusRecord;

/// Duration of a lease after its last renewal, in microseconds.
pub(super) const TERM: i64 = 30_000_000;

/// Returns the holder of a lease that an instance keeps between two builds.
pub(super) fn idle_holder(instance: &str) -> String {
    format!("{IDLE}{instance}")
}

/// Prefix of the holder of a lease that is kept between two builds.
pub(super) const IDLE: &str = "kept by ";

/// A lease of a bundle: only its holder may publish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The id of the leased bundle.
    pub bundle: i64,
    /// The instance that holds the lease, until it ends or expires.
    pub holder: String,
    /// The fencing token, larger than those of earlier leases of the bundle.
    pub fence: i64,
    /// The number of changes at the begin of the lease.
    pub changes: i64,
    /// The number of requested builds at the begin of the lease.
    pub requested: i64,
    /// `true` if a build was requested and not served yet.
    pub is_requested: bool,
    /// The number of consecutive failures before.
    pub failures: i64,
    /// The published archive, or `None` if there is none or if it is unknown which one is published, because an earlier
    /// attempt ended without a result.
    pub published: Option<PublishedInputs>,
    /// `true` if the previous lease was not ended by its holder, which may have published something newer than any result
    /// that this instance has cached.
    pub is_takeover: bool,
    /// The time since the end of the last attempt, if there was one.
    pub since_attempt: Option<Duration>,
    /// `true` if the instance has kept the lease since its last build. The end of an attempt keeps such a lease.
    pub is_kept: bool,
    /// The trace of the change or the request that caused the build, in the format of the header `traceparent`.
    pub trace_parent: Option<String>,
}

/// An archive that was built and published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedInputs {
    /// Digest of everything that the archive and its place depend on.
    pub digest: String,
    /// The revision of the published archive.
    pub revision: String,
}

/// A lease that is still held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveLease {
    /// The id of the leased bundle.
    pub bundle: i64,
    /// The fencing token that the instance must present to write.
    pub fence: i64,
    /// The number of changes now.
    pub changes: i64,
}

impl Lease {
    /// Duration of a lease after its last renewal.
    pub const TERM: Duration = Duration::from_micros(TERM.unsigned_abs());

    /// Returns the holder after an attempt.
    fn next_holder(&self) -> Cell {
        if self.is_kept {
            idle_holder(&self.holder).into()
        } else {
            Cell::Null
        }
    }

    /// Returns the time of the last renewal after an attempt.
    fn next_renewal(&self, now: i64) -> Cell {
        if self.is_kept { now.into() } else { Cell::Null }
    }
}

impl Transaction {
    /// Takes the lease of a bundle. Returns `None` if an instance holds it, another one keeps it, or the bundle does not exist.
    /// The transaction must be a write.
    pub async fn take_lease(
        &mut self,
        bundle: i64,
        holder: &str,
    ) -> Result<Option<Lease>, DbError> {
        let row = self
            .first(
                "SELECT bundle_builds.bundle_id, bundle_builds.holder FROM items LEFT JOIN bundle_builds ON bundle_builds.bundle_id = items.id WHERE items.id = ? AND items.kind = 'bundles'",
                vec![bundle.into()],
            )
            .await?;
        let Some(mut row) = row else {
            return Ok(None);
        };
        if row.maybe_int()?.is_none() {
            self.ensure_builds(bundle).await?;
        }
        let abandoned = row.maybe_text()?;
        let now = self.database_now().await?;
        let own_idle_holder = idle_holder(holder);
        let is_kept = abandoned.as_ref() == Some(&own_idle_holder);
        let is_takeover = abandoned.is_some() && !is_kept;
        let changed_rows = self
            .execute(
                "UPDATE bundle_builds SET holder = ?, renewed_at = ?, fence = fence + 1 WHERE bundle_id = ? AND (holder IS NULL OR holder = ? OR renewed_at <= ? OR renewed_at > ?)",
                vec![
                    holder.into(),
                    now.into(),
                    bundle.into(),
                    own_idle_holder.into(),
                    (now - TERM).into(),
                    now.into(),
                ],
            )
            .await?;
        if changed_rows == 0 {
            return Ok(None);
        }
        let row = self
            .first(
                "SELECT fence, changes, requested, served, failures, input_digest, revision, attempted_at FROM bundle_builds WHERE bundle_id = ?",
                vec![bundle.into()],
            )
            .await?;
        let Some(mut row) = row else {
            return Ok(None);
        };
        let (fence, changes, requested) = (row.int()?, row.int()?, row.int()?);
        let is_requested = requested > row.int()?;
        let failures = row.int()?;
        let published = match (row.maybe_text()?, row.maybe_text()?) {
            (Some(digest), Some(revision)) => Some(PublishedInputs { digest, revision }),
            _ => None,
        };
        let since_attempt = row.maybe_int()?.map(|attempted_at| {
            let elapsed = now.saturating_sub(attempted_at);
            Duration::from_micros(u64::try_from(elapsed).unwrap_or(0))
        });
        Ok(Some(Lease {
            bundle,
            holder: holder.to_owned(),
            fence,
            changes,
            requested,
            is_requested,
            failures,
            published: published.filter(|_| !is_takeover),
            is_takeover,
            since_attempt,
            is_kept,
            trace_parent: self.take_trace(bundle).await?,
        }))
    }

    /// Renews every lease of an instance that has not ended, and returns those of running attempts.
    pub async fn renew_leases(&mut self, holder: &str) -> Result<Vec<LiveLease>, DbError> {
        let now = self.database_now().await?;
        self.execute(
            "UPDATE bundle_builds SET renewed_at = ? WHERE (holder = ? OR holder = ?) AND renewed_at > ? AND renewed_at <= ?",
            vec![
                now.into(),
                holder.into(),
                idle_holder(holder).into(),
                (now - TERM).into(),
                now.into(),
            ],
        )
        .await?;
        self.live_leases(holder).await
    }

    /// Returns the leases of running attempts of an instance, renewed or ended, unless another instance has taken them.
    pub async fn live_leases(&mut self, holder: &str) -> Result<Vec<LiveLease>, DbError> {
        let rows = self
            .query(
                "SELECT bundle_id, fence, changes FROM bundle_builds WHERE holder = ?",
                vec![holder.into()],
            )
            .await?;
        rows.into_iter()
            .map(|mut row| {
                Ok(LiveLease {
                    bundle: row.int()?,
                    fence: row.int()?,
                    changes: row.int()?,
                })
            })
            .collect()
    }

    /// Returns `true` if no other instance has taken the lease since.
    pub async fn has_lease(&mut self, lease: &Lease) -> Result<bool, DbError> {
        let row = self
            .first(
                "SELECT fence FROM bundle_builds WHERE bundle_id = ? AND fence = ? AND holder = ?",
                vec![
                    lease.bundle.into(),
                    lease.fence.into(),
                    lease.holder.as_str().into(),
                ],
            )
            .await?;
        Ok(row.is_some())
    }

    /// Ends a lease without a result: the bundle is due at once. What is published is unknown then, so that the next
    /// attempt publishes in any case.
    pub async fn release_lease(&mut self, lease: &Lease) -> Result<(), DbError> {
        let now = self.database_now().await?;
        let released = self.execute(
            "UPDATE bundle_builds SET holder = ?, renewed_at = ?, input_digest = NULL, attempted_at = ?, delay = 0 WHERE bundle_id = ? AND fence = ? AND holder = ?",
            vec![
                lease.next_holder(),
                lease.next_renewal(now),
                now.into(),
                lease.bundle.into(),
                lease.fence.into(),
                lease.holder.as_str().into(),
            ],
        )
        .await?;
        // the next attempt continues the trace of this one, or of a later change
        if released > 0
            && let Some(parent) = &lease.trace_parent
            && !self.has_trace(lease.bundle).await?
        {
            self.set_trace(lease.bundle, parent).await?;
        }
        Ok(())
    }

    /// Ends a lease of an instance whose attempt has ended without recording a result: the bundle is due at once, and what is
    /// published is unknown. The instance keeps the bundle until then, because a write of the attempt may still be under way.
    pub async fn abandon_lease(&mut self, holder: &str, lease: LiveLease) -> Result<(), DbError> {
        let now = self.database_now().await?;
        self.execute(
            "UPDATE bundle_builds SET holder = ?, renewed_at = ?, input_digest = NULL, attempted_at = ?, delay = 0 WHERE bundle_id = ? AND fence = ? AND holder = ?",
            vec![
                idle_holder(holder).into(),
                now.into(),
                now.into(),
                lease.bundle.into(),
                lease.fence.into(),
                holder.into(),
            ],
        )
        .await
        .map(drop)
    }

    /// Ends the leases that an instance keeps. What they have published may be on another machine than the next publisher.
    pub async fn release_idle(&mut self, holder: &str) -> Result<(), DbError> {
        self.execute(
            "UPDATE bundle_builds SET holder = NULL, renewed_at = NULL, input_digest = NULL, delay = 0 WHERE holder = ?",
            vec![idle_holder(holder).into()],
        )
        .await
        .map(drop)
    }

    /// Ends a lease after a success: the storage contains the archive `published`, and the next attempt is due after
    /// `delay`. Returns `false` if the lease was lost. Then nothing is recorded.
    pub async fn end_with_success(
        &mut self,
        lease: &Lease,
        published: &PublishedInputs,
        delay: Duration,
    ) -> Result<bool, DbError> {
        let now = self.database_now().await?;
        let changed_rows = self
            .execute(
                "UPDATE bundle_builds SET holder = ?, renewed_at = ?, attempted_changes = ?, served = ?, attempted_at = ?, delay = ?, failures = 0, input_digest = ?, revision = ?, succeeded_at = ? WHERE bundle_id = ? AND fence = ? AND holder = ?",
                vec![
                    lease.next_holder(),
                    lease.next_renewal(now),
                    lease.changes.into(),
                    lease.requested.into(),
                    now.into(),
                    micros(delay).into(),
                    published.digest.as_str().into(),
                    super::statuses::cut_revision(&published.revision).into(),
                    now.into(),
                    lease.bundle.into(),
                    lease.fence.into(),
                    lease.holder.as_str().into(),
                ],
            )
            .await?;
        Ok(changed_rows > 0)
    }

    /// Ends a lease after a failure. The next attempt is due after `delay`. `keeps_published` is `false` if publishing
    /// failed, because the archive may be stored nevertheless. Returns `false` if the lease was lost. Then
    /// nothing is recorded.
    pub async fn end_with_failure(
        &mut self,
        lease: &Lease,
        keeps_published: bool,
        delay: Duration,
    ) -> Result<bool, DbError> {
        let now = self.database_now().await?;
        let changed_rows = self
            .execute(
                "UPDATE bundle_builds SET holder = ?, renewed_at = ?, attempted_changes = ?, served = ?, attempted_at = ?, delay = ?, failures = failures + 1, input_digest = CASE WHEN ? = 1 THEN input_digest ELSE NULL END WHERE bundle_id = ? AND fence = ? AND holder = ?",
                vec![
                    lease.next_holder(),
                    lease.next_renewal(now),
                    lease.changes.into(),
                    lease.requested.into(),
                    now.into(),
                    micros(delay).into(),
                    i64::from(keeps_published).into(),
                    lease.bundle.into(),
                    lease.fence.into(),
                    lease.holder.as_str().into(),
                ],
            )
            .await?;
        Ok(changed_rows > 0)
    }

    /// Records the result of an attempt in the statuses of the bundle and in its history.
    pub async fn record_attempt(
        &mut self,
        lease: &Lease,
        record: &StatusRecord,
        durations: [Option<Duration>; 3],
    ) -> Result<(), DbError> {
        self.record_status(lease.bundle, record).await?;
        self.add_attempt(lease.bundle, lease.fence, record, durations)
            .await?;
        self.serve_requests(lease.bundle, lease.requested).await
    }
}

fn micros(delay: Duration) -> i64 {
    i64::try_from(delay.as_micros()).unwrap_or(i64::MAX / 4)
}
