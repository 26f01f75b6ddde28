//! Grants: permissions of tokens on items of other owners.

use super::{DbError, Transaction};

/// The grants of a token on an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The id of the token that has the grants.
    pub token: i64,
    /// The name of that token.
    pub name: String,
    /// The permissions, sorted by name.
    pub permissions: Vec<String>,
}

impl Transaction {
    /// Returns the permissions that a token was granted on an item, sorted. The list is empty if there are none.
    pub async fn granted(&mut self, item: i64, token: i64) -> Result<Vec<String>, DbError> {
        let rows = self
            .query(
                "SELECT permission FROM grants WHERE item_id = ? AND token_id = ? ORDER BY permission",
                vec![item.into(), token.into()],
            )
            .await?;
        rows.into_iter().map(|mut row| row.text()).collect()
    }

    /// Returns all grants of a token: items and permissions.
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

    /// Returns the grants on an item for tokens with larger ids, in order.
    pub async fn grants_on(
        &mut self,
        item: i64,
        after: i64,
        limit: i64,
    ) -> Result<Vec<Granted>, DbError> {
        let rows = self
            .query(
                "SELECT tokens.id, tokens.name, grants.permission FROM grants JOIN tokens ON tokens.id = grants.token_id WHERE grants.item_id = ? AND tokens.id IN (SELECT token_id FROM (SELECT DISTINCT token_id FROM grants WHERE item_id = ? AND token_id > ? ORDER BY token_id LIMIT ?) AS page) ORDER BY tokens.id, grants.permission",
                vec![item.into(), item.into(), after.into(), limit.into()],
            )
            .await?;
        let mut grants: Vec<Granted> = Vec::new();
        for mut row in rows {
            let (token, name, permission) = (row.int()?, row.text()?, row.text()?);
            match grants.last_mut().filter(|last| last.token == token) {
                Some(last) => last.permissions.push(permission),
                None => grants.push(Granted {
                    token,
                    name,
                    permissions: vec![permission],
                }),
            }
        }
        Ok(grants)
    }

    /// Replaces the permissions of a token on an item. An empty list removes them.
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
