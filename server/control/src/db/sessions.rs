//! Sessions of the page: stored by the digest of their cookie.

use super::tokens::holder_of;
use super::{DbError, Holder, Transaction, now};
use crate::limits;

impl Transaction {
    /// Creates a session of a token, whose key has the digest `key_hash`. Deletes expired sessions and, beyond the limit, the
    /// oldest ones of the token. The transaction must be a write.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn add_session(
        &mut self,
        token: i64,
        digest: &[u8],
        key_hash: &[u8],
    ) -> Result<(), DbError> {
        let now = now();
        self.execute(
            "DELETE FROM sessions WHERE expires_at <= ?",
            vec![now.into()],
        )
        .await?;
        let expires_at = now + limits::SESSION_SECONDS * 1_000_000;
        self.execute(
            "INSERT INTO sessions (token_id, digest, key_hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?)",
            vec![
                token.into(),
                digest.into(),
                key_hash.into(),
                now.into(),
                expires_at.into(),
            ],
        )
        .await?;
        let oldest = self
            .first(
                "SELECT id FROM sessions WHERE token_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
                vec![token.into(), limits::SESSIONS.into()],
            )
            .await?;
        if let Some(mut oldest) = oldest {
            self.execute(
                "DELETE FROM sessions WHERE token_id = ? AND id <= ?",
                vec![token.into(), oldest.int()?.into()],
            )
            .await?;
        }
        Ok(())
    }

    /// Returns the token of a session that has not expired and whose token still has the key of the login.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn session_holder(&mut self, digest: &[u8]) -> Result<Option<Holder>, DbError> {
        let row = self
            .first(
                "SELECT tokens.id, tokens.name, tokens.role, tokens.file, tokens.created_at, tokens.expires_at, tokens.last_used_at FROM sessions JOIN tokens ON tokens.id = sessions.token_id AND tokens.key_hash = sessions.key_hash WHERE sessions.digest = ? AND sessions.expires_at > ?",
                vec![digest.into(), now().into()],
            )
            .await?;
        row.map(holder_of).transpose()
    }

    /// Ends a session.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn remove_session(&mut self, digest: &[u8]) -> Result<(), DbError> {
        self.execute("DELETE FROM sessions WHERE digest = ?", vec![digest.into()])
            .await
            .map(drop)
    }
}
