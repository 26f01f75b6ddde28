//! Built revisions of bundles, and which of them is active.
//!
//! A write transaction excludes others, so the sequence numbers of publications grow in the order of the commits.

use super::{Cell, DbError, Row, Transaction, now};

/// A built revision of a bundle without its archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactHead {
    /// The id, in the order of creation.
    pub id: i64,
    /// The revision of its manifest. Several artifacts may have the same.
    pub revision: String,
    /// SHA-256 digest of the archive in hexadecimal.
    pub digest: String,
    /// Size of the archive in bytes.
    pub size: u64,
    /// The fencing token of its publisher.
    pub fence: i64,
    /// Name of the file that contains the archive, or `None` if the database does.
    pub file: Option<String>,
    /// Time of creation in microseconds since 1970.
    pub created_at: i64,
}

/// A built revision to store.
#[derive(Clone, Copy, Debug)]
pub struct NewArtifact<'a> {
    /// The revision of its manifest.
    pub revision: &'a str,
    /// SHA-256 digest of the archive in hexadecimal.
    pub digest: &'a str,
    /// Size of the archive in bytes.
    pub size: u64,
    /// The fencing token of its publisher.
    pub fence: i64,
    /// Name of the file that contains the archive, or `None` if pieces follow.
    pub file: Option<&'a str>,
}

/// The state of a bundle's publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publication {
    /// The id of the active artifact.
    pub artifact: i64,
    /// The largest fencing token that published.
    pub fence: i64,
}

fn head(mut row: Row) -> Result<ArtifactHead, DbError> {
    Ok(ArtifactHead {
        id: row.int()?,
        revision: row.text()?,
        digest: row.text()?,
        size: u64::try_from(row.int()?)
            .map_err(|_| DbError::Other("a negative size".to_owned()))?,
        fence: row.int()?,
        file: row.maybe_text()?,
        created_at: row.int()?,
    })
}

impl Transaction {
    /// Returns the publication of a bundle, or `None` if nothing was published.
    pub async fn publication(&mut self, bundle: i64) -> Result<Option<Publication>, DbError> {
        let sql = "SELECT artifact_id, fence FROM publications WHERE bundle_id = ?";
        let row = self.first(sql, vec![bundle.into()]).await?;
        let read_row = |mut row: Row| {
            Ok(Publication {
                artifact: row.int()?,
                fence: row.int()?,
            })
        };
        row.map(read_row).transpose()
    }

    /// Sets the publication of a bundle. Its sequence number is larger than all earlier ones.
    pub async fn set_publication(
        &mut self,
        bundle: i64,
        publication: Publication,
    ) -> Result<(), DbError> {
        let sql = "UPDATE publication_changes SET count = count + 1 WHERE id = 1";
        self.execute(sql, vec![]).await?;
        let sequence = self.publication_changes().await?;
        let Publication { artifact, fence } = publication;
        let changed_rows = self
            .execute(
                "UPDATE publications SET artifact_id = ?, fence = ?, sequence = ? WHERE bundle_id = ?",
                vec![artifact.into(), fence.into(), sequence.into(), bundle.into()],
            )
            .await?;
        if changed_rows == 0 {
            self.execute(
                "INSERT INTO publications (bundle_id, artifact_id, fence, sequence) VALUES (?, ?, ?, ?)",
                vec![bundle.into(), artifact.into(), fence.into(), sequence.into()],
            )
            .await?;
        }
        Ok(())
    }

    /// Raises the fencing token of a publication whose archive did not change.
    pub async fn raise_fence(&mut self, bundle: i64, fence: i64) -> Result<(), DbError> {
        let sql = "UPDATE publications SET fence = ? WHERE bundle_id = ? AND fence < ?";
        let values = vec![fence.into(), bundle.into(), fence.into()];
        self.execute(sql, values).await.map(drop)
    }

    /// Returns the number of changes of all publications so far.
    pub async fn publication_changes(&mut self) -> Result<i64, DbError> {
        let sql = "SELECT count FROM publication_changes WHERE id = 1";
        let row = self.first(sql, vec![]).await?;
        row.map_or(Ok(0), |mut row| row.int())
    }

    /// Returns the ids of the bundles whose publication changed after the change `after`.
    pub async fn published_after(&mut self, after: i64) -> Result<Vec<i64>, DbError> {
        let sql = "SELECT bundle_id FROM publications WHERE sequence > ? ORDER BY sequence";
        let rows = self.query(sql, vec![after.into()]).await?;
        rows.into_iter().map(|mut row| row.int()).collect()
    }

    /// Returns an artifact of a bundle, or `None` if the id belongs to another bundle.
    pub async fn artifact(
        &mut self,
        bundle: i64,
        id: i64,
    ) -> Result<Option<ArtifactHead>, DbError> {
        let row = self
            .first(
                "SELECT id, revision, digest, size, fence, file, created_at FROM artifacts WHERE bundle_id = ? AND id = ?",
                vec![bundle.into(), id.into()],
            )
            .await?;
        row.map(head).transpose()
    }

