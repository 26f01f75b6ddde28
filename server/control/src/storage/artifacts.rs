//! Archives in the database in pieces or, with SQLite, as files next to it.
//!
//! A row is the truth: a file without a row is garbage, which is deleted at the next start. A file is complete and on the
//! disk before its row is committed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::{ArchiveReader, Artefact, PublicationWatch, Published, overtaken, push_failed};
use crate::db::{ArtifactHead, Database, DbError, Mode, NewArtifact, Publication, Transaction};
use crate::error::ApiError;
use crate::limits;
use crate::model::{Failure, Kind};
use solon_common::atomic_file::{Permissions, random_name, replace_file};

/// Name of the folder of archives in the data folder.
const FOLDER: &str = "artifacts";

/// Minimum age of a file without a row that is deleted. The row of a younger one may not be committed yet.
const GARBAGE: Duration = Duration::from_hours(1);

/// Maximum length of a revision in bytes, which every database can store.
const REVISION: usize = 2048;

/// The archives of all bundles without an object storage. Cloning it is cheap.
#[derive(Clone)]
pub struct ArtifactStore {
    database: Database,
    /// The folder of the archives, or `None` if the database contains them.
    folder: Option<Arc<Path>>,
    keep: usize,
    watch: Arc<PublicationWatch>,
}

/// Reasons why an archive was not published.
enum PublishError {
    Failure(Failure),
    Database(DbError),
}

impl From<DbError> for PublishError {
    fn from(error: DbError) -> Self {
        Self::Database(error)
    }
}

impl From<PublishError> for Failure {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Failure(failure) => failure,
            PublishError::Database(error) => {
                // messages of databases may contain addresses and values, which status records must not
                tracing::error!(%error, "an archive was not stored in the database");
                push_failed(match error {
                    DbError::Unavailable(_) | DbError::NotReady(_) => {
                        "the database cannot be reached"
                    }
                    DbError::Busy(_) => "the database is busy with other writes",
                    DbError::TooLarge(_) => "the archive is larger than the database accepts",
                    _ => "the database failed; the log of the service contains the reason",
                })
            }
        }
    }
}

impl ArtifactStore {
    /// Creates the store of a database. `keep` revisions of each bundle are kept in addition to the active one. With a
    /// `data_dir`, archives are stored as files in it, so that the database file stays small.
    pub fn new(database: Database, data_dir: Option<PathBuf>, keep: usize) -> Self {
        let folder = data_dir.map(|folder| folder.join(FOLDER));
        Self {
            watch: PublicationWatch::new(database.clone()),
            database,
            folder: folder.map(Arc::from),
            keep,
        }
    }

    /// Returns the notifications of changes.
    pub fn watch(&self) -> &Arc<PublicationWatch> {
        &self.watch
    }

    /// Makes an archive the active revision of a bundle, in one transaction. The newest archive again changes nothing, so
    /// that a rollback stays in force until the inputs of the bundle change.
    ///
    /// # Errors
    /// A publisher with a larger fencing token was faster, the bundle does not exist, or the archive cannot be stored.
    pub async fn publish(
        &self,
        bundle: &str,
        artefact: &Artefact<'_>,
        fence: u64,
    ) -> Result<Published, Failure> {
        Ok(self.try_publish(bundle, artefact, fence).await?)
    }

