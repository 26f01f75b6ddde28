//! The configuration as types. Their comments, defaults and examples are the reference page (`docs/configuration.md`).
//!
//! Sections have defaults, so that an absent key is equal to an absent section. Numbers have the type that OPA parses them as.
//! Their ranges are checked in `settings` and `caching`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;
use solon_outbound::config::{KeyConfig, ServicesConfig};

use super::decision_logs::DecisionLogsSection;
use super::distribution::{BundleSection, DiscoverySection, SingleBundleSection, StatusSection};
use super::envoy::PluginsSection;
use super::otlp::{MetricsExportSection, TracingSection};
use crate::config::{Bounds, Packing, ServerOptions};

/// A configuration.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct ConfigDocument {
    /// Path of the document that `POST /` responds with (also `--default-decision`).
    #[schemars(extend("default" = ServerOptions::default().default_decision), example = &"/authz/main")]
    pub default_decision: Option<String>,
    /// Path of the document that decides what clients may do, with `--authorization=basic`.
    #[schemars(
        extend("default" = ServerOptions::default().default_authorization_decision),
        example = &"/http/authz/allow"
    )]
    pub default_authorization_decision: Option<String>,
    /// Labels of this server, in `GET /v1/config` and `GET /v1/status`. `id` is a random UUID unless it is set, and `version` is always
    /// the version of Solon.
    #[schemars(example = &"eu-west-1")]
    pub labels: BTreeMap<String, String>,
    /// Capabilities of policies (also `--capabilities`): a file in the format of `solon capabilities`, or a version of OPA.
    #[schemars(example = &"v1.22.3")]
    pub capabilities: Option<String>,
    pub caching: CachingSection,
    pub server: ServerSection,
    /// Services, as an object by name or as a list whose items have a `name`.
    pub services: ServicesConfig,
    /// Keys that sign or verify, by name.
    pub keys: BTreeMap<String, KeyConfig>,
    pub status: StatusSection,
    pub storage: StorageSection,
    pub decision_logs: Option<DecisionLogsSection>,
    pub bundle: SingleBundleSection,
    /// Bundles that are downloaded, by name.
    pub bundles: BTreeMap<String, BundleSection>,
    pub discovery: DiscoverySection,
    pub distributed_tracing: TracingSection,
    pub metrics_export: MetricsExportSection,
    /// Records the results of nondeterministic built-in functions in decision logs.
    #[schemars(example = true)]
    pub nd_builtin_cache: bool,
    /// Directory that persisted bundles are kept in.
    #[schemars(extend("default" = ".opa"), example = &"/var/lib/solon")]
    pub persistence_directory: Option<String>,
    pub plugins: PluginsSection,
}

/// A key of OPA that has no effect yet. It is rejected if it is set, because ignoring it would suggest that it is in effect.
#[derive(Debug, Default)]
pub struct Unsupported;

impl<'de> Deserialize<'de> for Unsupported {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let is_set = match Value::deserialize(from)? {
            Value::Null | Value::Bool(false) => false,
            Value::String(text) => !text.is_empty(),
            Value::Object(fields) => !fields.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => true,
        };
        if is_set {
            Err(D::Error::custom("not supported yet"))
        } else {
            Ok(Self)
        }
    }
}

impl JsonSchema for Unsupported {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Unsupported".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ (UNSUPPORTED): true })
    }
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct CachingSection {
    pub inter_query_builtin_cache: ResponseCacheSection,
    pub inter_query_builtin_value_cache: ValueCacheSection,
}

/// Responses of `http.send`.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct ResponseCacheSection {
    /// Maximum size in bytes of the responses of `http.send` that are cached; 0 sets no limit.
    #[schemars(extend("default" = 64 << 20), example = 10_000_000)]
    pub max_size_bytes: Option<i64>,
    /// Share of `max_size_bytes`, in percent from 0 to 100, from which on the oldest responses are removed.
    #[schemars(extend("default" = 100), example = 70)]
    pub forced_eviction_threshold_percentage: Option<i64>,
    /// Only 0 is supported: responses are removed when others need their room.
    #[schemars(extend("default" = 0), example = 0)]
    pub stale_entry_eviction_period_seconds: Option<i64>,
}

