//! Tokens: created, rotated, described by files and revoked.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::{Changing, check_free};
use crate::db::{Holder, NewToken, now};
use crate::error::{Refusal, Refused};
use crate::model::{Kind, Role, check_name, moment};
use crate::secrets::ServiceKeys;

/// A new token with its key, which is not stored.
pub struct Made {
    /// The token.
    pub holder: Holder,
    /// The key.
    pub key: Zeroizing<String>,
}

/// Returns the JSON of a token, without its key.
///
/// # Errors
/// A timestamp outside of the calendar's range, which is never stored.
pub fn token_json(holder: &Holder) -> Result<Value, Refusal> {
    Ok(json!({
        "name": holder.name,
        "role": holder.role.as_str(),
        "created_at": moment::write(holder.created_at)?,
        "expires_at": holder.expires_at.map(moment::write).transpose()?,
        "last_used_at": holder.last_used_at.map(moment::write).transpose()?,
    }))
}

/// Returns a new random key.
fn new_key() -> Result<Zeroizing<String>, Refusal> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut_slice()).map_err(|error| Refusal::internal(error.to_string()))?;
    let text = Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes.as_slice()));
    Ok(Zeroizing::new(["solon_", &text].concat()))
}

impl Changing<'_> {
    /// Creates a token.
    pub async fn create_token(
        &mut self,
        keys: &ServiceKeys,
        name: &str,
        role: Role,
        expires_at: Option<i64>,
    ) -> Result<Made, Refusal> {
        check_name(name).map_err(|words| Refusal::invalid(format!("name {words}")))?;
        if expires_at.is_some_and(|end| end <= now()) {
            return Err(Refusal::invalid("expires_at must be in the future"));
        }
        if self.transaction.token(name).await?.is_some() {
            let message = format!("token {name:?} exists");
            return Err(Refusal::new(Refused::Conflict, message));
        }
        self.give_key(keys, None, name, role, expires_at).await
    }

    /// Replaces the key of a token. The previous key is no longer accepted.
    pub async fn rotate_token(&mut self, keys: &ServiceKeys, name: &str) -> Result<Made, Refusal> {
        let before = self.changeable(name).await?;
        if !before.is_valid() {
            let message = format!("token {name:?} has expired; revoke it and make another");
            return Err(Refusal::new(Refused::Conflict, message));
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
    ) -> Result<Made, Refusal> {
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
        Ok(Made { holder, key })
    }

    /// Creates the token that a file describes, or updates the token of that name.
    pub async fn describe_token(
        &mut self,
        before: Option<&Holder>,
        token: NewToken<'_>,
    ) -> Result<(), Refusal> {
        let action = if before.is_some() { "update" } else { "create" };
        self.put_token(action, before, token).await.map(drop)
    }

    async fn put_token(
        &mut self,
        action: &'static str,
        before: Option<&Holder>,
        token: NewToken<'_>,
    ) -> Result<Holder, Refusal> {
        let about =
            |error| Refusal::from(error).about(format!("token {:?}", token.name), "the key");
        self.transaction.put_token(token).await.map_err(about)?;
        let made = self.transaction.token(token.name).await?;
        let made = made.ok_or_else(|| Refusal::internal("a token that was made is not there"))?;
        let before = before.map(token_text).transpose()?;
        let after = token_text(&made)?;
        self.note(
            action,
            Kind::Token,
            token.name,
            before.as_deref(),
            Some(&after),
        )
        .await?;
        Ok(made)
    }

    /// Revokes a token, unless a file describes it.
    pub async fn revoke_token(&mut self, name: &str) -> Result<(), Refusal> {
        let token = self.changeable(name).await?;
        self.drop_token(&token).await
    }

    /// Revokes a token. Its items no longer have an owner.
    pub async fn drop_token(&mut self, token: &Holder) -> Result<(), Refusal> {
        self.transaction.remove_token(token.id).await?;
        let before = token_text(token)?;
        self.note("delete", Kind::Token, &token.name, Some(&before), None)
            .await
    }

    /// Returns a token, unless a file describes it.
    async fn changeable(&mut self, name: &str) -> Result<Holder, Refusal> {
        let token = self.transaction.token(name).await?;
        let absent = || format!("token {name:?} does not exist");
        let token = token.ok_or_else(|| Refusal::new(Refused::NotFound, absent()))?;
        check_free(Kind::Token, name, token.file.as_deref())?;
        Ok(token)
    }
}

fn token_text(holder: &Holder) -> Result<String, Refusal> {
    Ok(token_json(holder)?.to_string())
}
