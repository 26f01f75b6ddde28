//! The audit log of writes.

use super::{Database, DbError, Mode, Row, Transaction, now};

/// A write to record.
#[derive(Clone, Debug)]
pub struct Written<'w> {
    /// Name of the token or configuration file that caused the write, or `the command line`.
    pub principal: &'w str,
    /// The id of the request, which the log also contains.
    pub request: &'w str,
    /// `create`, `update`, `delete`, …
    pub action: &'static str,
    /// The plural of the item's kind, such as `bundles`.
    pub kind: &'static str,
    /// The name of the item, also after its deletion.
    pub name: &'w str,
    /// The item before the write, as JSON without secrets.
    pub before: Option<&'w str>,
    /// The item after the write.
    pub after: Option<&'w str>,
}

/// A recorded write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// The id, in the order of the writes.
    pub id: i64,
    /// The time in microseconds since 1970.
    pub at: i64,
    /// Name of the token or configuration file that caused the write, or `the command line`.
    pub principal: String,
    /// The id of the request, which the log also contains.
    pub request: String,
    /// `create`, `update`, `delete`, …
    pub action: String,
    /// The plural of the item's kind, such as `bundles`.
    pub kind: String,
    /// The name of the item, which may no longer exist.
    pub name: String,
    /// The item before the write.
    pub before: Option<String>,
    /// The item after the write.
    pub after: Option<String>,
}

/// Maximum number of rows that one transaction deletes, because other writes wait for it.
const BATCH: i64 = 500;

impl Database {
    /// Deletes the entries that are older than a time, in microseconds since 1970, in transactions of bounded size. Returns
    /// how many there were.
    ///
    /// # Errors
    /// The database cannot be reached. Rows that earlier transactions deleted stay deleted.
    pub async fn prune_audit(&self, before: i64) -> Result<u64, DbError> {
        let mut removed = 0;
        loop {
            let mut transaction = self.begin(Mode::Write).await?;
            let batch = transaction.prune_audit(before).await;
            let count = transaction.settle(batch).await?;
            removed += count;
            if count == 0 {
                return Ok(removed);
            }
        }
    }
}

impl Transaction {
    async fn prune_audit(&mut self, before: i64) -> Result<u64, DbError> {
        let row = self
            .first(
                "SELECT MAX(id) FROM (SELECT id FROM audit WHERE at < ? ORDER BY id LIMIT ?) AS old",
                vec![before.into(), BATCH.into()],
            )
            .await?;
        let last = row.map_or(Ok(None), |mut row| row.maybe_int())?;
        let Some(last) = last else {
            return Ok(0);
        };
        self.execute(
            "DELETE FROM audit WHERE id <= ? AND at < ?",
            vec![last.into(), before.into()],
        )
        .await
    }

    /// Returns writes with larger ids, the earliest first.
    pub async fn audit_after(
        &mut self,
        after: i64,
        limit: i64,
    ) -> Result<Vec<AuditEntry>, DbError> {
        let rows = self
            .query(
                "SELECT id, at, principal, request, action, kind, name, before_write, after_write FROM audit WHERE id > ? ORDER BY id LIMIT ?",
                vec![after.into(), limit.into()],
            )
            .await?;
        rows.into_iter().map(entry).collect()
    }

    /// Returns the id of the newest write, or 0.
    pub async fn last_audit(&mut self) -> Result<i64, DbError> {
        let row = self
            .first("SELECT id FROM audit ORDER BY id DESC LIMIT 1", vec![])
            .await?;
        row.map_or(Ok(0), |mut row| row.int())
    }

    /// Records a write in the same transaction, at the current time.
    pub async fn note(&mut self, record: &Written<'_>) -> Result<(), DbError> {
        self.execute(
            "INSERT INTO audit (at, principal, request, action, kind, name, before_write, after_write) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            vec![
                now().into(),
                record.principal.into(),
                record.request.into(),
                record.action.into(),
                record.kind.into(),
                record.name.into(),
                record.before.into(),
                record.after.into(),
            ],
        )
        .await
        .map(drop)
    }

    /// Returns writes with smaller ids, the latest first.
    pub async fn audit_before(
        &mut self,
        before: i64,
        limit: i64,
    ) -> Result<Vec<AuditEntry>, DbError> {
        let rows = self
            .query(
                "SELECT id, at, principal, request, action, kind, name, before_write, after_write FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?",
                vec![before.into(), limit.into()],
            )
            .await?;
        rows.into_iter().map(entry).collect()
    }
}

fn entry(mut row: Row) -> Result<AuditEntry, DbError> {
    Ok(AuditEntry {
        id: row.int()?,
        at: row.int()?,
        principal: row.text()?,
        request: row.text()?,
        action: row.text()?,
        kind: row.text()?,
        name: row.text()?,
        before: row.maybe_text()?,
        after: row.maybe_text()?,
    })
}