/// Cache of compiled patterns, schemas and templates, and of verified signatures.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct ValueCacheSection {
    /// Maximum number of patterns, schemas and templates that are cached compiled; 0 sets no limit.
    #[schemars(extend("default" = 4096), example = 1000)]
    pub max_num_entries: Option<i64>,
    /// Caches by name. Only `io_jwt` is supported, the signatures of tokens that are remembered once they were verified.
    pub named: BTreeMap<String, NamedCacheSection>,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct NamedCacheSection {
    /// Maximum number of entries; 0 sets no limit.
    #[schemars(extend("default" = 4096), example = 1000)]
    pub max_num_entries: Option<i64>,
    pub disabled: Unsupported,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct ServerSection {
    /// Serves a page at `/ui` where people look at policies and documents and evaluate decisions (also `--ui`).
    #[schemars(example = true)]
    pub ui: bool,
    pub encoding: EncodingSection,
    pub decoding: DecodingSection,
    pub metrics: MetricsSection,
    pub admission: AdmissionSection,
    pub logger_plugin: Unsupported,
}

/// Admission of objects to a Kubernetes cluster, at `/v0/admission`.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct AdmissionSection {
    /// Response to a review without a decision: `deny` denies it, `error` leaves it to `failurePolicy` of the API server.
    #[schemars(extend("default" = "deny"), example = &"error")]
    pub failure_response: Option<String>,
    pub gatekeeper: GatekeeperSection,
}

/// Constraints of Gatekeeper, by which `POST /v0/gatekeeper` decides.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct GatekeeperSection {
    /// Files and folders with constraint templates and constraints, as YAML or JSON.
    #[schemars(example = ["/etc/solon/constraints"])]
    pub paths: Vec<String>,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct EncodingSection {
    pub gzip: GzipEncodingSection,
}

/// Compression of responses for clients that accept gzip.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct GzipEncodingSection {
    /// Responses of at most this many bytes are not compressed.
    #[schemars(extend("default" = Packing::default().longer_than), example = 512)]
    pub min_length: Option<i64>,
    /// 0, 1 or 9.
    #[schemars(extend("default" = Packing::default().level), example = 1)]
    pub compression_level: Option<i64>,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct DecodingSection {
    /// Maximum size in bytes of a request body (also `--max-body`).
    #[schemars(extend("default" = Bounds::default().body), example = 1_048_576)]
    pub max_length: Option<i64>,
    pub gzip: GzipDecodingSection,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct GzipDecodingSection {
    /// Maximum size in bytes of a request body after decompression.
    #[schemars(extend("default" = Bounds::default().unpacked), example = 10_485_760)]
    pub max_length: Option<i64>,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct MetricsSection {
    pub prom: PrometheusSection,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct PrometheusSection {
    pub http_request_duration_seconds: DurationsSection,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct DurationsSection {
    /// Upper bounds in seconds, in ascending order, of the buckets of `http_request_duration_seconds`.
    #[schemars(
        extend("default" = ServerOptions::default().duration_buckets),
        example = [0.001, 0.01, 0.1, 1.0]
    )]
    pub buckets: Option<Vec<f64>>,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct StorageSection {
    pub sqlite: SqliteSection,
    pub disk: Unsupported,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct SqliteSection {
    /// File that keeps policies and documents (also `--data-dir`, which names its folder).
    #[schemars(example = &"/var/lib/solon/solon.db")]
    pub path: Option<String>,
}

/// Schema keyword of a key that has no effect yet.
pub const UNSUPPORTED: &str = "unsupported";
