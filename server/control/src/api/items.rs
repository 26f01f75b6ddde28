//! Bundles, sources, stacks and secrets: lists, reads and writes.

use super::answer::Answer;
use super::pages::Page;
use super::preconditions;
use super::request::ApiRequest;
use super::service::Context;
use super::write::Change;
use crate::access::{AccessRequest, Visible};
use crate::changes::{ItemWrite, check_free};
use crate::db::{Item, ItemHead, VisibleRows};
use crate::error::ApiError;
use crate::limits;
use crate::model::credentials;
use crate::model::{Compat, FieldPath, Kind, Origin, Reader, Reference, Resource};

/// An item as the request body describes it.
pub struct ItemBody {
    body: String,
    references: Vec<Reference>,
}

impl ItemBody {
    /// Parses and checks a body. A name in the body must match the path.
    pub fn from_request<R: Resource>(
        request: &ApiRequest,
        compat: Compat,
        name: &str,
    ) -> Result<Self, ApiError> {
        let value = request.json()?;
        let mut reader = Reader::new(compat, Origin::Api);
        let mut item = R::read(&mut reader, &FieldPath::Root, &value);
        check_name(R::KIND, item.name(), name)?;
        item.set_name(name);
        let item = reader.finish(item)?;
        Ok(Self {
            references: item.references(),
            body: serde_json::to_string(&item)
                .map_err(|error| ApiError::internal(error.to_string()))?,
        })
    }
}

/// Rejects a name in a body that differs from the path.
pub fn check_name(kind: Kind, body: &str, path: &str) -> Result<(), ApiError> {
    if body.is_empty() || body == path {
        return Ok(());
    }
    let kind = kind.singular();
    Err(ApiError::invalid(format!(
        "{kind} name must match path: the body names {body:?}, the path {path:?}"
    )))
}

impl Context<'_> {
    /// Returns the entity tag of the item's state. It changes with each write.
    pub fn tag(&self, kind: Kind, head: &ItemHead) -> String {
        let state = format!("{}\n{}\n{}", kind.plural(), head.id, head.version);
        self.state.keys.tag(&state)
    }
}

/// Returns the JSON of an item. Of a secret, this contains only the name.
fn item_json(kind: Kind, item: &Item) -> String {
    match kind {
        Kind::Secret => serde_json::Value::from(item.head.name.as_str()).to_string(),
        Kind::Source => credentials::redacted_source(&item.body).into_owned(),
        _ => item.body.clone(),
    }
}

/// Lists a page of the items that the caller may see, in the order of creation.
pub async fn list(context: &mut Context<'_>, kind: Kind) -> Result<Answer, ApiError> {
    let page = context.page(kind.plural(), limits::PAGE)?;
    let items = visible(context, kind, &page).await?;
    let item_text = |item: &Item| Ok(item_json(kind, item));
    context.paged(&page, &items, |item| item.head.id, item_text)
}

/// Returns at most `limit` items that the caller may see, and the cursor of the next page.
pub async fn visible_page(
    context: &mut Context<'_>,
    kind: Kind,
    limit: usize,
) -> Result<(Vec<Item>, Option<String>), ApiError> {
    let page = context.page(kind.plural(), limit)?;
    let mut items = visible(context, kind, &page).await?;
    let next = context.next_cursor(&page, &items, |item| item.head.id)?;
    items.truncate(page.size());
    Ok((items, next))
}

/// Returns the items of a page that the caller may see, and one more if there is a next page.
async fn visible(
    context: &mut Context<'_>,
    kind: Kind,
    page: &Page,
) -> Result<Vec<Item>, ApiError> {
    let (after, limit) = (page.behind.unwrap_or(0), page.row_limit());
    let holder = &context.principal.holder;
    let transaction = &mut *context.transaction;
    Ok(
        match context.state.access.visible(context.principal, kind)? {
            Visible::All => transaction.items_after(kind, after, limit).await?,
            Visible::None => Vec::new(),
            Visible::If(condition, scope) => {
                let rows = VisibleRows {
                    token: holder.id,
                    permission: &AccessRequest::View(kind).permission(),
                    condition: &condition,
                    scope,
                };
                transaction.items_under(kind, rows, after, limit).await?
            }
        },
    )
}

/// Returns a bundle to which the caller has this access.
///
/// # Errors
/// The bundle does not exist, or the caller has no permission.
pub async fn bundle(
    context: &mut Context<'_>,
    name: &str,
    access: AccessRequest,
) -> Result<ItemHead, ApiError> {
    let head = context.transaction.head(Kind::Bundle, name).await?;
    let head = head.ok_or_else(ApiError::not_found)?;
    context.check(access, Some(&head))?;
    Ok(head)
}

pub async fn get(context: &mut Context<'_>, kind: Kind, name: &str) -> Result<Answer, ApiError> {
    let item = context.transaction.item(kind, name).await?;
    let item = item.ok_or_else(ApiError::not_found)?;
    context.check(AccessRequest::View(kind), Some(&item.head))?;
    let tag = context.tag(kind, &item.head);
    Ok(Answer::result(&item_json(kind, &item)).tagged(tag))
}

/// Creates or replaces an item.
pub async fn put(
    context: &mut Context<'_>,
    kind: Kind,
    name: &str,
    change: Result<Change, ApiError>,
) -> Result<Answer, ApiError> {
    let before = context.transaction.item(kind, name).await?;
    let head = before.as_ref().map(|item| &item.head);
    let access_request = if head.is_some() {
        AccessRequest::Manage(kind)
    } else {
        AccessRequest::Create(kind)
    };
    context.check(access_request, head)?;
    let change = change?;
    if let Some(head) = head {
        check_free(kind, name, head.file.as_deref())?;
    }
    let tag = head.map(|head| context.tag(kind, head));
    preconditions::check(context.request, tag.as_deref())?;
    let keyring = &context.state.keyring;
    let head = match change {
        Change::Item(item) => {
            let item_write = ItemWrite {
                kind,
                name,
                body: item.body,
                references: item.references,
            };
            context.changing().put(before.as_ref(), item_write).await?
        }
        Change::Secret(secret_write) => {
            let mut changing = context.changing();
            changing
                .put_secret(
                    before.as_ref(),
                    name,
                    &secret_write.value,
                    &secret_write.allowed_hosts,
                    keyring,
                )
                .await?
        }
        _ => return Err(ApiError::internal("a body was read as something else")),
    };
    let tag = context.tag(kind, &head);
    Ok(Answer::done().tagged(tag))
}

/// Deletes an item.
///
/// # Errors
/// The item does not exist (or the caller may not learn that), the caller may not manage it, it comes from a configuration file, a
/// precondition of the request does not hold, or the database fails.
pub async fn remove(context: &mut Context<'_>, kind: Kind, name: &str) -> Result<Answer, ApiError> {
    let Some(item) = context.transaction.item(kind, name).await? else {
        // a caller with permission to create such items may learn that this one does not exist
        context.check(AccessRequest::Create(kind), None)?;
        return Err(ApiError::not_found());
    };
    context.check(AccessRequest::Manage(kind), Some(&item.head))?;
    check_free(kind, name, item.head.file.as_deref())?;
    let tag = context.tag(kind, &item.head);
    preconditions::check(context.request, Some(&tag))?;
    context.changing().remove(kind, &item).await?;
    Ok(Answer::done())
}
