//! Tokens: created, rotated, described by files and revoked.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::{Changing, check_free};
use crate::db::{Holder, NewToken, now};
use crate::error::{ApiError, ApiErrorKind};
use crate::model::{Kind, Role, check_name, timestamp};
use crate::secrets::ServiceKeys;

/// A new token with its key, which is not stored.
pub struct IssuedToken {
    pub holder: Holder,
    pub key: Zeroizing<String>,
}

/// Returns the JSON of a token, without its key.
///
/// # Errors
/// A timestamp outside of the calendar's range, which is never stored.
pub fn token_json(holder: &Holder) -> Result<Value, ApiError> {
    Ok(json!({
        "name": holder.name,
        "role": holder.role.as_str(),
        "created_at": timestamp::write(holder.created_at)?,
        "expires_at": holder.expires_at.map(timestamp::write).transpose()?,
        "last_used_at": holder.last_used_at.map(timestamp::write).transpose()?,
    }))
}

/// Returns a new key: `solon_` and 256 random bits.
///
/// # Errors
/// The system provides no random numbers.
fn new_key() -> Result<Zeroizing<String>, ApiError> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut_slice()).map_err(|error| ApiError::internal(error.to_string()))?;
    let text = Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes.as_slice()));
    Ok(Zeroizing::new(["solon_", &text].concat()))
}

impl Changing<'_> {
    /// Creates a token and its key, which is returned only here.
    ///
    /// # Errors
    /// The name is not valid or exists, or `expires_at` is in the past.
    pub async fn create_token(
        &mut self,
        keys: &ServiceKeys,
        name: &str,
        role: Role,
        expires_at: Option<i64>,
    ) -> Result<IssuedToken, ApiError> {
        check_name(name).map_err(|message| ApiError::invalid(format!("name {message}")))?;
        if expires_at.is_some_and(|end| end <= now()) {
            return Err(ApiError::invalid("expires_at must be in the future"));
        }
        if self.transaction.token(name).await?.is_some() {
            let message = format!("token {name:?} exists");
            return Err(ApiError::new(ApiErrorKind::Conflict, message));
        }
        self.give_key(keys, None, name, role, expires_at).await
    }

    /// Replaces the key of a token. The previous key is no longer accepted. Fails with a conflict if the token has expired.
    pub async fn rotate_token(
        &mut self,
        keys: &ServiceKeys,
        name: &str,
    ) -> Result<IssuedToken, ApiError> {
        let before = self.changeable(name).await?;
        if !before.is_valid() {
            let message = format!("token {name:?} has expired; revoke it and make another");
            return Err(ApiError::new(ApiErrorKind::Conflict, message));
        }
        let (role, expires_at) = (before.role, before.expires_at);
        self.give_key(keys, Some(&before), name, role, expires_at)
            .await
    }

    async fn give_key(
        &mut self,
        keys: &ServiceKeys,
        before: Option<&Holder>,
        name: &str,
        role: Role,
        expires_at: Option<i64>,
    ) -> Result<IssuedToken, ApiError> {
        let key = new_key()?;
        let token = NewToken {
            name,
            role,
            key_hash: &keys.digest(&key),
            file: None,
            expires_at,
        };
        let action = if before.is_some() { "rotate" } else { "create" };
        let holder = self.put_token(action, before, token).await?;
        Ok(IssuedToken { holder, key })
    }

    /// Creates the token that a file describes, or updates the token of that name.
    pub async fn describe_token(
        &mut self,
        before: Option<&Holder>,
        token: NewToken<'_>,
    ) -> Result<(), ApiError> {
        let action = if before.is_some() { "update" } else { "create" };
        self.put_token(action, before, token).await.map(drop)
    }

    async fn put_token(
        &mut self,
        action: &'static str,
        before: Option<&Holder>,
        token: NewToken<'_>,
    ) -> Result<Holder, ApiError> {
        let token_error =
            |error| ApiError::from(error).about(format!("token {:?}", token.name), "the key");
        self.transaction
            .put_token(token)
            .await
            .map_err(token_error)?;
        let token_written = self.transaction.token(token.name).await?;
        let token_written = token_written
            .ok_or_else(|| ApiError::internal("a token that was made is not there"))?;
        let before = before.map(token_text).transpose()?;
        let after = token_text(&token_written)?;
        self.note(
            action,
            Kind::Token,
            token.name,
            before.as_deref(),
            Some(&after),
        )
        .await?;
        Ok(token_written)
    }

    /// Revokes a token, unless a file describes it.
    pub async fn revoke_token(&mut self, name: &str) -> Result<(), ApiError> {
        let token = self.changeable(name).await?;
        self.drop_token(&token).await
    }

    /// Revokes a token. Its items no longer have an owner.
    pub async fn drop_token(&mut self, token: &Holder) -> Result<(), ApiError> {
        self.transaction.remove_token(token.id).await?;
        let before = token_text(token)?;
        self.note("delete", Kind::Token, &token.name, Some(&before), None)
            .await
    }

    /// Returns a token, unless a file describes it.
    async fn changeable(&mut self, name: &str) -> Result<Holder, ApiError> {
        let token = self.transaction.token(name).await?;
        let absent = || format!("token {name:?} does not exist");
        let token = token.ok_or_else(|| ApiError::new(ApiErrorKind::NotFound, absent()))?;
        check_free(Kind::Token, name, token.file.as_deref())?;
        Ok(token)
    }
}

fn token_text(holder: &Holder) -> Result<String, ApiError> {
    Ok(token_json(holder)?.to_string())
}
