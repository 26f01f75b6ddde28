//! Tokens: who may ask.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::answer::Answer;
use super::request::Asked;
use super::service::Context;
use super::statuses::time;
use super::write::Change;
use crate::access::Wish;
use crate::db::{Holder, NewToken};
use crate::error::{Refusal, Refused};
use crate::limits;
use crate::model::{Compat, Kind, Origin, Place, Reader, Token, check_name};

/// Reads a body that describes a token.
pub fn read(asked: &Asked, compat: Compat) -> Result<Token, Refusal> {
    let value = asked.json()?;
    let mut reader = Reader::new(compat, Origin::Api);
    let token = Token::read(&mut reader, &Place::Root, &value);
    let token = reader.finish(token)?;
    check_name(&token.name).map_err(|words| Refusal::invalid(format!("name {words}")))?;
    Ok(token)
}

/// A new key, which nobody can guess.
pub(crate) fn new_key() -> Result<zeroize::Zeroizing<String>, Refusal> {
    let mut bytes = zeroize::Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut_slice()).map_err(|error| Refusal::internal(error.to_string()))?;
    let text = URL_SAFE_NO_PAD.encode(bytes.as_slice());
    Ok(zeroize::Zeroizing::new(format!("solon_{text}")))
}

/// What is told of a token; its key only where it is new.
fn shown(holder: &Holder, key: Option<&str>) -> Result<String, Refusal> {
    let mut shown = json!({
        "name": holder.name,
        "role": holder.role.as_str(),
        "created_at": time(holder.created_at)?,
        "expires_at": holder.expires_at.map(time).transpose()?,
        "last_used_at": holder.last_used_at.map(time).transpose()?,
    });
    if let (Some(key), Some(shown)) = (key, shown.as_object_mut()) {
        shown.insert("key".to_owned(), key.into());
    }
    Ok(shown.to_string())
}

/// A token as the API tells it, without its key.
///
/// # Errors
/// Times that no calendar has.
pub fn token_json(holder: &Holder) -> Result<String, Refusal> {
    shown(holder, None)
}

/// A page of tokens.
pub async fn list(context: &mut Context<'_>) -> Result<Answer, Refusal> {
    context.check(Wish::View(Kind::Token), None)?;
    let params = &context.asked.params;
    let size = params.limit(limits::PAGE)?;
    let after = context.after("tokens", params)?.unwrap_or(0);
    let most = i64::try_from(size).unwrap_or(i64::MAX) + 1;
    let mut tokens = context.transaction.tokens_after(after, most).await?;
    let is_full = tokens.len() > size;
    tokens.truncate(size);
    let last = tokens.last().filter(|_| is_full);
    let next = last.and_then(|last| context.cursor("tokens", last.id));
    let tokens: Result<Vec<String>, Refusal> =
        tokens.iter().map(|token| shown(token, None)).collect();
    Ok(Answer::page(&tokens?, next.as_deref()))
}

/// A token.
pub async fn get(context: &mut Context<'_>, name: &str) -> Result<Answer, Refusal> {
    context.check(Wish::View(Kind::Token), None)?;
    let token = context.transaction.token(name).await?;
    let token = token.ok_or_else(Refusal::not_found)?;
    Ok(Answer::result(&shown(&token, None)?))
}

/// Makes a token, and shows its key this once.
pub async fn create(
    context: &mut Context<'_>,
    change: Result<Change, Refusal>,
) -> Result<Answer, Refusal> {
    context.check(Wish::Manage(Kind::Token), None)?;
    let Change::Token(token) = change? else {
        return Err(Refusal::internal("a body was read as something else"));
    };
    if context.transaction.token(&token.name).await?.is_some() {
        let message = format!("token {:?} exists", token.name);
        return Err(Refusal::new(Refused::Conflict, message));
    }
    let Some(role) = token.role else {
        return Err(Refusal::invalid("role is required"));
    };
    keep(context, &token.name, role, token.expires_at, "create").await
}

/// Gives a token another key, and shows it this once.
pub async fn rotate(context: &mut Context<'_>, name: &str) -> Result<Answer, Refusal> {
    let token = changeable(context, name).await?;
    keep(context, name, token.role, token.expires_at, "rotate").await
}

async fn keep(
    context: &mut Context<'_>,
    name: &str,
    role: crate::model::Role,
    expires_at: Option<i64>,
    action: &'static str,
) -> Result<Answer, Refusal> {
    let key = new_key()?;
    let token = NewToken {
        name,
        role,
        key_hash: &context.state.keys.digest(&key),
        file: None,
        expires_at,
    };
    context.transaction.put_token(token).await?;
    let made = context.transaction.token(name).await?;
    let made = made.ok_or_else(|| Refusal::internal("a token that was made is not there"))?;
    let after = shown(&made, None)?;
    let mut changing = context.changing();
    changing
        .note(action, Kind::Token, name, None, Some(&after))
        .await?;
    Ok(Answer::result(&shown(&made, Some(&key))?))
}

/// Revokes a token.
pub async fn revoke(context: &mut Context<'_>, name: &str) -> Result<Answer, Refusal> {
    let token = changeable(context, name).await?;
    context.transaction.remove_token(token.id).await?;
    let before = shown(&token, None)?;
    let mut changing = context.changing();
    changing
        .note("delete", Kind::Token, name, Some(&before), None)
        .await?;
    Ok(Answer::done())
}

/// A token that no file describes.
async fn changeable(context: &mut Context<'_>, name: &str) -> Result<Holder, Refusal> {
    context.check(Wish::Manage(Kind::Token), None)?;
    let token = context.transaction.token(name).await?;
    let token = token.ok_or_else(Refusal::not_found)?;
    match &token.file {
        None => Ok(token),
        Some(file) => {
            let message =
                format!("token {name:?} is described by the file {file:?}; change it there");
            Err(Refusal::new(Refused::Conflict, message))
        }
    }
}
