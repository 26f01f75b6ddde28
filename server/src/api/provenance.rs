//! Where answers come from.

use serde::Serialize;

use crate::config::Spelling;

/// Version and build of the instance.
#[derive(Serialize)]
pub struct Provenance {
    version: &'static str,
    build_commit: &'static str,
    build_timestamp: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    build_host: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    build_hostname: Option<&'static str>,
}

/// Version of this build.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is known of this build.
pub fn provenance(spelling: Spelling) -> Provenance {
    let host = Some("");
    Provenance {
        version: VERSION,
        build_commit: "",
        build_timestamp: "",
        build_host: host.filter(|_| !spelling.is_opa()),
        build_hostname: host.filter(|_| spelling.is_opa()),
    }
}
