//! What a configuration says of the server.

use std::collections::BTreeMap;

use solon_outbound::{KeyConfig, Services, ServicesConfig};

use super::Caching;
use super::distribution::Context;
use super::document::Document;
use crate::config::{DecisionLogOptions, Packing, PluginSettings, ServerOptions};

/// What a configuration says of the server, or what holds where it says nothing.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Path of the document that `POST /` answers with.
    pub default_decision: String,
    /// Path of the document that decides what clients may ask.
    pub default_authorization_decision: String,
    /// Whether there is a page for people.
    pub ui: bool,
    /// Which answers are packed.
    pub packing: Packing,
    /// Largest body, in bytes.
    pub body: Option<usize>,
    /// Largest unpacked body, in bytes.
    pub unpacked: Option<usize>,
    /// Upper bounds of counted durations, in seconds.
    pub duration_buckets: Option<Vec<f64>>,
    /// What outlives an evaluation.
    pub caching: Caching,
    /// Bundles, discovery and status.
    pub plugins: PluginSettings,
    /// Where decisions are logged, if anywhere.
    pub decision_logs: Option<DecisionLogOptions>,
    /// What policies may use: a file, or a version.
    pub capabilities: Option<String>,
    /// The SQLite file that policies and documents are kept in.
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
    /// A number that is out of its range, or a service that does not exist, in OPA's words.
    pub fn of(document: Document, services: &[String]) -> Result<Self, String> {
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
            packing,
            body: positive("server.decoding.max_length", decoding.max_length)?,
            unpacked: positive("server.decoding.gzip.max_length", decoding.gzip.max_length)?,
            duration_buckets: server.metrics.prom.http_request_duration_seconds.buckets,
            caching: Caching::of(&document.caching)?,
            plugins,
            decision_logs: match &document.decision_logs {
                Some(section) => section.options(services, document.nd_builtin_cache)?,
                None => None,
            },
            capabilities: document.capabilities,
            store: document.storage.sqlite.path,
            services: document.services,
            keys: document.keys,
        })
    }
}

fn plugins(document: &Document) -> Result<PluginSettings, String> {
    // a service without a name is an error once the clients of services are made
    let services = document.services.named().unwrap_or_default();
    let context = Context {
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
