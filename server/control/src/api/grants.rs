//! Grants: permissions on an item that administrators give to tokens.

use serde_json::json;

use super::answer::Answer;
use super::request::ApiRequest;
use super::service::Context;
use super::write::Change;
use crate::access::AccessRequest;
use crate::db::{Granted, ItemHead};
use crate::error::{ApiError, ApiErrorKind};
use crate::limits;
use crate::model::{Compat, FieldPath, Kind, Origin, Reader, allowed_hosts};

/// Parses a body: `{"permissions": ["sources.use"]}`.
pub fn read(request: &ApiRequest, compat: Compat, kind: Kind) -> Result<Vec<String>, ApiError> {
    let value = request.json()?;
    let mut reader = Reader::new(compat, Origin::Api);
    let mut members = reader.object(&FieldPath::Root, &value);
    if members.take("permissions").is_none() && members.is_object() {
        reader.report(&FieldPath::Root.member("permissions"), "is required");
    }
    let mut permissions = members.texts(&mut reader, &FieldPath::Root, "permissions");
    members.end(&mut reader, &FieldPath::Root);
    let grantable = AccessRequest::grantable(kind);
    let field_path = FieldPath::Root.member("permissions");
    for (index, permission) in permissions.iter().enumerate() {
        if !grantable.contains(permission) {
            let grantable_names = grantable.join(", ");
            reader.report(
                &field_path.element(index),
                format_args!("must be one of {grantable_names}"),
            );
        }
    }
    permissions.sort_unstable();
    permissions.dedup();
    Ok(reader.finish(permissions)?)
}

async fn item(context: &mut Context<'_>, kind: Kind, name: &str) -> Result<ItemHead, ApiError> {
    context.check(AccessRequest::ManageGrants, None)?;
    let head = context.transaction.head(kind, name).await?;
    head.ok_or_else(ApiError::not_found)
}

/// Lists the grants on an item, a page in the order of the tokens.
///
/// # Errors
/// The item does not exist or the caller may not manage its grants.
pub async fn list(context: &mut Context<'_>, kind: Kind, name: &str) -> Result<Answer, ApiError> {
    let item = item(context, kind, name).await?;
    let page = context.page(&format!("grants\n{}", item.id), limits::PAGE)?;
    let after = page.behind.unwrap_or(0);
    let transaction = &mut *context.transaction;
    let grants = transaction
        .grants_on(item.id, after, page.row_limit())
        .await?;
    let number = |granted: &Granted| granted.token;
    context.paged(&page, &grants, number, |granted| {
        Ok(grants_json(&granted.name, &granted.permissions))
    })
}

fn grants_json(token: &str, permissions: &[String]) -> String {
    json!({ "token": token, "permissions": permissions }).to_string()
}

/// Returns the grants of a token on an item; the list is empty if it has none.
///
/// # Errors
/// The item or the token does not exist.
pub async fn get(
    context: &mut Context<'_>,
    kind: Kind,
    name: &str,
    token: &str,
) -> Result<Answer, ApiError> {
    let item = item(context, kind, name).await?;
    let token = context.transaction.token(token).await?;
    let token = token.ok_or_else(ApiError::not_found)?;
    let permissions = context.transaction.granted(item.id, token.id).await?;
    Ok(Answer::result(&grants_json(&token.name, &permissions)))
}

/// Rejects a grant of the use of a secret that lists no hosts: the grantee could send the secret to any host.
async fn check_hosts(
    context: &mut Context<'_>,
    kind: Kind,
    name: &str,
    permissions: &[String],
) -> Result<(), ApiError> {
    let use_permission = AccessRequest::Use(Kind::Secret).permission();
    if kind != Kind::Secret || !permissions.contains(&use_permission) {
        return Ok(());
    }
    let secret = context.transaction.item(kind, name).await?;
    if secret.is_some_and(|secret| !allowed_hosts(&secret.body).is_empty()) {
        return Ok(());
    }
    let message = format!(
        "`{use_permission}` cannot be granted: secret {name:?} has no `allowed_hosts`, so only items of its owner may use it"
    );
    Err(ApiError::new(ApiErrorKind::Conflict, message))
}

/// Replaces the permissions of a token on an item. A deleted grant leaves no permissions.
pub async fn write(
    context: &mut Context<'_>,
    (kind, name, token): (Kind, &str, &str),
    is_delete: bool,
    change: Result<Change, ApiError>,
) -> Result<Answer, ApiError> {
    let item = item(context, kind, name).await?;
    let permissions = match change? {
        Change::Nothing if is_delete => Vec::new(),
        Change::Grants(permissions) => permissions,
        _ => return Err(ApiError::internal("a body was read as something else")),
    };
    let Some(holder) = context.transaction.token(token).await? else {
        if is_delete {
            return Err(ApiError::not_found());
        }
        let message = format!("token {token:?} does not exist");
        return Err(ApiError::new(ApiErrorKind::Reference, message));
    };
    check_hosts(context, kind, name, &permissions).await?;
    let before = context.transaction.granted(item.id, holder.id).await?;
    let before = grants_json(token, &before);
    context
        .transaction
        .put_grants(item.id, holder.id, &permissions)
        .await
        .map_err(|error| {
            let item = format!("the grant on {} {name:?}", kind.singular());
            ApiError::from(error).about(item, "permissions")
        })?;
    let after = grants_json(token, &permissions);
    let mut changing = context.changing();
    changing
        .note("grant", kind, name, Some(&before), Some(&after))
        .await?;
    Ok(Answer::done())
}
