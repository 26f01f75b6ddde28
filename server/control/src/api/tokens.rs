//! Tokens: credentials of API clients.

use super::answer::Answer;
use super::request::ApiRequest;
use super::service::Context;
use super::write::Change;
use crate::access::AccessRequest;
use crate::changes::{IssuedToken, token_json};
use crate::error::ApiError;
use crate::limits;
use crate::model::{Compat, FieldPath, Kind, Origin, Reader, Token};

/// Parses a body that describes a token. Fails with all problems of the body.
pub fn read(request: &ApiRequest, compat: Compat) -> Result<Token, ApiError> {
    let value = request.json()?;
    let mut reader = Reader::new(compat, Origin::Api);
    let token = Token::read(&mut reader, &FieldPath::Root, &value);
    Ok(reader.finish(token)?)
}

/// Lists a page of tokens, in the order of creation, without keys.
pub async fn list(context: &mut Context<'_>) -> Result<Answer, ApiError> {
    context.check(AccessRequest::View(Kind::Token), None)?;
    let page = context.page("tokens", limits::PAGE)?;
    let after = page.behind.unwrap_or(0);
    let transaction = &mut *context.transaction;
    let tokens = transaction.tokens_after(after, page.row_limit()).await?;
    let number = |token: &crate::db::Holder| token.id;
    context.paged(&page, &tokens, number, |token| {
        Ok(token_json(token)?.to_string())
    })
}

/// Returns a token without its key.
///
/// # Errors
/// The caller may not view tokens, or the token does not exist.
pub async fn get(context: &mut Context<'_>, name: &str) -> Result<Answer, ApiError> {
    context.check(AccessRequest::View(Kind::Token), None)?;
    let token = context.transaction.token(name).await?;
    let token = token.ok_or_else(ApiError::not_found)?;
    Ok(Answer::result(&token_json(&token)?.to_string()))
}

/// Creates a token. The response is the only one that contains the key.
///
/// # Errors
/// The caller may not manage tokens, or the body is not valid.
pub async fn create(
    context: &mut Context<'_>,
    change: Result<Change, ApiError>,
) -> Result<Answer, ApiError> {
    context.check(AccessRequest::Manage(Kind::Token), None)?;
    let Change::Token(token) = change? else {
        return Err(ApiError::internal("a body was read as something else"));
    };
    let Some(role) = token.role else {
        return Err(ApiError::invalid("role is required"));
    };
    let keys = &context.state.keys;
    let mut changing = context.changing();
    let issued = changing.create_token(keys, &token.name, role, token.expires_at);
    issued_response(&issued.await?)
}

/// Replaces the key of a token. The earlier key is rejected from the commit on.
pub async fn rotate(context: &mut Context<'_>, name: &str) -> Result<Answer, ApiError> {
    context.check(AccessRequest::Manage(Kind::Token), None)?;
    let keys = &context.state.keys;
    issued_response(&context.changing().rotate_token(keys, name).await?)
}

/// Returns a token with its key. The key is shown only in this response.
fn issued_response(issued: &IssuedToken) -> Result<Answer, ApiError> {
    let mut token = token_json(&issued.holder)?;
    if let Some(token_object) = token.as_object_mut() {
        token_object.insert("key".to_owned(), issued.key.as_str().into());
    }
    Ok(Answer::result(&token.to_string()))
}

/// Revokes a token. Its key is rejected from the commit on.
pub async fn revoke(context: &mut Context<'_>, name: &str) -> Result<Answer, ApiError> {
    context.check(AccessRequest::Manage(Kind::Token), None)?;
    context.changing().revoke_token(name).await?;
    Ok(Answer::done())
}
