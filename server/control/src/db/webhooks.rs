//! Webhooks of sources: remembered deliveries, and the fetches that they trigger.

use super::{DbError, Transaction};
use crate::limits;
use crate::trace::TraceContext;

impl Transaction {
    /// Remembers a delivery by the digest of its id. Returns `false` if it was received before. The oldest deliveries of the
    /// source beyond the limit are forgotten. The transaction must be a write.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn remember_delivery(&mut self, source: i64, digest: &[u8]) -> Result<bool, DbError> {
        let existing = self
            .first(
                "SELECT id FROM webhook_deliveries WHERE source_id = ? AND digest = ?",
                vec![source.into(), digest.into()],
            )
            .await?;
        if existing.is_some() {
            return Ok(false);
        }
        let now = self.database_now().await?;
        self.execute(
            "INSERT INTO webhook_deliveries (source_id, digest, received_at) VALUES (?, ?, ?)",
            vec![source.into(), digest.into(), now.into()],
        )
        .await?;
        let oldest = self
            .first(
                "SELECT id FROM webhook_deliveries WHERE source_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
                vec![source.into(), limits::WEBHOOK_DELIVERIES.into()],
            )
            .await?;
        if let Some(mut oldest) = oldest {
            self.execute(
                "DELETE FROM webhook_deliveries WHERE source_id = ? AND id <= ?",
                vec![source.into(), oldest.int()?.into()],
            )
            .await?;
        }
        Ok(true)
    }

    /// Triggers a fetch of a source, at once or when the minimum time since the last one has passed. Returns `true` if it is at
    /// once. The transaction must be a write.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn trigger_source(&mut self, source: i64) -> Result<bool, DbError> {
        let now = self.database_now().await?;
        let row = self
            .first(
                "SELECT triggered_at FROM source_triggers WHERE source_id = ?",
                vec![source.into()],
            )
            .await?;
        let Some(mut row) = row else {
            self.execute(
                "INSERT INTO source_triggers (source_id, triggers, triggered_at, is_waiting) VALUES (?, 1, ?, 0)",
                vec![source.into(), now.into()],
            )
            .await?;
            self.count_change(source).await?;
            return Ok(true);
        };
        let last = row.int()?;
        // a time in the future means that the clock was set back
        if last > now - limits::WEBHOOK_PAUSE && last <= now {
            let sql = "UPDATE source_triggers SET is_waiting = 1 WHERE source_id = ?";
            self.execute(sql, vec![source.into()]).await?;
            self.record_trace(source).await?;
            return Ok(false);
        }
        self.count_trigger(source, now).await?;
        Ok(true)
    }

    /// Returns the sources with a fetch that is due after the minimum time.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn due_triggers(&mut self) -> Result<Vec<i64>, DbError> {
        let now = self.database_now().await?;
        let rows = self
            .query(
                "SELECT source_id FROM source_triggers WHERE is_waiting = 1 AND (triggered_at <= ? OR triggered_at > ?)",
                vec![(now - limits::WEBHOOK_PAUSE).into(), now.into()],
            )
            .await?;
        rows.into_iter().map(|mut row| row.int()).collect()
    }

    /// Triggers the fetches that are due after the minimum time. The transaction must be a write: another instance may have
    /// triggered them in the meantime.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn run_due_triggers(&mut self) -> Result<(), DbError> {
        let now = self.database_now().await?;
        for source in self.due_triggers().await? {
            let context = TraceContext {
                tracer: None,
                parent: self.take_trace(source).await?,
            };
            context.scope(self.count_trigger(source, now)).await?;
        }
        Ok(())
    }

    async fn count_trigger(&mut self, source: i64, now: i64) -> Result<(), DbError> {
        self.execute(
            "UPDATE source_triggers SET triggers = triggers + 1, triggered_at = ?, is_waiting = 0 WHERE source_id = ?",
            vec![now.into(), source.into()],
        )
        .await?;
        self.count_change(source).await
    }
}