    async fn try_publish(
        &self,
        bundle: &str,
        artefact: &Artefact<'_>,
        fence: u64,
    ) -> Result<Published, PublishError> {
        check(artefact).map_err(PublishError::Failure)?;
        let fence = i64::try_from(fence)
            .map_err(|_| PublishError::Failure(push_failed("the fencing token is too large")))?;
        if self.is_published(bundle, artefact, fence).await? {
            return Ok(Published::Unchanged);
        }
        let file = match &self.folder {
            Some(folder) => Some(store_file(folder, artefact.archive).await?),
            None => None,
        };
        let mut transaction = self.database.begin(Mode::Write).await?;
        let result = self
            .insert(&mut transaction, bundle, artefact, fence, file.as_deref())
            .await;
        let (published, pruned) = match result {
            Ok(inserted) => inserted,
            Err(error) => {
                transaction.roll_back().await;
                self.remove_files(file.into_iter().collect()).await;
                return Err(error);
            }
        };
        // the outcome of a failed commit is unknown, so its file stays
        transaction.commit().await?;
        self.remove_files(pruned).await;
        if published == Published::Unchanged {
            self.remove_files(file.into_iter().collect()).await;
        }
        self.watch.poke();
        Ok(published)
    }

    /// Returns `true` if the newest archive of a bundle is this one and no larger token has published.
    async fn is_published(
        &self,
        bundle: &str,
        artefact: &Artefact<'_>,
        fence: i64,
    ) -> Result<bool, PublishError> {
        let mut transaction = self.database.begin(Mode::Read).await?;
        let published_state = async {
            let bundle = bundle_id(&mut transaction, bundle).await?;
            let publication = transaction.publication(bundle).await?;
            let newest = transaction.newest_artifact(bundle).await?;
            Ok::<_, PublishError>(publication.zip(newest))
        };
        let published_state = published_state.await;
        transaction.roll_back().await;
        Ok(published_state?.is_some_and(|(publication, newest)| {
            publication.fence == fence && is_same(&newest, artefact)
        }))
    }

    /// Adds an archive in a write transaction. Returns the files that the transaction makes obsolete.
    async fn insert(
        &self,
        transaction: &mut Transaction,
        bundle: &str,
        artefact: &Artefact<'_>,
        fence: i64,
        file: Option<&str>,
    ) -> Result<(Published, Vec<String>), PublishError> {
        let bundle = bundle_id(transaction, bundle).await?;
        let publication = transaction.publication(bundle).await?;
        if let Some(Publication {
            fence: stored_fence,
            ..
        }) = publication
            && fence < stored_fence
        {
            let failure = overtaken(fence.unsigned_abs(), stored_fence.unsigned_abs());
            return Err(PublishError::Failure(failure));
        }
        let newest = transaction.newest_artifact(bundle).await?;
        if publication.is_some() && newest.is_some_and(|newest| is_same(&newest, artefact)) {
            transaction.raise_fence(bundle, fence).await?;
            return Ok((Published::Unchanged, Vec::new()));
        }
        let new = NewArtifact {
            revision: artefact.revision,
            digest: artefact.digest,
            size: artefact.archive.len() as u64,
            fence,
            file,
        };
        let artifact = transaction.add_artifact(bundle, new).await?;
        if file.is_none() {
            let pieces = artefact.archive.chunks(limits::ARTIFACT_PIECE);
            for (number, piece) in (0..).zip(pieces) {
                transaction.add_piece(artifact, number, piece).await?;
            }
        }
        let publication = Publication { artifact, fence };
        transaction.set_publication(bundle, publication).await?;
        let keep = i64::try_from(self.keep.max(1)).unwrap_or(i64::MAX);
        let pruned = transaction.prune_artifacts(bundle, keep).await?;
        Ok((Published::Stored, pruned))
    }

    /// Opens the bytes `from` to `to` of an archive.
    ///
    /// # Errors
    /// The file of the archive cannot be opened.
    pub async fn open(
        &self,
        artifact: &ArtifactHead,
        from: u64,
        to: u64,
    ) -> Result<ArchiveReader, ApiError> {
        let Some(name) = &artifact.file else {
            let (database, id) = (self.database.clone(), artifact.id);
            return Ok(ArchiveReader::of_pieces(database, id, from, to));
        };
        let missing = |reason: &str| ApiError::internal(format!("archive {name}: {reason}"));
        let Some(folder) = &self.folder else {
            return Err(missing("this process has no folder of archives"));
        };
        let path = folder.join(name);
        let result = tokio::task::spawn_blocking(move || std::fs::File::open(path)).await;
        let result = result.map_err(|error| missing(&error.to_string()))?;
        let file = result.map_err(|error| missing(&error.to_string()))?;
        Ok(ArchiveReader::of_file(file, from, to))
    }

