//! The contents of the pages, read with the permissions of the session's token.

use std::collections::BTreeMap;

use super::super::items;
use super::super::service::Context;
use crate::access::AccessRequest;
use crate::db::{ArtifactHead, Attempt, BuildState, ItemHead, StoredStatus};
use crate::error::ApiError;
use crate::limits;
use crate::model::Kind;

pub struct BundleRow {
    pub name: String,
    /// The builds, or `None` without the permission to see them.
    pub builds: Option<BuildSummary>,
}

#[derive(Default)]
pub struct BuildSummary {
    pub state: &'static str,
    /// `true` if the last result is a failure.
    pub is_failed: bool,
    /// Time of the last success, in microseconds since 1970.
    pub succeeded_at: Option<i64>,
    /// The revision of the last success, or of the active archive.
    pub revision: String,
    /// Size of the active archive in bytes, if the database stores archives of the bundle.
    pub size: Option<u64>,
    /// The message of the last result, if it is a failure.
    pub error: String,
}

/// A bundle with its history and what the caller may do with it.
pub struct BundleView {
    pub row: BundleRow,
    /// `true` if the caller may request builds.
    pub can_build: bool,
    /// `true` if the caller may choose the active revision.
    pub can_roll_back: bool,
    /// The newest finished builds.
    pub attempts: Vec<Attempt>,
    /// The stored revisions, the newest first.
    pub revisions: Vec<ArtifactHead>,
    /// The id of the active revision.
    pub active: Option<i64>,
}

pub struct SourceRow {
    pub name: String,
    pub origins: String,
    /// Visible items that use it: kind and name.
    pub users: Vec<(Kind, String)>,
    /// The number of users that the caller may not see.
    pub hidden: usize,
}

/// Returns a page of the bundles that the caller may see, and the cursor of the next page.
pub async fn bundles(
    context: &mut Context<'_>,
) -> Result<(Vec<BundleRow>, Option<String>), ApiError> {
    let (found, next) = items::visible_page(context, Kind::Bundle, limits::PAGE_ROWS).await?;
    let states = states(context).await?;
    let mut rows = Vec::new();
    for item in found {
        rows.push(row(context, &item.head, &states).await?);
    }
    Ok((rows, next))
}

async fn states(context: &mut Context<'_>) -> Result<BTreeMap<String, BuildState>, ApiError> {
    let states = context.transaction.build_states().await?;
    let named = states.into_iter().map(|state| (state.name.clone(), state));
    Ok(named.collect())
}

async fn row(
    context: &mut Context<'_>,
    bundle: &ItemHead,
    states: &BTreeMap<String, BuildState>,
) -> Result<BundleRow, ApiError> {
    let mut row = BundleRow {
        name: bundle.name.clone(),
        builds: None,
    };
    let access = &context.state.access;
    if !access.allows(context.principal, AccessRequest::ViewStatuses, Some(bundle))? {
        return Ok(row);
    }
    let transaction = &mut *context.transaction;
    let latest = transaction.latest_status(bundle.id).await?;
    let active = match transaction.publication(bundle.id).await? {
        Some(publication) => {
            transaction
                .artifact(bundle.id, publication.artifact)
                .await?
        }
        None => None,
    };
    let state = states.get(&bundle.name);
    row.builds = Some(summary(state, latest.as_ref(), active.as_ref()));
    Ok(row)
}

fn summary(
    state: Option<&BuildState>,
    latest: Option<&StoredStatus>,
    active: Option<&ArtifactHead>,
) -> BuildSummary {
    let is_well = latest.is_some_and(|latest| latest.status == "SUCCESS");
    let text = match state {
        Some(state) if state.builder.is_some() => "building",
        _ if latest.is_some() && !is_well => "failed",
        Some(state) if state.is_waiting => "waiting",
        _ if is_well => "published",
        _ => "waiting",
    };
    let last = latest.filter(|_| is_well).map(|latest| &latest.revision);
    BuildSummary {
        state: text,
        is_failed: latest.is_some() && !is_well,
        succeeded_at: state.and_then(|state| state.succeeded_at),
        revision: active
            .map(|active| &active.revision)
            .or(last)
            .cloned()
            .unwrap_or_default(),
        size: active.map(|active| active.size),
        error: match latest {
            Some(latest) if !is_well => format!("{}: {}", latest.status, latest.error_message),
            _ => String::new(),
        },
    }
}

/// Returns a bundle with its history.
///
/// # Errors
/// The bundle does not exist, or the caller may not view it.
pub async fn bundle(context: &mut Context<'_>, name: &str) -> Result<BundleView, ApiError> {
    let head = context.transaction.head(Kind::Bundle, name).await?;
    let head = head.ok_or_else(ApiError::not_found)?;
    context.check(AccessRequest::View(Kind::Bundle), Some(&head))?;
    let states = states(context).await?;
    let row = row(context, &head, &states).await?;
    let access = &context.state.access;
    let may = |wish| access.allows(context.principal, wish, Some(&head));
    let (can_build, can_roll_back) = (
        may(AccessRequest::Build)?,
        may(AccessRequest::Manage(Kind::Bundle))?,
    );
    let mut view = BundleView {
        can_build,
        can_roll_back,
        attempts: Vec::new(),
        revisions: Vec::new(),
        active: None,
        row,
    };
    if view.row.builds.is_none() {
        return Ok(view);
    }
    let transaction = &mut *context.transaction;
    let most = i64::try_from(limits::PAGE_ROWS).unwrap_or(i64::MAX);
    view.attempts = transaction.build_attempts(head.id, i64::MAX, most).await?;
    view.revisions = transaction
        .artifacts_before(head.id, i64::MAX, most)
        .await?;
    let publication = transaction.publication(head.id).await?;
    view.active = publication.map(|publication| publication.artifact);
    Ok(view)
}

/// Returns a page of the sources that the caller may see, and the cursor of the next page.
pub async fn sources(
    context: &mut Context<'_>,
) -> Result<(Vec<SourceRow>, Option<String>), ApiError> {
    let (found, next) = items::visible_page(context, Kind::Source, limits::PAGE_ROWS).await?;
    let mut rows = Vec::new();
    for item in found {
        let (mut users, mut hidden) = (Vec::new(), 0);
        for (kind, user) in context.transaction.users(item.head.id).await? {
            let access = &context.state.access;
            if access.allows(context.principal, AccessRequest::View(kind), Some(&user))? {
                users.push((kind, user.name));
            } else {
                hidden += 1;
            }
        }
        rows.push(SourceRow {
            origins: origins(&item.body),
            name: item.head.name,
            users,
            hidden,
        });
    }
    Ok((rows, next))
}

/// Returns the origins of a stored source. Addresses are not shown, because they may contain credentials.
fn origins(body: &str) -> String {
    let body: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let named = [
        ("git", "Git"),
        ("directory", "folder"),
        ("builtin", "built-in library"),
        ("files", "files"),
        ("datasources", "data sources"),
    ];
    let found = named.iter().filter(|(field, _)| body.get(field).is_some());
    let found: Vec<&str> = found.map(|(_, text)| *text).collect();
    if found.is_empty() {
        "pushed data".to_owned()
    } else {
        found.join(", ")
    }
}
