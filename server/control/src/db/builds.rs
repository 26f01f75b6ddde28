//! Builds of bundles: what changed since the last one, which are due, and the history.

use std::collections::HashSet;
use std::time::Duration;

use super::leases::{IDLE, TERM, idle_holder};
use super::sources::placeholders;
use super::{Cell, DbError, Row, Transaction};
use crate::limits;
use crate::model::{Kind, StatusRecord};

/// A bundle whose build is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// The id of the bundle, by which it is leased.
    pub bundle: i64,
    /// The name of the bundle, for messages.
    pub name: String,
}

/// Progress and history of the builds of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildState {
    /// The name of the bundle, unique.
    pub name: String,
    /// `true` if a change or a request waits for a build.
    pub is_waiting: bool,
    /// The instance that builds it, if there is one.
    pub builder: Option<String>,
    /// The instance that keeps its lease between builds, if there is one.
    pub publisher: Option<String>,
    /// The number of consecutive failures.
    pub failures: i64,
    /// The time of the last success by the clock of the database, in microseconds since 1970.
    pub succeeded_at: Option<i64>,
}

/// A finished attempt to build a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The id, in the order of the attempts of all bundles.
    pub id: i64,
    /// The fencing token of the lease.
    pub fence: i64,
    /// The revision. Empty if the attempt ended before it was known.
    pub revision: String,
    /// The last phase, by the name of [`crate::model::Phase`].
    pub phase: String,
    /// The result, by the name of [`crate::model::Status`].
    pub status: String,
    /// The error message. Empty after success.
    pub error_message: String,
    /// The end by the clock of the database, in microseconds since 1970.
    pub ended_at: i64,
    /// The durations of fetching, building and publishing, if they ran.
    pub durations: [Option<Duration>; 3],
}

macro_rules! attempts {
    ($rest:literal) => {
        concat!(
            "SELECT id, fence, revision, phase, status, error_message, ended_at, sync_duration, build_duration, push_duration FROM build_attempts WHERE ",
            $rest
        )
    };
}

/// Selects columns of the bundles whose build is due for an instance, and that none builds. The values are those of
/// [`due_values`]. A time in the future means that the clock was set back. The lease or the delay is then over.
macro_rules! due_bundles {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM items LEFT JOIN bundle_builds ON bundle_builds.bundle_id = items.id WHERE items.kind = 'bundles' AND (bundle_builds.holder IS NULL OR bundle_builds.holder = ? OR bundle_builds.renewed_at <= ? OR bundle_builds.renewed_at > ?) AND (bundle_builds.attempted_at IS NULL OR bundle_builds.changes > bundle_builds.attempted_changes OR bundle_builds.requested > bundle_builds.served OR bundle_builds.attempted_at + bundle_builds.delay <= ? OR bundle_builds.attempted_at > ?)",
            $rest
        )
    };
}

fn due_values(instance: &str, now: i64) -> Vec<Cell> {
    vec![
        idle_holder(instance).into(),
        (now - TERM).into(),
        now.into(),
        now.into(),
        now.into(),
    ]
}

fn attempt(mut row: Row) -> Result<Attempt, DbError> {
    let mut attempt = Attempt {
        id: row.int()?,
        fence: row.int()?,
        revision: row.text()?,
        phase: row.text()?,
        status: row.text()?,
        error_message: row.text()?,
        ended_at: row.int()?,
        durations: [None; 3],
    };
    for duration in &mut attempt.durations {
        let micros = row.maybe_int()?;
        *duration = micros.map(|micros| Duration::from_micros(micros.unsigned_abs()));
    }
    Ok(attempt)
}

impl Transaction {
    /// Counts a change of an item for each bundle that depends on it: the bundle itself, the bundles that require the
    /// source or use the secret directly or transitively, and every bundle if a stack is involved. A bundle without a row
    /// was never built and needs no count.
    pub(super) async fn count_change(&mut self, item: i64) -> Result<(), DbError> {
        let dependents = self
            .query(
                "WITH RECURSIVE dependents (id) AS (SELECT id FROM items WHERE id = ? UNION SELECT item_references.user_id FROM dependents JOIN item_references ON item_references.used_id = dependents.id) SELECT items.kind, items.id FROM dependents JOIN items ON items.id = dependents.id WHERE items.kind = 'bundles' OR items.kind = 'stacks'",
                vec![item.into()],
            )
            .await?;
        let mut bundles = Vec::new();
        for mut row in dependents {
            // which bundles a stack selects depends on their labels
            if row.text()? == Kind::Stack.plural() {
                return self.count_change_of_all().await;
            }
            bundles.push(row.int()?);
        }
        for bundle in bundles {
            let sql = "UPDATE bundle_builds SET changes = changes + 1 WHERE bundle_id = ?";
            self.execute(sql, vec![bundle.into()]).await?;
            self.record_trace(bundle).await?;
        }
        Ok(())
    }

    /// Counts a change for every bundle.
    pub(super) async fn count_change_of_all(&mut self) -> Result<(), DbError> {
        let sql = "UPDATE bundle_builds SET changes = changes + 1";
        self.execute(sql, vec![]).await.map(drop)
    }

    /// Creates the row of a bundle if it does not exist.
    pub(super) async fn ensure_builds(&mut self, bundle: i64) -> Result<(), DbError> {
        let row = self
            .first(
                "SELECT fence FROM bundle_builds WHERE bundle_id = ?",
                vec![bundle.into()],
            )
            .await?;
        if row.is_some() {
            return Ok(());
        }
        self.execute(
            "INSERT INTO bundle_builds (bundle_id, changes, attempted_changes, requested, served, fence, delay, failures) VALUES (?, 1, 0, 0, 0, 0, 0, 0)",
            vec![bundle.into()],
        )
        .await
        .map(drop)
    }

