//! Documents that were pushed to sources.

use super::{DbError, Transaction};

/// A document of a source with its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The file, such as `users/data.json`.
    pub path: String,
    /// The document as JSON, with numbers as the client wrote them.
    pub body: String,
}

impl Transaction {
    /// Returns the document of a file as JSON text, or `None` if there is none.
    pub async fn document(&mut self, source: i64, path: &str) -> Result<Option<String>, DbError> {
        let row = self
            .first(
                "SELECT body FROM source_data WHERE source_id = ? AND path = ?",
                vec![source.into(), path.into()],
            )
            .await?;
        row.map(|mut row| row.text()).transpose()
    }

    /// Returns the documents in and below a folder, in the order of their paths.
    pub async fn documents_below(
        &mut self,
        source: i64,
        folder: &str,
    ) -> Result<Vec<Document>, DbError> {
        // all paths that begin with `a/` sort between `a/` and `a0` because `0` follows `/`
        let rows = match folder.strip_suffix('/') {
            Some(inner) => {
                let end = format!("{inner}0");
                self.query(
                    "SELECT path, body FROM source_data WHERE source_id = ? AND path >= ? AND path < ? ORDER BY path",
                    vec![source.into(), folder.into(), end.into()],
                )
                .await?
            }
            None => {
                self.query(
                    "SELECT path, body FROM source_data WHERE source_id = ? ORDER BY path",
                    vec![source.into()],
                )
                .await?
            }
        };
        let read_row = |mut row: super::Row| {
            Ok(Document {
                path: row.text()?,
                body: row.text()?,
            })
        };
        rows.into_iter().map(read_row).collect()
    }

    /// Stores a document, new or changed, and counts its version.
    pub async fn put_document(
        &mut self,
        source: i64,
        path: &str,
        body: &str,
    ) -> Result<(), DbError> {
        let changed_rows = self
            .execute(
                "UPDATE source_data SET body = ?, version = version + 1 WHERE source_id = ? AND path = ?",
                vec![body.into(), source.into(), path.into()],
            )
            .await?;
        if changed_rows == 0 {
            self.execute(
                "INSERT INTO source_data (source_id, path, version, body) VALUES (?, ?, 1, ?)",
                vec![source.into(), path.into(), body.into()],
            )
            .await?;
        }
        self.count_change(source).await
    }

    /// Deletes a document. Returns `true` if there was one.
    pub async fn remove_document(&mut self, source: i64, path: &str) -> Result<bool, DbError> {
        let removed_rows = self
            .execute(
                "DELETE FROM source_data WHERE source_id = ? AND path = ?",
                vec![source.into(), path.into()],
            )
            .await?;
        if removed_rows > 0 {
            self.count_change(source).await?;
        }
        Ok(removed_rows > 0)
    }
}
