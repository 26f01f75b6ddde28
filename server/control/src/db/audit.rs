//! Who wrote what.

use super::{DbError, Row, Transaction, now};

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

impl Transaction {
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
        let read = |mut row: Row| {
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
        };
        rows.into_iter().map(read).collect()
    }
}
