//! Settings of the server in a configuration.

use std::collections::BTreeMap;
use std::path::PathBuf;

use solon_outbound::{KeyConfig, Services, ServicesConfig};

use super::Caching;
use super::document::ConfigDocument;
use super::section_context::SectionContext;
use crate::config::{
    DecisionLogOptions, EnvoyOptions, MetricsExportOptions, Packing, PluginSettings, ServerOptions,
    TracingOptions,
};

/// Settings of the server in a configuration, with defaults.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Path of the document that `POST /` responds with.
    pub default_decision: String,
    /// Path of the document that authorizes requests.
    pub default_authorization_decision: String,
    /// `true` if the page at `/ui` is enabled.
    pub ui: bool,
    /// `true` if an admission review without a decision is denied by a response.
    pub admission_failures_are_denied: bool,
    /// Files and folders with constraint templates and constraints.
    pub constraints: Vec<PathBuf>,
    pub packing: Packing,
    /// Maximum size of a request body, in bytes.
    pub body: Option<usize>,
    /// Maximum size of a decompressed request body, in bytes.
    pub max_decompressed: Option<usize>,
    /// Upper bounds of the buckets of request durations, in seconds.
    pub duration_buckets: Option<Vec<f64>>,
    /// Caches that outlive an evaluation.
    pub caching: Caching,
    /// Bundles, discovery and status.
    pub plugins: PluginSettings,
    /// External authorization for Envoy, if it is enabled.
    pub envoy: Option<EnvoyOptions>,
    pub decision_logs: Option<DecisionLogOptions>,
    /// Tracing of requests, if it is enabled.
    pub tracing: Option<TracingOptions>,
    pub metrics_export: Option<MetricsExportOptions>,
    /// Capabilities of policies: a file, or a version of OPA.
    pub capabilities: Option<String>,
    /// SQLite file that stores policies and documents.
    pub store: Option<String>,
    /// Services that bundles, logs and the status refer to.
    pub services: ServicesConfig,
    /// Keys that sign or verify, by name.
    pub keys: BTreeMap<String, KeyConfig>,
}

impl Settings {
    /// Returns the settings of a configuration. `services` are the names of its services, in order.
    ///
    /// # Errors
    /// Fails if a number is out of range, or a service does not exist, in OPA's words.
    pub fn from_document(document: ConfigDocument, services: &[String]) -> Result<Self, String> {
        let defaults = ServerOptions::default();
        let plugins = plugins(&document)?;
        let server = document.server;
        let gzip = server.encoding.gzip;
        let mut packing = Packing::default();
        if let Some(length) = positive("server.encoding.gzip.min_length", gzip.min_length)? {
            packing.longer_than = length;
        }
        match gzip.compression_level {
            None => {}
            Some(0) => packing.level = 0,
            Some(1) => packing.level = 1,
            Some(9) => packing.level = 9,
            Some(_) => {
                return Err("invalid value for server.encoding.gzip.compression_level field, accepted values are 0, 1 or 9".to_owned());
            }
        }
        let decoding = server.decoding;
        Ok(Self {
            default_decision: document
                .default_decision
                .unwrap_or(defaults.default_decision),
            default_authorization_decision: document
                .default_authorization_decision
                .unwrap_or(defaults.default_authorization_decision),
            ui: server.ui,
            admission_failures_are_denied: match server.admission.failure_response.as_deref() {
                None | Some("deny") => true,
                Some("error") => false,
                Some(_) => {
                    return Err("invalid value for server.admission.failure_response, accepted values are deny and error".to_owned());
                }
            },
            constraints: server
                .admission
                .gatekeeper
                .paths
                .iter()
                .map(PathBuf::from)
                .collect(),
            packing,
            body: positive("server.decoding.max_length", decoding.max_length)?,
            max_decompressed: positive(
                "server.decoding.gzip.max_length",
                decoding.gzip.max_length,
            )?,
            duration_buckets: server.metrics.prom.http_request_duration_seconds.buckets,
            caching: Caching::from_section(&document.caching)?,
            plugins,
            envoy: match &document.plugins.envoy_ext_authz_grpc {
                Some(section) => Some(section.options()?),
                None => None,
            },
            decision_logs: match &document.decision_logs {
                Some(section) => section.options(services, document.nd_builtin_cache)?,
                None => None,
            },
            tracing: document.distributed_tracing.options()?,
            metrics_export: document.metrics_export.options()?,
            capabilities: document.capabilities,
            store: document.storage.sqlite.path,
            services: document.services,
            keys: document.keys,
        })
    }
}

fn plugins(document: &ConfigDocument) -> Result<PluginSettings, String> {
    // a service without a name is an error when the clients of services are created
    let services = document.services.named().unwrap_or_default();
    let context = SectionContext {
        services: services
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect(),
        keys: &document.keys,
    };
    let directory = document.persistence_directory.as_deref();
    let directory = directory.filter(|path| !path.is_empty());
    Ok(PluginSettings {
        services: Services::default(),
        bundles: context.bundles(&document.bundle, &document.bundles)?,
        discovery: context.discovery(&document.discovery)?,
        status: context.status(&document.status)?,
        persistence_directory: directory.unwrap_or(".opa").into(),
    })
}

fn positive(key: &str, number: Option<i64>) -> Result<Option<usize>, String> {
    let Some(number) = number else {
        return Ok(None);
    };
    match usize::try_from(number) {
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => Err(format!(
            "invalid value for {key} field, should be a positive number"
        )),
    }
}
