//! Settings of the plugins that download policies and configurations, and report the status.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use solon::bundle::{Verification, VerificationKey};
use solon_outbound::config::Secret;
use solon_outbound::objects::ObjectAddress;
use solon_outbound::{KeyConfig, Services};

/// Settings of all plugins. The manager of the plugins replaces them as a whole.
#[derive(Clone, Debug, Default)]
pub struct PluginSettings {
    /// Clients of services. They are empty in a settings document that was only parsed.
    pub services: Services,
    pub bundles: BTreeMap<String, BundleSettings>,
    /// Source of the rest of the configuration.
    pub discovery: Option<DiscoverySettings>,
    /// Destinations of the status, if it is reported.
    pub status: Option<StatusSettings>,
    /// Directory of persisted bundles.
    pub persistence_directory: PathBuf,
}

impl PluginSettings {
    /// Returns the settings with the clients of `services`. Everything else is copied.
    pub fn with(&self, services: &Services) -> Self {
        Self {
            services: services.clone(),
            ..self.clone()
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct BundleSettings {
    pub location: BundleLocation,
    pub polling: Polling,
    /// `true` if the last activated snapshot is kept on disk.
    pub is_persisted: bool,
    /// Verification of signatures.
    pub signing: Signing,
    /// Maximum size in bytes of one file of the bundle.
    pub file_limit: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundleLocation {
    File(PathBuf),
    Service {
        service: String,
        /// Path relative to the service's URL, or the name of an image if the service is a registry.
        resource: String,
    },
    Object {
        /// Name of the service, whose URL is the address of the store.
        service: String,
        object: ObjectAddress,
    },
}

impl BundleLocation {
    /// Returns the name of the service, or `None` for a file.
    pub fn service(&self) -> Option<&str> {
        match self {
            Self::File(_) => None,
            Self::Service { service, .. } | Self::Object { service, .. } => Some(service),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polling {
    /// Minimum delay between two downloads.
    pub min: Duration,
    /// Maximum delay between two downloads. The delay is chosen at random within both bounds.
    pub max: Duration,
    /// Long polling time in seconds: the time that the service may hold a request until there is a new bundle.
    pub long: Option<u64>,
    /// Time for which requests include the entity tag of a replaced bundle.
    pub superseded: Duration,
}

impl Default for Polling {
    fn default() -> Self {
        Self {
            min: Duration::from_mins(1),
            max: Duration::from_mins(2),
            long: None,
            superseded: Duration::ZERO,
        }
    }
}

/// Verification of the signatures of a bundle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signing {
    pub keys: BTreeMap<String, KeyConfig>,
    /// Required signature. Without it, signatures are verified if the bundle has any.
    pub required: Option<RequiredSignature>,
}

/// Signature that a bundle must have. Otherwise it is not activated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredSignature {
    /// Id of the only permitted key, or empty.
    pub key_id: String,
    pub scope: String,
    /// Patterns of files that are not signed.
    pub exclude: Vec<String>,
    /// `true` if delta bundles, which cannot be signed, are accepted.
    pub allows_deltas: bool,
    pub max_age: Option<Duration>,
}

impl Signing {
    /// Returns the verification options for a bundle reader.
    pub fn verification(&self) -> Verification {
        let keys = self.keys.iter().map(|(id, key)| {
            let algorithm = key.algorithm.as_deref().filter(|name| !name.is_empty());
            let text = key.key.as_ref().map_or("", Secret::expose);
            let verifier = VerificationKey::new(algorithm.unwrap_or("RS256"), text.as_bytes());
            (
                id.clone(),
                verifier.scope(key.scope.as_deref().unwrap_or_default()),
            )
        });
        let verification = Verification::by_keys(keys);
        let Some(required) = &self.required else {
            return verification.optional();
        };
        let mut verification = verification
            .key_id(&required.key_id)
            .scope(&required.scope)
            .exclude(required.exclude.clone());
        if let Some(age) = required.max_age {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            // a clock before 1970 rejects every signature
            let now = now.map_or(f64::INFINITY, |now| now.as_secs_f64());
            verification = verification.issued_from(now - age.as_secs_f64());
        }
        if required.allows_deltas {
            verification.allow_unsigned_deltas()
        } else {
            verification
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct DiscoverySettings {
    pub bundle: BundleSettings,
    /// Path of the document that contains the configuration; empty for `data`.
    pub decision: String,
}

/// Destinations of the status: a service, the log, or both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatusSettings {
    pub service: Option<String>,
    /// Last segment of the path that the status is sent to.
    pub partition: String,
    /// `true` if each change of the status is logged.
    pub is_logged: bool,
    /// `true` if `/metrics` contains the status.
    pub is_counted: bool,
    /// Upper bounds in nanoseconds, in ascending order, of the buckets of `bundle_loading_duration_ns`. `None` is the default.
    pub stage_buckets: Option<Vec<f64>>,
}
