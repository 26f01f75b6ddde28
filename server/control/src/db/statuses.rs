//! Status records of building and pushing bundles.

use super::{DbError, Row, Transaction, now};
use crate::limits;
use crate::model::StatusRecord;

/// A stored status record, with its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredStatus {
    /// The id, in the order of creation.
    pub id: i64,
    /// The revision. Empty if the build ended before it was known.
    pub revision: String,
    /// The last phase, by the name of [`crate::model::Phase`].
    pub phase: String,
    /// The result, by the name of [`crate::model::Status`].
    pub status: String,
    /// The error message. Empty after success.
    pub error_message: String,
    /// The time of the first of consecutive equal results, in microseconds since 1970.
    pub created_at: i64,
    /// The time of the last of consecutive equal results, in microseconds since 1970.
    pub updated_at: i64,
}

fn read(mut row: Row) -> Result<StoredStatus, DbError> {
    Ok(StoredStatus {
        id: row.int()?,
        revision: row.text()?,
        phase: row.text()?,
        status: row.text()?,
        error_message: row.text()?,
        created_at: row.int()?,
        updated_at: row.int()?,
    })
}

/// Returns the revision and the message of a record within their limits.
pub(super) fn stored_texts(record: &StatusRecord) -> (String, String) {
    (
        cut_revision(&record.revision),
        cut(&record.error_message, limits::STATUS_MESSAGE),
    )
}

/// Returns a revision within its limit.
pub(super) fn cut_revision(revision: &str) -> String {
    cut(revision, limits::REVISION)
}

fn cut(text: &str, max_bytes: usize) -> String {
    let end = text.floor_char_boundary(max_bytes);
    let text = text.get(..end).unwrap_or_default();
    text.replace('\0', "\u{fffd}")
}

impl Transaction {
    /// Returns the newest record of a bundle.
    pub async fn latest_status(&mut self, bundle: i64) -> Result<Option<StoredStatus>, DbError> {
        let row = self
            .first(
                "SELECT id, revision, phase, status, error_message, created_at, updated_at FROM statuses WHERE bundle_id = ? ORDER BY id DESC LIMIT 1",
                vec![bundle.into()],
            )
            .await?;
        row.map(read).transpose()
    }

    /// Returns records of a bundle with smaller ids, the newest first. An empty `revision` selects all revisions.
    pub async fn statuses_before(
        &mut self,
        bundle: i64,
        revision: &str,
        before: i64,
        limit: i64,
    ) -> Result<Vec<StoredStatus>, DbError> {
        let rows = if revision.is_empty() {
            self.query(
                "SELECT id, revision, phase, status, error_message, created_at, updated_at FROM statuses WHERE bundle_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
                vec![bundle.into(), before.into(), limit.into()],
            )
            .await?
        } else {
            self.query(
                "SELECT id, revision, phase, status, error_message, created_at, updated_at FROM statuses WHERE bundle_id = ? AND revision = ? AND id < ? ORDER BY id DESC LIMIT ?",
                vec![bundle.into(), revision.into(), before.into(), limit.into()],
            )
            .await?
        };
        rows.into_iter().map(read).collect()
    }

    /// Records a result. Each revision has one record, and so do results without a revision. A result of the revision of the
    /// newest record replaces its contents. The record of another revision is replaced by a new one, so that the newest
    /// record is the last result. A result with a revision deletes the record without one.
    pub async fn record_status(
        &mut self,
        bundle: i64,
        record: &StatusRecord,
    ) -> Result<(), DbError> {
        let (revision, message) = stored_texts(record);
        let (phase, status) = (record.phase.as_str(), record.status.as_str());
        let now = now();
        if !revision.is_empty() {
            self.execute(
                "DELETE FROM statuses WHERE bundle_id = ? AND revision = ?",
                vec![bundle.into(), "".into()],
            )
            .await?;
        }
        let latest = self.latest_status(bundle).await?;
        if let Some(latest) = latest
            && latest.revision == revision
        {
            return self
                .execute(
                    "UPDATE statuses SET phase = ?, status = ?, error_message = ?, updated_at = ? WHERE id = ?",
                    vec![
                        phase.into(),
                        status.into(),
                        message.into(),
                        now.into(),
                        latest.id.into(),
                    ],
                )
                .await
                .map(drop);
        }
        self.execute(
            "DELETE FROM statuses WHERE bundle_id = ? AND revision = ?",
            vec![bundle.into(), revision.as_str().into()],
        )
        .await?;
        self.execute(
            "INSERT INTO statuses (bundle_id, revision, phase, status, error_message, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            vec![
                bundle.into(),
                revision.into(),
                phase.into(),
                status.into(),
                message.into(),
                now.into(),
                now.into(),
            ],
        )
        .await?;
        let oldest = self
            .first(
                "SELECT id FROM statuses WHERE bundle_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
                vec![bundle.into(), limits::STATUSES.into()],
            )
            .await?;
        if let Some(mut oldest) = oldest {
            self.execute(
                "DELETE FROM statuses WHERE bundle_id = ? AND id <= ?",
                vec![bundle.into(), oldest.int()?.into()],
            )
            .await?;
        }
        Ok(())
    }
}
