//! Tokens, looked up by the digests of their keys.

use super::{Cell, DbError, Row, Transaction, now};
use crate::limits;
use crate::model::Role;

/// A stored token. Its key is not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The id, in the order of creation.
    pub id: i64,
    /// The name, unique among tokens.
    pub name: String,
    /// The role, which grants extend.
    pub role: Role,
    /// The configuration file that describes the token. `None` if a request created it.
    pub file: Option<String>,
    /// The time of creation, in microseconds since 1970.
    pub created_at: i64,
    /// The time after which its key is rejected.
    pub expires_at: Option<i64>,
    /// The time of the last use of its key, to the minute.
    pub last_used_at: Option<i64>,
}

/// A token to store. Its key is stored as a digest only.
#[derive(Clone, Copy, Debug)]
pub struct NewToken<'t> {
    /// The name, unique among tokens.
    pub name: &'t str,
    /// The role, which grants extend.
    pub role: Role,
    /// The keyed digest of its key, by which it is found.
    pub key_hash: &'t [u8],
    /// The configuration file that describes the token. `None` for requests.
    pub file: Option<&'t str>,
    /// The time after which its key is rejected.
    pub expires_at: Option<i64>,
}

/// Reads a row with the columns of a token.
pub(super) fn holder_of(mut row: Row) -> Result<Holder, DbError> {
    let id = row.int()?;
    let name = row.text()?;
    let role = row.text()?;
    let role = Role::from_name(&role);
    Ok(Holder {
        id,
        name,
        role: role.ok_or_else(|| DbError::Other("a token has no known role".to_owned()))?,
        file: row.maybe_text()?,
        created_at: row.int()?,
        expires_at: row.maybe_int()?,
        last_used_at: row.maybe_int()?,
    })
}

impl Transaction {
    /// Records that another file describes a token with the same content.
    pub async fn move_token(&mut self, id: i64, file: &str) -> Result<(), DbError> {
        let sql = "UPDATE tokens SET file = ? WHERE id = ?";
        let result = self.execute(sql, vec![file.into(), id.into()]).await;
        result.map(drop)
    }

    /// Returns the token whose key has this digest.
    pub async fn holder(&mut self, key_hash: &[u8]) -> Result<Option<Holder>, DbError> {
        let row = self
            .first(
                "SELECT id, name, role, file, created_at, expires_at, last_used_at FROM tokens WHERE key_hash = ?",
                vec![key_hash.into()],
            )
            .await?;
        row.map(holder_of).transpose()
    }

    /// Returns a token by its name, also an expired one. Returns `None` if there is none.
    pub async fn token(&mut self, name: &str) -> Result<Option<Holder>, DbError> {
        let row = self
            .first(
                "SELECT id, name, role, file, created_at, expires_at, last_used_at FROM tokens WHERE name = ?",
                vec![name.into()],
            )
            .await?;
        row.map(holder_of).transpose()
    }

    /// Returns a token by its id, also an expired one. Returns `None` if there is none.
    pub async fn token_by_id(&mut self, id: i64) -> Result<Option<Holder>, DbError> {
        let tokens = self.tokens_after(id - 1, 1).await?;
        Ok(tokens.into_iter().find(|token| token.id == id))
    }

    /// Returns tokens with larger ids, in order.
    pub async fn tokens_after(&mut self, after: i64, limit: i64) -> Result<Vec<Holder>, DbError> {
        let rows = self
            .query(
                "SELECT id, name, role, file, created_at, expires_at, last_used_at FROM tokens WHERE id > ? ORDER BY id LIMIT ?",
                vec![after.into(), limit.into()],
            )
            .await?;
        rows.into_iter().map(holder_of).collect()
    }

    /// Clears the key of a token, which gets another one before the transaction ends.
    pub async fn free_key(&mut self, id: i64) -> Result<(), DbError> {
        // digests are longer, so none is equal to this value
        let none = id.to_be_bytes();
        self.execute(
            "UPDATE tokens SET key_hash = ? WHERE id = ?",
            vec![none.as_slice().into(), id.into()],
        )
        .await
        .map(drop)
    }

    /// Creates a token, or replaces the key of the one with that name.
    pub async fn put_token(&mut self, token: NewToken<'_>) -> Result<(), DbError> {
        let changed_rows = self
            .execute(
                "UPDATE tokens SET role = ?, key_hash = ?, file = ?, expires_at = ? WHERE name = ?",
                vec![
                    token.role.as_str().into(),
                    token.key_hash.into(),
                    token.file.into(),
                    token.expires_at.into(),
                    token.name.into(),
                ],
            )
            .await?;
        // MySQL counts only rows whose values changed
        if changed_rows > 0 || self.token(token.name).await?.is_some() {
            return Ok(());
        }
        self.execute(
            "INSERT INTO tokens (name, role, key_hash, file, created_at, expires_at, last_used_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            vec![
                token.name.into(),
                token.role.as_str().into(),
                token.key_hash.into(),
                token.file.into(),
                now().into(),
                token.expires_at.into(),
                Cell::Null,
            ],
        )
        .await
        .map(drop)
    }

    /// Revokes a token. Its items no longer have an owner.
    pub async fn remove_token(&mut self, id: i64) -> Result<(), DbError> {
        self.execute("DELETE FROM tokens WHERE id = ?", vec![id.into()])
            .await
            .map(drop)
    }

    /// Records that a key is used now.
    pub async fn touch_token(&mut self, id: i64) -> Result<(), DbError> {
        let sql = "UPDATE tokens SET last_used_at = ? WHERE id = ?";
        self.execute(sql, vec![now().into(), id.into()])
            .await
            .map(drop)
    }
}

impl Holder {
    /// Returns `true` if its key is still accepted.
    pub fn is_valid(&self) -> bool {
        self.expires_at.is_none_or(|end| end > now())
    }

    /// Returns `true` if the last use of its key must be recorded again.
    pub fn is_stale(&self) -> bool {
        let pause = limits::LAST_USED_SECONDS * 1_000_000;
        self.last_used_at.is_none_or(|last| last + pause < now())
    }
}
