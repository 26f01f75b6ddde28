//! Provenance of decisions: versions and bundle revisions.

use std::collections::BTreeMap;

use serde::Serialize;
use solon::Snapshot;

use super::state::State;

/// Version and build of the instance, and the bundles that a decision used.
#[derive(Serialize)]
pub struct Provenance {
    version: &'static str,
    build_commit: &'static str,
    build_timestamp: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    build_host: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    build_hostname: Option<&'static str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    bundles: BTreeMap<String, Revision>,
}

/// A bundle in responses.
#[derive(Serialize)]
struct Revision {
    revision: String,
}

/// Version of this build, that of the crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Git commit of this build; empty if it is unknown.
pub const BUILD_COMMIT: &str = env!("SOLON_BUILD_COMMIT");

/// Time of this build, from the build script.
pub const BUILD_TIMESTAMP: &str = env!("SOLON_BUILD_TIMESTAMP");

/// Host name of the build machine; empty for a reproducible build.
pub const BUILD_HOST: &str = env!("SOLON_BUILD_HOST");

/// Returns the provenance of this instance, with the bundles of the snapshot that a decision used.
pub fn provenance(state: &State, snapshot: &Snapshot) -> Provenance {
    let host = Some(BUILD_HOST);
    let is_opa = state.options.spelling.is_opa();
    let active = snapshot.bundles().into_iter();
    let bundles = active.map(|bundle| {
        let revision = bundle.revision;
        (bundle.name, Revision { revision })
    });
    Provenance {
        version: VERSION,
        build_commit: BUILD_COMMIT,
        build_timestamp: BUILD_TIMESTAMP,
        build_host: host.filter(|_| !is_opa),
        build_hostname: host.filter(|_| is_opa),
        bundles: bundles.collect(),
    }
}
