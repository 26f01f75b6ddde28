//! The storage of one bundle, opened with its secrets.

use std::collections::BTreeMap;
use std::path::PathBuf;

use solon_outbound::NetworkRules;
use solon_outbound::objects::ObjectLocation;

use super::file::FileTarget;
use super::object::ObjectTarget;
use super::{Artefact, ArtifactStore, Published, push_failed};
use crate::model::{Bundle, Failure, Phase, Secret, Status, Storage};

/// Settings that the storages of all bundles share.
#[derive(Clone)]
pub struct StorageOptions {
    /// The archives in the database.
    pub artifacts: ArtifactStore,
    /// The folder that relative paths of files begin in.
    pub folder: PathBuf,
    /// The folder of the database and the keys, in which no archive is written.
    pub private: PathBuf,
    /// Rules for the networks that connections to object stores may lead to.
    pub networks: NetworkRules,
}

/// The opened storage of a bundle.
pub struct StorageTarget(TargetKind);

enum TargetKind {
    Database {
        artifacts: ArtifactStore,
        bundle: String,
    },
    File(FileTarget),
    Object(ObjectTarget),
}

impl StorageTarget {
    /// Opens the storage of a bundle, which is the database unless `object_storage` is set.
    ///
    /// # Errors
    /// A configuration error.
    pub fn open(
        bundle: &Bundle,
        secrets: &BTreeMap<String, Secret>,
        options: &StorageOptions,
    ) -> Result<Self, Failure> {
        let kind = match &bundle.object_storage {
            None => TargetKind::Database {
                artifacts: options.artifacts.clone(),
                bundle: bundle.name.clone(),
            },
            Some(Storage::Filesystem { path }) => TargetKind::File(FileTarget::open(
                options.folder.join(path),
                &options.private,
            )?),
            Some(storage) => TargetKind::Object(open_object(storage, secrets, options)?),
        };
        Ok(Self(kind))
    }

    /// Returns `true` if only one instance may publish, because a late write of another one is not rejected: for files, which may be
    /// on a file system of one machine or of several, and for object stores that were found to have no conditional writes.
    pub fn has_one_publisher(&self) -> bool {
        match &self.0 {
            TargetKind::Database { .. } => false,
            TargetKind::File(_) => true,
            TargetKind::Object(object) => object.is_unconditional(),
        }
    }

    /// Publishes an archive.
    ///
    /// # Errors
    /// A publisher with a larger fencing token was faster, or the archive cannot be stored.
    pub async fn publish(&self, artefact: &Artefact<'_>, fence: u64) -> Result<Published, Failure> {
        match &self.0 {
            TargetKind::Database { artifacts, bundle } => {
                artifacts.publish(bundle, artefact, fence).await
            }
            TargetKind::Object(object) => object.publish(artefact, fence).await,
            TargetKind::File(file) => {
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

fn open_object(
    storage: &Storage,
    secrets: &BTreeMap<String, Secret>,
    options: &StorageOptions,
) -> Result<ObjectTarget, Failure> {
    let (location, name) = match storage.clone() {
        Storage::Aws {
            bucket,
            key,
            region,
            credentials,
            url,
        } => {
            let location = ObjectLocation::S3 {
                bucket,
                key,
                region,
                endpoint: url,
            };
            (location, credentials)
        }
        Storage::Gcp {
            bucket,
            object,
            credentials,
            ..
        } => (ObjectLocation::Gcs { bucket, object }, credentials),
        Storage::Azure {
            account_url,
            container,
            path,
            credentials,
        } => {
            let location = ObjectLocation::Azure {
                account_url,
                container,
                path,
            };
            (location, credentials)
        }
        Storage::Filesystem { .. } => return Err(config_error("not an object store")),
    };
    let address = storage.reference().and_then(|reference| reference.address);
    let secret = match secrets.get(&name) {
        None if name.is_empty() => None,
        None => return Err(config_error(&format!("secret {name:?} is not configured"))),
        Some(secret) => {
            let value = secret.value_for(address.as_ref());
            Some(value.map_err(|text| config_error(&text))?)
        }
    };
    ObjectTarget::open(&location, secret, &options.networks).map_err(|text| config_error(&text))
}

fn config_error(text: &str) -> Failure {
    Failure {
        phase: Phase::Push,
        status: Status::ConfigError,
        message: format!("object storage: {text}"),
    }
}
