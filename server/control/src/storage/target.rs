//! The storage of one bundle, opened with its secrets.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::file::FileTarget;
use super::{Artefact, ArtifactStore, Published, push_failed};
use crate::model::{Bundle, Failure, Phase, Secret, Status, Storage};

/// Options of storages.
#[derive(Clone)]
pub struct StorageOptions {
    /// The archives in the database.
    pub artifacts: ArtifactStore,
    /// The folder that relative paths of files begin in.
    pub folder: PathBuf,
    /// The folder of the database and the keys, in which no archive is written.
    pub private: PathBuf,
}

/// The opened storage of a bundle.
pub struct Target(Kind);

enum Kind {
    Database {
        artifacts: ArtifactStore,
        bundle: String,
    },
    File(FileTarget),
}

impl Target {
    /// Opens the storage of a bundle: without `object_storage`, the database.
    ///
    /// # Errors
    /// A configuration error.
    pub fn open(
        bundle: &Bundle,
        _secrets: &BTreeMap<String, Secret>,
        options: &StorageOptions,
    ) -> Result<Self, Failure> {
        let kind = match &bundle.object_storage {
            None => Kind::Database {
                artifacts: options.artifacts.clone(),
                bundle: bundle.name.clone(),
            },
            Some(Storage::Filesystem { path }) => Kind::File(FileTarget::open(
                options.folder.join(path),
                &options.private,
            )?),
            Some(Storage::Aws { .. }) => return Err(unsupported("aws")),
            Some(Storage::Gcp { .. }) => return Err(unsupported("gcp")),
            Some(Storage::Azure { .. }) => return Err(unsupported("azure")),
        };
        Ok(Self(kind))
    }

    /// Returns `true` if the storage cannot compare fencing tokens of several instances, so that only one may publish.
    pub fn has_one_publisher(&self) -> bool {
        matches!(self.0, Kind::File(_))
    }

    /// Publishes an archive.
    ///
    /// # Errors
    /// A publisher with a larger fencing token was faster, or the archive cannot be stored.
    pub async fn publish(&self, artefact: &Artefact<'_>, fence: u64) -> Result<Published, Failure> {
        match &self.0 {
            Kind::Database { artifacts, bundle } => {
                artifacts.publish(bundle, artefact, fence).await
            }
            Kind::File(file) => {
                let (file, archive) = (file.clone(), artefact.archive.to_vec());
                let (revision, digest) = (artefact.revision.to_owned(), artefact.digest.to_owned());
                let publishing = tokio::task::spawn_blocking(move || {
                    let artefact = Artefact {
                        archive: &archive,
                        revision: &revision,
                        digest: &digest,
                    };
                    file.publish(&artefact, fence)
                });
                let published = publishing.await;
                published.map_err(|error| push_failed(error.to_string()))?
            }
        }
    }
}

fn unsupported(variant: &str) -> Failure {
    Failure {
        phase: Phase::Push,
        status: Status::ConfigError,
        message: format!("object storage: this version does not write to `{variant}`"),
    }
}
