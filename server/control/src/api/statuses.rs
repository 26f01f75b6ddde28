//! Status records of bundles.

use serde::Serialize;

use super::answer::Answer;
use super::service::Context;
use crate::access::Wish;
use crate::db::{ItemHead, StoredStatus};
use crate::error::Refusal;
use crate::limits;
use crate::model::Kind;

#[derive(Serialize)]
struct Shown<'s> {
    bundle_name: &'s str,
    revision: &'s str,
    phase: &'s str,
    status: &'s str,
    #[serde(skip_serializing_if = "str::is_empty")]
    error_message: &'s str,
    created_at: String,
    updated_at: String,
}

fn shown(bundle: &str, record: &StoredStatus) -> Result<String, Refusal> {
    let shown = Shown {
        bundle_name: bundle,
        revision: &record.revision,
        phase: &record.phase,
        status: &record.status,
        error_message: &record.error_message,
        created_at: time(record.created_at)?,
        updated_at: time(record.updated_at)?,
    };
    serde_json::to_string(&shown).map_err(|error| Refusal::internal(error.to_string()))
}

/// A time as ISO 8601 writes it, in UTC.
pub fn time(microseconds: i64) -> Result<String, Refusal> {
    let time = jiff::Timestamp::from_microsecond(microseconds);
    let time = time.map_err(|error| Refusal::internal(error.to_string()))?;
    Ok(time.to_string())
}

async fn bundle(context: &mut Context<'_>, name: &str) -> Result<ItemHead, Refusal> {
    let head = context.transaction.head(Kind::Bundle, name).await?;
    let head = head.ok_or_else(Refusal::not_found)?;
    context.check(Wish::ViewStatuses, Some(&head))?;
    Ok(head)
}

/// The newest record.
pub async fn latest(context: &mut Context<'_>, name: &str) -> Result<Answer, Refusal> {
    let bundle = bundle(context, name).await?;
    let record = context.transaction.latest_status(bundle.id).await?;
    let record = record.ok_or_else(Refusal::not_found)?;
    Ok(Answer::result(&shown(name, &record)?))
}

/// A page of records, the newest first.
pub async fn list(context: &mut Context<'_>, name: &str) -> Result<Answer, Refusal> {
    let params = &context.asked.params;
    let size = params.limit(limits::STATUS_PAGE)?;
    let list = format!("statuses\n{name}");
    let before = context.after(&list, params)?.unwrap_or(i64::MAX);
    let revision = params.last("revision").unwrap_or_default().to_owned();
    let bundle = bundle(context, name).await?;
    let most = i64::try_from(size).unwrap_or(i64::MAX) + 1;
    let mut records = context
        .transaction
        .statuses_before(bundle.id, &revision, before, most)
        .await?;
    let is_full = records.len() > size;
    records.truncate(size);
    let last = records.last().filter(|_| is_full);
    let next = last.and_then(|last| context.cursor(&list, last.id));
    let records: Result<Vec<String>, Refusal> =
        records.iter().map(|record| shown(name, record)).collect();
    Ok(Answer::page(&records?, next.as_deref()))
}
