//! The audit log of writes.

use serde::Serialize;
use serde_json::value::RawValue;

use super::answer::Answer;
use super::service::Context;
use crate::access::AccessRequest;
use crate::db::AuditEntry;
use crate::error::ApiError;
use crate::limits;
use crate::model::{credentials, timestamp};

#[derive(Serialize)]
struct AuditJson<'e> {
    at: String,
    principal: &'e str,
    request: &'e str,
    action: &'e str,
    kind: &'e str,
    name: &'e str,
    before: Option<Box<RawValue>>,
    after: Option<Box<RawValue>>,
}

/// Returns an entry as JSON, without credentials. A state that is not valid JSON is `null`.
///
/// # Errors
/// The time cannot be written.
pub(crate) fn entry_json(entry: &AuditEntry) -> Result<String, ApiError> {
    // entries of earlier versions may hold credentials
    let raw = |text: &Option<String>| {
        let text = text.as_deref().map(credentials::redacted_source);
        text.and_then(|text| RawValue::from_string(text.into_owned()).ok())
    };
    let entry_fields = AuditJson {
        at: timestamp::write(entry.at)?,
        principal: &entry.principal,
        request: &entry.request,
        action: &entry.action,
        kind: &entry.kind,
        name: &entry.name,
        before: raw(&entry.before),
        after: raw(&entry.after),
    };
    serde_json::to_string(&entry_fields).map_err(|error| ApiError::internal(error.to_string()))
}

/// Lists a page of writes, the latest first.
pub async fn list(context: &mut Context<'_>) -> Result<Answer, ApiError> {
    context.check(AccessRequest::ViewAudit, None)?;
    let page = context.page("audit", limits::PAGE)?;
    let before = page.behind.unwrap_or(i64::MAX);
    let transaction = &mut *context.transaction;
    let entries = transaction.audit_before(before, page.row_limit()).await?;
    context.paged(&page, &entries, |entry| entry.id, entry_json)
}
