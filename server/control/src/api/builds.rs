//! Requested and finished builds of a bundle.

use std::time::Duration;

use serde::Serialize;

use super::answer::Answer;
use super::items::bundle;
use super::service::Context;
use crate::access::AccessRequest;
use crate::db::{Attempt, BuildRequest};
use crate::error::ApiError;
use crate::limits;
use crate::model::{Kind, timestamp};

#[derive(Serialize)]
struct BuildView<'b> {
    id: i64,
    revision: &'b str,
    phase: &'b str,
    status: &'b str,
    #[serde(skip_serializing_if = "str::is_empty")]
    error_message: &'b str,
    ended_at: String,
    durations: StageDurations,
}

/// Durations of the stages that ran, in seconds.
#[derive(Serialize)]
struct StageDurations {
    #[serde(skip_serializing_if = "Option::is_none")]
    sync: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    build: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    push: Option<f64>,
}

#[derive(Serialize)]
struct RequestView<'b> {
    id: i64,
    state: &'static str,
    requested_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    build: Option<BuildView<'b>>,
}

fn build(attempt: &Attempt) -> Result<BuildView<'_>, ApiError> {
    let [sync, build, push] = attempt
        .durations
        .map(|duration| duration.as_ref().map(Duration::as_secs_f64));
    Ok(BuildView {
        id: attempt.id,
        revision: &attempt.revision,
        phase: &attempt.phase,
        status: &attempt.status,
        error_message: &attempt.error_message,
        ended_at: timestamp::write(attempt.ended_at)?,
        durations: StageDurations { sync, build, push },
    })
}

fn requested(request: &BuildRequest, attempt: Option<&Attempt>) -> Result<String, ApiError> {
    text(&RequestView {
        id: request.id,
        state: if attempt.is_some() {
            "finished"
        } else {
            "waiting"
        },
        requested_at: timestamp::write(request.requested_at)?,
        build: attempt.map(build).transpose()?,
    })
}

fn text<T: Serialize>(value: &T) -> Result<String, ApiError> {
    serde_json::to_string(value).map_err(|error| ApiError::internal(error.to_string()))
}

/// Requests a build. It is made even if the inputs are unchanged.
pub async fn request(context: &mut Context<'_>, name: &str) -> Result<Answer, ApiError> {
    let bundle = bundle(context, name, AccessRequest::Build).await?;
    let request = context.transaction.request_build(bundle.id).await?;
    let request_text = requested(&request, None)?;
    let mut changing = context.changing();
    changing
        .note("build", Kind::Bundle, name, None, Some(&request_text))
        .await?;
    Ok(Answer::result(&request_text))
}

/// Returns a requested build, with its result if it is finished.
pub async fn get(context: &mut Context<'_>, name: &str, id: &str) -> Result<Answer, ApiError> {
    let bundle = bundle(context, name, AccessRequest::ViewStatuses).await?;
    let id = id.parse::<i64>();
    let id = id.map_err(|_| ApiError::invalid("the id of a build must be an integer"))?;
    let request = context.transaction.build_request(bundle.id, id).await?;
    let request = request.ok_or_else(ApiError::not_found)?;
    let attempt = match request.attempt {
        Some(attempt) => context.transaction.build_attempt(attempt).await?,
        None => None,
    };
    Ok(Answer::result(&requested(&request, attempt.as_ref())?))
}

/// Lists a page of finished builds, the newest first.
pub async fn list(context: &mut Context<'_>, name: &str) -> Result<Answer, ApiError> {
    let bundle = bundle(context, name, AccessRequest::ViewStatuses).await?;
    let page = context.page(&format!("builds\n{}", bundle.id), limits::PAGE)?;
    let before = page.behind.unwrap_or(i64::MAX);
    let attempts = context
        .transaction
        .build_attempts(bundle.id, before, page.row_limit())
        .await?;
    let attempt_text = |attempt: &Attempt| text(&build(attempt)?);
    context.paged(&page, &attempts, |attempt| attempt.id, attempt_text)
}
