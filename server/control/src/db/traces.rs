//! Traces that changes belong to: the next build of a bundle, and the next fetch of a source, continue them.

use super::{DbError, Transaction};
use crate::trace;

impl Transaction {
    /// Records that the current trace causes the next build of a bundle or the next fetch of a source. Without a trace nothing
    /// changes.
    pub(super) async fn record_trace(&mut self, item: i64) -> Result<(), DbError> {
        match trace::current() {
            Some(parent) => self.set_trace(item, &parent).await,
            None => Ok(()),
        }
    }

    /// Sets the trace of an item, in the format of the header `traceparent`.
    pub(super) async fn set_trace(&mut self, item: i64, parent: &str) -> Result<(), DbError> {
        let sql = "DELETE FROM traces WHERE item_id = ?";
        self.execute(sql, vec![item.into()]).await?;
        let sql = "INSERT INTO traces (item_id, parent) VALUES (?, ?)";
        self.execute(sql, vec![item.into(), parent.into()]).await?;
        Ok(())
    }

    /// Returns `true` if an item has a trace.
    pub(super) async fn has_trace(&mut self, item: i64) -> Result<bool, DbError> {
        let sql = "SELECT item_id FROM traces WHERE item_id = ?";
        let row = self.first(sql, vec![item.into()]).await?;
        Ok(row.is_some())
    }

    /// Returns the trace of an item and forgets it, so that one build continues it. Returns `None` if there is none.
    pub(super) async fn take_trace(&mut self, item: i64) -> Result<Option<String>, DbError> {
        let sql = "SELECT parent FROM traces WHERE item_id = ?";
        let Some(mut row) = self.first(sql, vec![item.into()]).await? else {
            return Ok(None);
        };
        let parent = row.text()?;
        let sql = "DELETE FROM traces WHERE item_id = ?";
        self.execute(sql, vec![item.into()]).await?;
        Ok(Some(parent))
    }
}
