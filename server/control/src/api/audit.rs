//! Who wrote what.

use serde::Serialize;
use serde_json::value::RawValue;

use super::answer::Answer;
use super::service::Context;
use super::statuses::time;
use crate::access::Wish;
use crate::db::AuditEntry;
use crate::error::Refusal;
use crate::limits;

#[derive(Serialize)]
struct Shown<'e> {
    at: String,
    principal: &'e str,
    request: &'e str,
    action: &'e str,
    kind: &'e str,
    name: &'e str,
    before: Option<Box<RawValue>>,
    after: Option<Box<RawValue>>,
}

fn shown(entry: &AuditEntry) -> Result<String, Refusal> {
    let raw = |text: &Option<String>| {
        text.clone()
            .and_then(|text| RawValue::from_string(text).ok())
    };
    let shown = Shown {
        at: time(entry.at)?,
        principal: &entry.principal,
        request: &entry.request,
        action: &entry.action,
        kind: &entry.kind,
        name: &entry.name,
        before: raw(&entry.before),
        after: raw(&entry.after),
    };
    serde_json::to_string(&shown).map_err(|error| Refusal::internal(error.to_string()))
}

/// A page of writes, the latest first.
pub async fn list(context: &mut Context<'_>) -> Result<Answer, Refusal> {
    context.check(Wish::ViewAudit, None)?;
    let params = &context.asked.params;
    let size = params.limit(limits::PAGE)?;
    let before = context.after("audit", params)?.unwrap_or(i64::MAX);
    let most = i64::try_from(size).unwrap_or(i64::MAX) + 1;
    let mut entries = context.transaction.audit_before(before, most).await?;
    let is_full = entries.len() > size;
    entries.truncate(size);
    let last = entries.last().filter(|_| is_full);
    let next = last.and_then(|last| context.cursor("audit", last.id));
    let entries: Result<Vec<String>, Refusal> = entries.iter().map(shown).collect();
    Ok(Answer::page(&entries?, next.as_deref()))
}
