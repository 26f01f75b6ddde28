//! Status records of building and pushing bundles.

use super::{DbError, Row, Transaction, now};
use crate::limits;
use crate::model::Record;

/// A stored status record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredStatus {
    /// The id, in the order of creation.
    pub id: i64,
    /// The revision.
    pub revision: String,
    /// The phase of the build.
    pub phase: String,
    /// The status.
    pub status: String,
    /// The error message.
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

impl Transaction {
    /// Returns the newest record of a bundle.
    pub async fn latest_status(&mut self, bundle: i64) -> Result<Option<StoredStatus>, DbError> {
        let row = self
            .first(
                "SELECT id, revision, phase, status, error_message, created_at, updated_at FROM statuses WHERE bundle_id = ? ORDER BY created_at DESC, id DESC LIMIT 1",
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
        most: i64,
    ) -> Result<Vec<StoredStatus>, DbError> {
        let rows = if revision.is_empty() {
            self.query(
                "SELECT id, revision, phase, status, error_message, created_at, updated_at FROM statuses WHERE bundle_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
                vec![bundle.into(), before.into(), most.into()],
            )
            .await?
        } else {
            self.query(
                "SELECT id, revision, phase, status, error_message, created_at, updated_at FROM statuses WHERE bundle_id = ? AND revision = ? AND id < ? ORDER BY id DESC LIMIT ?",
                vec![bundle.into(), revision.into(), before.into(), most.into()],
            )
            .await?
        };
        rows.into_iter().map(read).collect()
    }

    /// Records a result. If it equals the newest record, only the timestamp of that record is updated.
    pub async fn record_status(&mut self, bundle: i64, record: &Record) -> Result<(), DbError> {
        let cut = |text: &str, most: usize| -> String {
            let end = text.floor_char_boundary(most);
            text.get(..end)
                .unwrap_or_default()
                .replace('\0', "\u{fffd}")
        };
        let revision = cut(&record.revision, limits::REVISION);
        let message = cut(&record.error_message, limits::STATUS_MESSAGE);
        let (phase, status) = (record.phase.as_str(), record.status.as_str());
        if let Some(latest) = self.latest_status(bundle).await?
            && (
                &latest.revision,
                latest.phase.as_str(),
                latest.status.as_str(),
            ) == (&revision, phase, status)
            && latest.error_message == message
        {
            let sql = "UPDATE statuses SET updated_at = ? WHERE id = ?";
            return self
                .execute(sql, vec![now().into(), latest.id.into()])
                .await
                .map(drop);
        }
        self.execute(
            "INSERT INTO statuses (bundle_id, revision, phase, status, error_message, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            vec![
                bundle.into(),
                revision.into(),
                phase.into(),
                status.into(),
                message.into(),
                now().into(),
                now().into(),
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
