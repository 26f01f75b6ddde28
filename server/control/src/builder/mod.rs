//! Builds bundles from fetched sources.
//!
//! A [`Plan`] lists the sources that a bundle requires, with their mounts. [`build`] assembles their trees below one folder
//! for each tree, moves packages and data as the mounts say, checks that no two sources own the same documents, and writes
//! the archive with the engine's bundle writer. The same input gives the same archive.

mod assembly;
mod documents;
mod modules;
mod names;
mod output;
mod plan;
mod reference;
mod revision;
mod roots;

use std::collections::BTreeMap;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use zeroize::Zeroizing;

pub use self::plan::Plan;
use crate::list_digest::ListDigest;
use crate::model::{Bundle, Compat, Failure};
use crate::tree::Fetched;

/// Inputs of a build. The archive depends on nothing else.
pub struct Input<'a> {
    /// The bundle.
    pub bundle: &'a Bundle,
    /// The plan, made from `bundle`.
    pub plan: &'a Plan,
    /// Fetched sources by name. They contain every source of the plan.
    pub sources: &'a BTreeMap<String, Arc<Fetched>>,
    /// Chooses the version of Rego of sources that declare none.
    pub compat: Compat,
    /// The environment variables that the revision expression can read.
    pub environment: BTreeMap<String, String>,
    /// The key that signs the bundle.
    pub signing: Option<Signing>,
}

/// A key that signs bundles. It has no text for logs.
pub struct Signing {
    /// A secret, or a private key in PEM.
    pub key: Zeroizing<Vec<u8>>,
    /// Algorithm of the signature, such as `RS256`.
    pub algorithm: String,
    /// The name of the key for verifiers. Empty if it has none.
    pub keyid: String,
    /// The scope that verifiers expect. Empty if there is none.
    pub scope: String,
}

/// A built bundle. Its archive is complete, and signed if requested.
#[derive(Clone, Debug)]
pub struct Built {
    /// The gzip-compressed tar archive.
    pub archive: Vec<u8>,
    /// The revision of the manifest. Empty if the bundle has none.
    pub revision: String,
    /// The SHA-256 digest of the archive in hexadecimal.
    pub digest: String,
    /// Notes for an operator: settings of sources that take precedence.
    pub notes: Vec<String>,
}

/// Builds a bundle. It reads files and compiles policies, and must not run on a thread of the reactor.
///
/// # Errors
/// A failure of phase `BUILD` with the message for the status record.
pub fn build(input: &Input<'_>) -> Result<Built, Failure> {
    let assembly = assembly::assemble(input)?;
    let revision = revision::evaluate(input, &assembly)?;
    output::write(input, &assembly, revision)
}

/// Returns a digest over everything that the archive depends on. A build with an equal digest gives an equal archive, except
/// for signatures with a random part and revisions that read the clock or random numbers. Files are not read.
pub fn input_digest(input: &Input<'_>) -> String {
    let mut list = ListDigest::new();
    // another version may write another archive
    list.add(env!("CARGO_PKG_VERSION").as_bytes());
    list.add(format!("{:?} {:?}", input.compat, input.bundle).as_bytes());
    list.add(format!("{:?} {:?}", input.plan, input.environment).as_bytes());
    for (name, fetched) in input.sources {
        list.add(name.as_bytes());
        list.add(fetched.digest().as_bytes());
    }
    if let Some(signing) = &input.signing {
        for part in [&signing.algorithm, &signing.keyid, &signing.scope] {
            list.add(part.as_bytes());
        }
        list.add(digest(&SHA256, &signing.key).as_ref());
    }
    list.finish()
}
