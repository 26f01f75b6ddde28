//! Built revisions of a bundle, and the choice of the active one.

use serde::Serialize;

use super::answer::Answer;
use super::items::bundle;
use super::request::ApiRequest;
use super::service::Context;
use super::write::Change;
use crate::access::AccessRequest;
use crate::db::{ArtifactHead, Publication};
use crate::error::{ApiError, ApiErrorKind};
use crate::limits;
use crate::model::{Compat, FieldPath, Kind, Origin, Reader, timestamp};

/// The revision that a rollback activates.
pub enum Chosen {
    /// The artifact with this id.
    Id(i64),
    /// The newest artifact with this revision.
    Revision(String),
    /// The newest artifact: the rollback ends.
    Newest,
}

#[derive(Serialize)]
struct RevisionJson<'s> {
    id: i64,
    revision: &'s str,
    digest: &'s str,
    size: u64,
    created_at: String,
    active: bool,
}

fn revision_json(artifact: &ArtifactHead, active: Option<i64>) -> Result<String, ApiError> {
    let revision = RevisionJson {
        id: artifact.id,
        revision: &artifact.revision,
        digest: &artifact.digest,
        size: artifact.size,
        created_at: timestamp::write(artifact.created_at)?,
        active: active == Some(artifact.id),
    };
    serde_json::to_string(&revision).map_err(|error| ApiError::internal(error.to_string()))
}

/// Parses a body: `{"id": 7}`, `{"revision": "v1"}` or `{"resume": true}`.
pub fn read(request: &ApiRequest, compat: Compat) -> Result<Chosen, ApiError> {
    let value = request.json()?;
    let mut reader = Reader::new(compat, Origin::Api);
    let root = FieldPath::Root;
    let mut members = reader.object(&root, &value);
    let id = members.take("id");
    let id = id.map(|value| Chosen::Id(reader.integer(&root.member("id"), value)));
    let revision = members.take("revision");
    let revision =
        revision.map(|value| Chosen::Revision(reader.text(&root.member("revision"), value)));
    let resume = members.take("resume").map(|value| {
        if !reader.boolean(&root.member("resume"), value) {
            reader.report(&root.member("resume"), "must be `true` if it is there");
        }
        Chosen::Newest
    });
    members.end(&mut reader, &root);
    let mut choices = [id, revision, resume].into_iter().flatten();
    let first = choices.next();
    if first.is_none() || choices.next().is_some() {
        let message = "must have exactly one of `id`, `revision` and `resume`";
        reader.report(&root, message);
    }
    let first = reader.finish(first)?;
    first.ok_or_else(|| ApiError::internal("a body without a choice was accepted"))
}

/// Lists a page of built revisions, the newest first.
pub async fn list(context: &mut Context<'_>, name: &str) -> Result<Answer, ApiError> {
    // status records contain the revisions, too
    let bundle = bundle(context, name, AccessRequest::ViewStatuses).await?;
    let page = context.page(&format!("revisions\n{}", bundle.id), limits::PAGE)?;
    let before = page.behind.unwrap_or(i64::MAX);
    let transaction = &mut *context.transaction;
    let publication = transaction.publication(bundle.id).await?;
    let active = publication.map(|publication| publication.artifact);
    let artifacts = transaction
        .artifacts_before(bundle.id, before, page.row_limit())
        .await?;
    let revision_text = |artifact: &ArtifactHead| revision_json(artifact, active);
    context.paged(&page, &artifacts, |artifact| artifact.id, revision_text)
}

/// Makes another revision active. It stays active until a build gives an archive that differs from the newest one. 404 if
/// the revision is not kept any more.
pub async fn roll_back(
    context: &mut Context<'_>,
    name: &str,
    change: Result<Change, ApiError>,
) -> Result<Answer, ApiError> {
    let bundle = bundle(context, name, AccessRequest::Manage(Kind::Bundle)).await?;
    let Change::Rollback(choice) = change? else {
        return Err(ApiError::internal("a body was read as something else"));
    };
    let transaction = &mut *context.transaction;
    let publication = transaction.publication(bundle.id).await?;
    let artifact = match &choice {
        Chosen::Id(id) => transaction.artifact(bundle.id, *id).await?,
        Chosen::Revision(revision) => {
            transaction
                .artifact_of_revision(bundle.id, revision)
                .await?
        }
        Chosen::Newest => transaction.newest_artifact(bundle.id).await?,
    };
    let Some((artifact, publication)) = artifact.zip(publication) else {
        let message = "the bundle has no such revision, or it is not kept any more";
        return Err(ApiError::new(ApiErrorKind::NotFound, message));
    };
    let before = transaction
        .artifact(bundle.id, publication.artifact)
        .await?;
    if publication.artifact != artifact.id {
        let next = Publication {
            artifact: artifact.id,
            ..publication
        };
        transaction.set_publication(bundle.id, next).await?;
    }
    let active = Some(publication.artifact);
    let before = before
        .map(|before| revision_json(&before, active))
        .transpose()?;
    let after = revision_json(&artifact, Some(artifact.id))?;
    let mut changing = context.changing();
    changing
        .note(
            "rollback",
            Kind::Bundle,
            name,
            before.as_deref(),
            Some(&after),
        )
        .await?;
    Ok(Answer::result(&after))
}
