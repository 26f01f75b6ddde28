//! Who wrote what.

use super::{Database, DbError, Mode, Row, Transaction, now};

/// A write as it is noted.
#[derive(Clone, Debug)]
pub struct Written<'w> {
    /// Who wrote.
    pub principal: &'w str,
    /// The number of the request.
    pub request: &'w str,
    /// `create`, `update`, `delete`, …
    pub action: &'static str,
    /// The kind of what was written.
    pub kind: &'static str,
    /// Its name.
    pub name: &'w str,
    /// It before, as JSON without secrets.
    pub before: Option<&'w str>,
    /// It after.
    pub after: Option<&'w str>,
}

/// A write that was noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its number.
    pub id: i64,
    /// When it was, in microseconds since 1970.
    pub at: i64,
    /// Who wrote.
    pub principal: String,
    /// The number of the request.
    pub request: String,
    /// What was done.
    pub action: String,
    /// The kind of what was written.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// It before.
    pub before: Option<String>,
    /// It after.
    pub after: Option<String>,
}

/// Rows that one transaction removes: others wait for it.
const BATCH: i64 = 500;

impl Database {
    /// Removes the entries that are older than a time, in microseconds since 1970, in transactions of bounded size. Returns how
    /// many there were.
    ///
    /// # Errors
    /// A database that cannot be reached. What was removed before stays removed.
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

    /// Writes with larger numbers, the earliest first.
    pub async fn audit_after(&mut self, after: i64, most: i64) -> Result<Vec<AuditEntry>, DbError> {
        let rows = self
            .query(
                "SELECT id, at, principal, request, action, kind, name, before_write, after_write FROM audit WHERE id > ? ORDER BY id LIMIT ?",
                vec![after.into(), most.into()],
            )
            .await?;
        rows.into_iter().map(entry).collect()
    }

    /// Notes a write, as part of it.
    pub async fn note(&mut self, written: &Written<'_>) -> Result<(), DbError> {
        self.execute(
            "INSERT INTO audit (at, principal, request, action, kind, name, before_write, after_write) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            vec![
                now().into(),
                written.principal.into(),
                written.request.into(),
                written.action.into(),
                written.kind.into(),
                written.name.into(),
                written.before.into(),
                written.after.into(),
            ],
        )
        .await
        .map(drop)
    }

    /// Writes with smaller numbers, the latest first.
    pub async fn audit_before(
        &mut self,
        before: i64,
        most: i64,
    ) -> Result<Vec<AuditEntry>, DbError> {
        let rows = self
            .query(
                "SELECT id, at, principal, request, action, kind, name, before_write, after_write FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?",
                vec![before.into(), most.into()],
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
