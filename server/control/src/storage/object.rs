//! Archives in object stores. Each write is conditional on the version that it replaces, so of several publishers the one with the
//! largest fencing token prevails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use solon_outbound::NetworkRules;
use solon_outbound::objects::{
    Object, ObjectHead, ObjectLocation, ObjectOptions, Precondition, Written,
};
use solon_outbound::proxy::Proxies;

use super::{Artefact, Published, overtaken, push_failed};
use crate::limits;
use crate::model::{Failure, SecretValue};
use crate::object_credentials::{Purpose, object_credentials};

/// Metadata: the SHA-256 digest of the archive.
const DIGEST: &str = "sha256";
/// Metadata: the revision, if it is not empty.
const REVISION: &str = "revision";
/// Metadata: the fencing token.
const FENCE: &str = "fence";

/// Number of attempts if other publishers change the object in between.
const ATTEMPTS: usize = 5;

/// An object that contains the archive of one bundle.
#[derive(Clone)]
pub struct ObjectTarget {
    object: Object,
    secret: Option<SecretValue>,
    /// `true` if the store has rejected a condition.
    is_unconditional: Arc<AtomicBool>,
}

impl ObjectTarget {
    /// Opens an object without a connection.
    ///
    /// # Errors
    /// The location or the secret is not valid.
    pub fn open(
        location: &ObjectLocation,
        secret: Option<&SecretValue>,
        networks: &NetworkRules,
    ) -> Result<Self, String> {
        let credentials = object_credentials(location, secret, Purpose::Write)?;
        let options = ObjectOptions {
            networks: Arc::new(networks.clone()),
            proxies: Proxies::system(),
            timeout: Duration::from_secs(limits::PUSH_SECONDS),
        };
        Ok(Self {
            object: Object::open(location, &credentials, &options)?,
            secret: secret.cloned(),
            is_unconditional: Arc::default(),
        })
    }

    /// Returns `true` if the store was found to have no conditional writes.
    pub fn is_unconditional(&self) -> bool {
        self.is_unconditional.load(Ordering::Relaxed)
    }

    /// Writes the object unless it already contains the archive with its revision and the token.
    ///
    /// # Errors
    /// A publisher with a larger fencing token was faster, or the store does not accept the object.
    pub async fn publish(&self, artefact: &Artefact<'_>, fence: u64) -> Result<Published, Failure> {
        let archive = Bytes::copy_from_slice(artefact.archive);
        let revision = header_text(artefact.revision);
        let token = fence.to_string();
        let mut metadata = vec![(DIGEST, artefact.digest), (FENCE, token.as_str())];
        if !revision.is_empty() {
            metadata.push((REVISION, revision.as_str()));
        }
        for _ in 0..ATTEMPTS {
            let head = self.object.head().await;
            let head = head.map_err(|error| self.failed(&error))?;
            let mut published = Published::Stored;
            if let Some(head) = &head {
                let stored_fence = fence_of(head);
                if stored_fence > fence {
                    return Err(overtaken(fence, stored_fence));
                }
                let is_same = head.metadata(DIGEST) == Some(artefact.digest)
                    && head.metadata(REVISION).unwrap_or_default() == revision;
                if is_same {
                    published = Published::Unchanged;
                    if stored_fence == fence {
                        return Ok(published);
                    }
                    // a store changes metadata only with the object, and a late publisher must see the larger token
                }
            }
            let condition = match &head {
                _ if self.is_unconditional() => Precondition::None,
                None => Precondition::Absent,
                Some(head) => Precondition::Version(&head.version),
            };
            let writing = self.object.write(archive.clone(), &metadata, condition);
            match writing.await.map_err(|error| self.failed(&error))? {
                Written::Stored => return Ok(published),
                Written::Conflict => {}
                Written::Unsupported => {
                    tracing::warn!(
                        "one publisher only: the object store has no conditional writes, so this instance keeps the lease of the bundle"
                    );
                    self.is_unconditional.store(true, Ordering::Relaxed);
                }
            }
        }
        Err(push_failed(
            "other publishers have changed the object during each attempt",
        ))
    }

    fn failed(&self, error: &solon_outbound::Error) -> Failure {
        let message = error.to_string();
        push_failed(match &self.secret {
            Some(secret) => secret.redact(message),
            None => message,
        })
    }
}

/// Returns the fencing token in the metadata of an object. Objects that another program wrote have none.
fn fence_of(head: &ObjectHead) -> u64 {
    let text = head.metadata(FENCE).unwrap_or_default();
    text.parse().unwrap_or(0)
}

/// Returns a text as metadata can contain it: printable ASCII, with other characters percent-encoded.
fn header_text(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && byte != b'%' {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::header_text;

    #[test]
    fn revisions_become_metadata() {
        for (text, expected) in [
            ("v1.2+a/b", "v1.2+a/b"),
            ("a b", "a%20b"),
            ("\u{e4}\n%", "%C3%A4%0A%25"),
            ("", ""),
        ] {
            assert_eq!(header_text(text), expected);
        }
    }
}
