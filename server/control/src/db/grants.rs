//! What someone may do with an item of somebody else.

use super::{DbError, Transaction};

impl Transaction {
    /// What a token was granted on an item.
    pub async fn granted(&mut self, item: i64, token: i64) -> Result<Vec<String>, DbError> {
        let rows = self
            .query(
                "SELECT permission FROM grants WHERE item_id = ? AND token_id = ? ORDER BY permission",
                vec![item.into(), token.into()],
            )
            .await?;
        rows.into_iter().map(|mut row| row.text()).collect()
    }

    /// All that a token was granted: items and permissions.
    pub async fn grants_of(&mut self, token: i64) -> Result<Vec<(i64, String)>, DbError> {
        let rows = self
            .query(
                "SELECT item_id, permission FROM grants WHERE token_id = ?",
                vec![token.into()],
            )
            .await?;
        rows.into_iter()
            .map(|mut row| Ok((row.int()?, row.text()?)))
            .collect()
    }

    /// Who was granted what on an item: names of tokens and permissions.
    pub async fn grants_on(&mut self, item: i64) -> Result<Vec<(String, String)>, DbError> {
        let rows = self
            .query(
                "SELECT tokens.name, grants.permission FROM grants JOIN tokens ON tokens.id = grants.token_id WHERE grants.item_id = ? ORDER BY tokens.id, grants.permission",
                vec![item.into()],
            )
            .await?;
        rows.into_iter()
            .map(|mut row| Ok((row.text()?, row.text()?)))
            .collect()
    }

    /// Grants a token these permissions on an item, and no others.
    pub async fn put_grants(
        &mut self,
        item: i64,
        token: i64,
        permissions: &[String],
    ) -> Result<(), DbError> {
        self.execute(
            "DELETE FROM grants WHERE item_id = ? AND token_id = ?",
            vec![item.into(), token.into()],
        )
        .await?;
        for permission in permissions {
            self.execute(
                "INSERT INTO grants (item_id, token_id, permission) VALUES (?, ?, ?)",
                vec![item.into(), token.into(), permission.as_str().into()],
            )
            .await?;
        }
        Ok(())
    }
}