    /// Returns the newest artifact of a bundle with this revision, or `None`.
    pub async fn artifact_of_revision(
        &mut self,
        bundle: i64,
        revision: &str,
    ) -> Result<Option<ArtifactHead>, DbError> {
        let row = self
            .first(
                "SELECT id, revision, digest, size, fence, file, created_at FROM artifacts WHERE bundle_id = ? AND revision = ? ORDER BY id DESC LIMIT 1",
                vec![bundle.into(), revision.into()],
            )
            .await?;
        row.map(head).transpose()
    }

    /// Returns artifacts of a bundle with smaller ids, the newest first.
    pub async fn artifacts_before(
        &mut self,
        bundle: i64,
        before: i64,
        limit: i64,
    ) -> Result<Vec<ArtifactHead>, DbError> {
        let rows = self
            .query(
                "SELECT id, revision, digest, size, fence, file, created_at FROM artifacts WHERE bundle_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
                vec![bundle.into(), before.into(), limit.into()],
            )
            .await?;
        rows.into_iter().map(head).collect()
    }

    /// Returns the newest artifact of a bundle, which need not be the active one. Returns `None` if there is none.
    pub async fn newest_artifact(&mut self, bundle: i64) -> Result<Option<ArtifactHead>, DbError> {
        let newest = self.artifacts_before(bundle, i64::MAX, 1).await?;
        Ok(newest.into_iter().next())
    }

    /// Adds an artifact and returns its id. It is not active yet.
    pub async fn add_artifact(
        &mut self,
        bundle: i64,
        new: NewArtifact<'_>,
    ) -> Result<i64, DbError> {
        let size = i64::try_from(new.size).map_err(|error| DbError::TooLarge(error.to_string()))?;
        self.execute(
            "INSERT INTO artifacts (bundle_id, revision, digest, size, fence, file, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            vec![
                bundle.into(),
                new.revision.into(),
                new.digest.into(),
                size.into(),
                new.fence.into(),
                new.file.into(),
                now().into(),
            ],
        )
        .await?;
        // no other write can have added one in the meantime
        let sql = "SELECT MAX(id) FROM artifacts WHERE bundle_id = ?";
        let row = self.first(sql, vec![bundle.into()]).await?;
        row.map_or_else(
            || Err(DbError::Other("a new artifact has no row".to_owned())),
            |mut row| row.int(),
        )
    }

    /// Adds a piece of an archive. `number` is its position.
    pub async fn add_piece(
        &mut self,
        artifact: i64,
        number: i64,
        content: &[u8],
    ) -> Result<(), DbError> {
        let sql = "INSERT INTO artifact_pieces (artifact_id, number, content) VALUES (?, ?, ?)";
        let values = vec![artifact.into(), number.into(), Cell::from(content)];
        self.execute(sql, values).await.map(drop)
    }

    /// Returns a piece of an archive, or `None` if the artifact was deleted.
    pub async fn piece(&mut self, artifact: i64, number: i64) -> Result<Option<Vec<u8>>, DbError> {
        let sql = "SELECT content FROM artifact_pieces WHERE artifact_id = ? AND number = ?";
        let row = self
            .first(sql, vec![artifact.into(), number.into()])
            .await?;
        row.map(|mut row| row.blob()).transpose()
    }

    /// Deletes the artifacts of a bundle except for the newest `keep` and the active one. Returns the files of the deleted
    /// ones.
    pub async fn prune_artifacts(
        &mut self,
        bundle: i64,
        keep: i64,
    ) -> Result<Vec<String>, DbError> {
        let active = self.publication(bundle).await?;
        let active = active.map_or(0, |publication| publication.artifact);
        let row = self
            .first(
                "SELECT id FROM artifacts WHERE bundle_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
                vec![bundle.into(), keep.into()],
            )
            .await?;
        let Some(mut row) = row else {
            return Ok(Vec::new());
        };
        let last = row.int()?;
        let values = || vec![bundle.into(), last.into(), active.into()];
        let files = self
            .query(
                "SELECT file FROM artifacts WHERE bundle_id = ? AND id <= ? AND id <> ? AND file IS NOT NULL",
                values(),
            )
            .await?;
        self.execute(
            "DELETE FROM artifacts WHERE bundle_id = ? AND id <= ? AND id <> ?",
            values(),
        )
        .await?;
        files.into_iter().map(|mut row| row.text()).collect()
    }

    /// Returns `true` if an artifact names this file, so that it must not be deleted.
    pub async fn is_artifact_file(&mut self, file: &str) -> Result<bool, DbError> {
        let sql = "SELECT id FROM artifacts WHERE file = ? LIMIT 1";
        Ok(self.first(sql, vec![file.into()]).await?.is_some())
    }
}
