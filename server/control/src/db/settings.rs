//! Settings: values such as keys that the service stores for itself.

use super::{DbError, Transaction};

impl Transaction {
    /// Returns a setting, or `None` if it was never stored.
    pub async fn setting(&mut self, name: &'static str) -> Result<Option<Vec<u8>>, DbError> {
        let row = self
            .first(
                "SELECT value FROM settings WHERE name = ?",
                vec![name.into()],
            )
            .await?;
        row.map(|mut row| row.blob()).transpose()
    }

    /// Stores a setting and replaces its value.
    pub async fn put_setting(&mut self, name: &'static str, value: &[u8]) -> Result<(), DbError> {
        self.execute("DELETE FROM settings WHERE name = ?", vec![name.into()])
            .await?;
        self.execute(
            "INSERT INTO settings (name, value) VALUES (?, ?)",
            vec![name.into(), value.into()],
        )
        .await
        .map(drop)
    }
}
