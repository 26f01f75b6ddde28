//! Publishing of built bundles.

mod artifacts;
mod downloads;
#[allow(dead_code, reason = "the tests of the policy server use the rest")]
mod emulators;
mod files;
mod forms;
mod objects;

use aws_lc_rs::digest::{SHA256, digest};
use solon_control::storage::{Artefact, Published};

use crate::plane::Plane;

/// An archive of a test with its revision.
#[derive(Clone)]
pub struct Built {
    pub archive: Vec<u8>,
    pub revision: String,
    pub digest: String,
}

impl Built {
    pub fn new(revision: &str, archive: impl Into<Vec<u8>>) -> Self {
        let archive = archive.into();
        let digest = hex::encode(digest(&SHA256, &archive));
        Self {
            archive,
            revision: revision.to_owned(),
            digest,
        }
    }

    /// Returns an archive of `size` bytes that differs from byte to byte and for each `seed`.
    pub fn of_size(revision: &str, size: usize, seed: u8) -> Self {
        let byte = |at: usize| (at % 251) as u8 ^ seed;
        Self::new(revision, (0..size).map(byte).collect::<Vec<u8>>())
    }

    pub fn artefact(&self) -> Artefact<'_> {
        Artefact {
            archive: &self.archive,
            revision: &self.revision,
            digest: &self.digest,
        }
    }
}

/// Publishes an archive. Returns `stored`, `unchanged`, or the message of the failure.
pub async fn publish(plane: &Plane, bundle: &str, built: &Built, fence: u64) -> String {
    let artifacts = plane.plane.artifacts();
    match artifacts.publish(bundle, &built.artefact(), fence).await {
        Ok(Published::Stored) => "stored".to_owned(),
        Ok(Published::Unchanged) => "unchanged".to_owned(),
        Err(failure) => {
            let (phase, status) = (failure.phase.as_str(), failure.status.as_str());
            assert_eq!((phase, status), ("PUSH", "PUSH_FAILED"));
            failure.message
        }
    }
}