    /// Returns the bundles whose build is due for an instance, and that none builds: changed or requested ones first, then in the
    /// order of their last attempts, those without one first on every database. One query, whose cost is linear in the number of bundles.
    pub async fn due_builds(&mut self, instance: &str, limit: i64) -> Result<Vec<Due>, DbError> {
        let now = self.database_now().await?;
        let mut values = due_values(instance, now);
        values.push(limit.into());
        let sql = due_bundles!(
            "items.id, items.name",
            " ORDER BY CASE WHEN bundle_builds.attempted_at IS NULL OR bundle_builds.changes > bundle_builds.attempted_changes OR bundle_builds.requested > bundle_builds.served THEN 0 ELSE 1 END, COALESCE(bundle_builds.attempted_at, 0), items.id LIMIT ?"
        );
        let rows = self.query(sql, values).await?;
        let read_due = |mut row: Row| {
            Ok(Due {
                bundle: row.int()?,
                name: row.text()?,
            })
        };
        rows.into_iter().map(read_due).collect()
    }

    /// Returns those of a few bundles whose build is still due for an instance, in their order.
    pub async fn still_due(
        &mut self,
        instance: &str,
        bundles: Vec<Due>,
    ) -> Result<Vec<Due>, DbError> {
        let now = self.database_now().await?;
        let sql = format!(
            due_bundles!("items.id", " AND items.id IN ({})"),
            placeholders(bundles.len())
        );
        let mut values = due_values(instance, now);
        values.extend(bundles.iter().map(|due| Cell::from(due.bundle)));
        let rows = self.select(sql, values).await?;
        let due = rows.into_iter().map(|mut row| row.int());
        let due = due.collect::<Result<HashSet<i64>, _>>()?;
        let bundles = bundles.into_iter();
        Ok(bundles
            .filter(|found| due.contains(&found.bundle))
            .collect())
    }

    /// Returns the state of the builds of all bundles, in the order of creation.
    pub async fn build_states(&mut self) -> Result<Vec<BuildState>, DbError> {
        let rows = self
            .query(
                "SELECT items.name, CASE WHEN bundle_builds.attempted_at IS NULL OR bundle_builds.changes > bundle_builds.attempted_changes OR bundle_builds.requested > bundle_builds.served THEN 1 ELSE 0 END, bundle_builds.holder, COALESCE(bundle_builds.failures, 0), bundle_builds.succeeded_at FROM items LEFT JOIN bundle_builds ON bundle_builds.bundle_id = items.id WHERE items.kind = 'bundles' ORDER BY items.id",
                vec![],
            )
            .await?;
        let state = |mut row: Row| {
            let (name, is_waiting, holder) = (row.text()?, row.int()? == 1, row.maybe_text()?);
            let (builder, publisher) = match holder {
                Some(holder) => match holder.strip_prefix(IDLE) {
                    Some(instance) => (None, Some(instance.to_owned())),
                    None => (Some(holder), None),
                },
                None => (None, None),
            };
            Ok(BuildState {
                name,
                is_waiting,
                builder,
                publisher,
                failures: row.int()?,
                succeeded_at: row.maybe_int()?,
            })
        };
        rows.into_iter().map(state).collect()
    }

    /// Returns finished attempts of a bundle with ids smaller than `before`, the newest first.
    pub async fn build_attempts(
        &mut self,
        bundle: i64,
        before: i64,
        limit: i64,
    ) -> Result<Vec<Attempt>, DbError> {
        let sql = attempts!("bundle_id = ? AND id < ? ORDER BY id DESC LIMIT ?");
        let values = vec![bundle.into(), before.into(), limit.into()];
        let rows = self.query(sql, values).await?;
        rows.into_iter().map(attempt).collect()
    }

    /// Returns a finished attempt, or `None` if it does not exist or was pruned.
    pub async fn build_attempt(&mut self, id: i64) -> Result<Option<Attempt>, DbError> {
        let row = self.first(attempts!("id = ?"), vec![id.into()]).await?;
        row.map(attempt).transpose()
    }

    /// Adds an attempt to the history of a bundle, and deletes the oldest ones beyond the limit.
    pub(super) async fn add_attempt(
        &mut self,
        bundle: i64,
        fence: i64,
        record: &StatusRecord,
        durations: [Option<Duration>; 3],
    ) -> Result<(), DbError> {
        let now = self.database_now().await?;
        let micros = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        let [sync, build, push] = durations.map(|duration| duration.map(micros));
        let (revision, message) = super::statuses::stored_texts(record);
        self.execute(
            "INSERT INTO build_attempts (bundle_id, fence, revision, phase, status, error_message, ended_at, sync_duration, build_duration, push_duration) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            vec![
                bundle.into(),
                fence.into(),
                revision.into(),
                record.phase.as_str().into(),
                record.status.as_str().into(),
                message.into(),
                now.into(),
                sync.into(),
                build.into(),
                push.into(),
            ],
        )
        .await?;
        let oldest = self
            .first(
                "SELECT id FROM build_attempts WHERE bundle_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
                vec![bundle.into(), limits::BUILD_ATTEMPTS.into()],
            )
            .await?;
        if let Some(mut oldest) = oldest {
            self.execute(
                "DELETE FROM build_attempts WHERE bundle_id = ? AND id <= ?",
                vec![bundle.into(), oldest.int()?.into()],
            )
            .await?;
        }
        Ok(())
    }
}
