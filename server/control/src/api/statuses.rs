//! Status records of bundles.

use serde::Serialize;

use super::answer::Answer;
use super::service::Context;
use crate::access::AccessRequest;
use crate::db::{ItemHead, StoredStatus};
use crate::error::ApiError;
use crate::limits;
use crate::model::{Kind, timestamp};

#[derive(Serialize)]
struct StatusJson<'s> {
    bundle_name: &'s str,
    revision: &'s str,
    phase: &'s str,
    status: &'s str,
    #[serde(skip_serializing_if = "str::is_empty")]
    error_message: &'s str,
    created_at: String,
    updated_at: String,
}

fn status_json(bundle: &str, record: &StoredStatus) -> Result<String, ApiError> {
    let status = StatusJson {
        bundle_name: bundle,
        revision: &record.revision,
        phase: &record.phase,
        status: &record.status,
        error_message: &record.error_message,
        created_at: timestamp::write(record.created_at)?,
        updated_at: timestamp::write(record.updated_at)?,
    };
    serde_json::to_string(&status).map_err(|error| ApiError::internal(error.to_string()))
}

async fn bundle(context: &mut Context<'_>, name: &str) -> Result<ItemHead, ApiError> {
    let head = context.transaction.head(Kind::Bundle, name).await?;
    let head = head.ok_or_else(ApiError::not_found)?;
    context.check(AccessRequest::ViewStatuses, Some(&head))?;
    Ok(head)
}

/// Returns the newest record. 404 if the bundle does not exist or has none.
pub async fn latest(context: &mut Context<'_>, name: &str) -> Result<Answer, ApiError> {
    let bundle = bundle(context, name).await?;
    let record = context.transaction.latest_status(bundle.id).await?;
    let record = record.ok_or_else(ApiError::not_found)?;
    Ok(Answer::result(&status_json(name, &record)?))
}

/// Lists a page of records, the newest first.
pub async fn list(context: &mut Context<'_>, name: &str) -> Result<Answer, ApiError> {
    let bundle = bundle(context, name).await?;
    let page = context.page(&format!("statuses\n{}", bundle.id), limits::STATUS_PAGE)?;
    let before = page.behind.unwrap_or(i64::MAX);
    let revision = context.request.params.last("revision").unwrap_or_default();
    if revision.contains('\0') {
        return Err(ApiError::invalid("`revision` has a NUL character"));
    }
    let records = context
        .transaction
        .statuses_before(bundle.id, revision, before, page.row_limit())
        .await?;
    let status_text = |record: &StoredStatus| status_json(name, record);
    context.paged(&page, &records, |record| record.id, status_text)
}