    /// Deletes files that no row names, which a process left that ended between the file and the row.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn remove_garbage(&self) -> Result<(), DbError> {
        let Some(folder) = self.folder.clone() else {
            return Ok(());
        };
        let old_names = tokio::task::spawn_blocking(move || old_files(&folder)).await;
        let old_names = old_names.unwrap_or_default();
        let mut garbage = Vec::new();
        let mut transaction = self.database.begin(Mode::Read).await?;
        for name in old_names {
            match transaction.is_artifact_file(&name).await {
                Ok(true) => {}
                Ok(false) => garbage.push(name),
                Err(error) => {
                    transaction.roll_back().await;
                    return Err(error);
                }
            }
        }
        transaction.roll_back().await;
        self.remove_files(garbage).await;
        Ok(())
    }

    async fn remove_files(&self, names: Vec<String>) {
        let Some(folder) = self.folder.clone().filter(|_| !names.is_empty()) else {
            return;
        };
        let removing = tokio::task::spawn_blocking(move || {
            for name in names {
                if let Err(error) = std::fs::remove_file(folder.join(&name)) {
                    tracing::warn!(name, %error, "an obsolete archive was not deleted");
                }
            }
        });
        let _ = removing.await;
    }
}

/// Rejects an archive that a database would reject with a message of its own.
fn check(artefact: &Artefact<'_>) -> Result<(), Failure> {
    if artefact.archive.len() > limits::ARTIFACT {
        let max_bytes = limits::ARTIFACT;
        return Err(push_failed(format!(
            "the archive is larger than {max_bytes} bytes"
        )));
    }
    if artefact.revision.len() > REVISION || artefact.revision.contains('\0') {
        return Err(push_failed(format!(
            "the revision has a NUL character or is longer than {REVISION} bytes"
        )));
    }
    Ok(())
}

fn is_same(newest: &ArtifactHead, artefact: &Artefact<'_>) -> bool {
    newest.digest == artefact.digest && newest.revision == artefact.revision
}

async fn bundle_id(transaction: &mut Transaction, name: &str) -> Result<i64, PublishError> {
    let head = transaction.head(Kind::Bundle, name).await?;
    let absent = || PublishError::Failure(push_failed("the bundle does not exist any more"));
    head.map(|head| head.id).ok_or_else(absent)
}

/// Writes an archive to a new file and returns its name.
async fn store_file(folder: &Arc<Path>, archive: &[u8]) -> Result<String, PublishError> {
    let failed = |error: &dyn std::fmt::Display| {
        // the message contains no path of the machine
        PublishError::Failure(push_failed(format!("cannot write the archive: {error}")))
    };
    let name = format!("{}.tar.gz", random_name().map_err(|error| failed(&error))?);
    let (folder, path, archive) = (folder.clone(), folder.join(&name), archive.to_vec());
    let writing = move || {
        make_folder(&folder)?;
        replace_file(&path, &archive, Permissions::Private)
    };
    let result = tokio::task::spawn_blocking(writing).await;
    let result = result.map_err(|error| failed(&error))?;
    result.map_err(|error| failed(&error))?;
    Ok(name)
}

/// Creates the folder of archives, which only the operator reads.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns the names of the files in a folder that are old enough to be garbage.
fn old_files(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let is_old = |modified: SystemTime| {
        let age = SystemTime::now().duration_since(modified);
        age.is_ok_and(|age| age >= GARBAGE)
    };
    let old = entries.flatten().filter(|entry| {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        modified.is_ok_and(is_old)
    });
    old.filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}
