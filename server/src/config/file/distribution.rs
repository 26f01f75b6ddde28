//! Sections of the plugins that download policies and configurations, and report the status.

use schemars::JsonSchema;
use solon::bundle::BundleLimits;

use super::document::Unsupported;

/// A bundle that is downloaded.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct BundleSection {
    /// Name of the service that the bundle is downloaded from; the first one unless set.
    #[schemars(example = &"registry")]
    pub service: Option<String>,
    /// Path of the bundle below the URL of the service, the image of a registry, an object (`s3://`, `gs://` or `azblob://`), or a
    /// `file://` URL; `bundles/NAME` unless set.
    #[schemars(example = &"bundles/authz.tar.gz")]
    pub resource: Option<String>,
    pub polling: PollingSection,
    /// Keeps the last activated bundle in `persistence_directory`, and activates it at the start before the service responds.
    #[schemars(example = true)]
    pub persist: bool,
    pub signing: Option<SigningSection>,
    /// Maximum size in bytes of one file of the bundle.
    #[schemars(extend("default" = BundleLimits::default().file_bytes), example = 10_485_760)]
    pub size_limit_bytes: Option<i64>,
    /// Only `periodic` is supported: nothing can trigger a plugin over HTTP.
    #[schemars(extend("default" = "periodic"), example = &"periodic")]
    pub trigger: Option<String>,
}

/// How often a bundle is downloaded.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
#[expect(
    clippy::struct_field_names,
    reason = "the names are those of the configuration"
)]
pub struct PollingSection {
    /// Minimum number of seconds between two downloads. The delay is random within both bounds.
    #[schemars(extend("default" = 60), example = 10)]
    pub min_delay_seconds: Option<i64>,
    /// Maximum number of seconds between two downloads.
    #[schemars(extend("default" = 120), example = 20)]
    pub max_delay_seconds: Option<i64>,
    /// Seconds that a service with long polling may hold a request until there is another bundle.
    #[schemars(example = 30)]
    pub long_polling_timeout_seconds: Option<i64>,
    /// Seconds that `If-None-Match` also names the entity tags of replaced bundles, so that outdated replicas of a service send none of
    /// them.
    #[schemars(extend("default" = 0), example = 60)]
    pub superseded_etag_ttl_seconds: Option<i64>,
}

/// Requires signatures. Without it signatures are verified where there are some, and unsigned bundles are accepted.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct SigningSection {
    /// Name of the only key that may sign; unless set, the signature names one of the keys.
    #[schemars(example = &"release")]
    pub keyid: Option<String>,
    /// Scope that the signature must have.
    #[schemars(example = &"read")]
    pub scope: Option<String>,
    /// Patterns of files that are not signed.
    #[schemars(example = ["*/data.json"])]
    pub exclude_files: Vec<String>,
    /// Accepts delta bundles, which cannot be signed.
    pub allow_unsigned_delta_bundles: bool,
    /// Maximum age of a signature by its time of issue (`iat`), when the bundle is downloaded or restored. Unless set, the age is not
    /// checked.
    #[schemars(example = &"24h")]
    pub max_age: Option<String>,
}

/// A single bundle: an earlier form of `bundles`.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct SingleBundleSection {
    /// Name of the bundle.
    #[schemars(example = &"authz")]
    pub name: Option<String>,
    /// Path before the name of the bundle.
    #[schemars(extend("default" = "bundles"), example = &"policies")]
    pub prefix: Option<String>,
    /// Name of the service that the bundle is downloaded from; the first one unless set.
    #[schemars(example = &"registry")]
    pub service: Option<String>,
    /// Path of the bundle below the URL of the service; `PREFIX/NAME` unless set.
    #[schemars(example = &"bundles/authz.tar.gz")]
    pub resource: Option<String>,
    pub polling: PollingSection,
    /// Keeps the last activated bundle in `persistence_directory`, and activates it at the start before the service responds.
    #[schemars(example = true)]
    pub persist: bool,
    pub signing: Option<SigningSection>,
    /// Only `periodic` is supported: nothing can trigger a plugin over HTTP.
    #[schemars(extend("default" = "periodic"), example = &"periodic")]
    pub trigger: Option<String>,
}

/// The bundle that contains the rest of the configuration.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct DiscoverySection {
    /// Name of the service; needed if there are several.
    #[schemars(example = &"registry")]
    pub service: Option<String>,
    /// Path of the bundle below the URL of the service.
    #[schemars(example = &"discovery.tar.gz")]
    pub resource: Option<String>,
    /// Path of the document in the bundle that is the configuration; all documents unless set.
    #[schemars(example = &"discovery/config")]
    pub decision: Option<String>,
    /// An earlier form of `resource`: the last segment of the path.
    #[schemars(example = &"discovery")]
    pub name: Option<String>,
    /// An earlier form of `resource`: the path before `name`.
    #[schemars(extend("default" = "bundles"), example = &"config")]
    pub prefix: Option<String>,
    pub polling: PollingSection,
    pub signing: Option<SigningSection>,
    /// Keeps the last applied bundle in `persistence_directory`, and applies it at the start before the service responds.
    #[schemars(example = true)]
    pub persist: bool,
    /// Only `periodic` is supported: nothing can trigger a plugin over HTTP.
    #[schemars(extend("default" = "periodic"), example = &"periodic")]
    pub trigger: Option<String>,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct StatusSection {
    /// Logs the status whenever it changes.
    #[schemars(example = true)]
    pub console: bool,
    /// Adds the states of plugins and bundles and the version to `/metrics`.
    #[schemars(example = true)]
    pub prometheus: bool,
    /// Name of the service that the status is sent to.
    #[schemars(example = &"registry")]
    pub service: Option<String>,
    /// Last segment of the path that the status is sent to: `/status/NAME`.
    #[schemars(example = &"eu")]
    pub partition_name: Option<String>,
    pub plugin: Unsupported,
    pub prometheus_config: PrometheusStatusSection,
    /// Only `periodic` is supported: nothing can trigger a plugin over HTTP.
    #[schemars(extend("default" = "periodic"), example = &"periodic")]
    pub trigger: Option<String>,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct PrometheusStatusSection {
    pub collectors: CollectorsSection,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct CollectorsSection {
    pub bundle_loading_duration_ns: StageDurationsSection,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct StageDurationsSection {
    /// Upper bounds in nanoseconds, in ascending order, of the buckets of `bundle_loading_duration_ns`; 1000, doubled 19 times, unless
    /// set.
    #[schemars(example = [1e6, 1e7, 1e8, 1e9])]
    pub buckets: Option<Vec<f64>>,
}
