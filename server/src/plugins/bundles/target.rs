//! Target of a downloaded bundle: the engine, or the configuration.

use std::sync::Arc;

use serde_json::Value;
use solon::bundle::BundleKind;
use solon::{Engine, Path, Request};

use super::activation::{Read, activate};
use super::status::{BundleFailure, BundleStatus};
use crate::plugins::registry::{PluginState, Registry};

/// Creates an engine in which a discovered configuration is evaluated.
pub type NewEngine = Arc<dyn Fn() -> Engine + Send + Sync>;

/// Activates a discovered configuration, or returns why it is invalid. Returns its keys that the startup configuration overrides.
pub type Apply = Arc<dyn Fn(&Value) -> Result<Vec<String>, String> + Send + Sync>;

#[derive(Clone)]
pub enum BundleTarget {
    /// Policies and documents of the server's engine.
    Engine(Engine),
    /// Configuration of the server, which the bundle contains.
    Configuration(Configuration),
}

/// Target of a discovery bundle: parses it and applies its configuration.
#[derive(Clone)]
pub struct Configuration {
    pub reader: Engine,
    /// Creates an engine for each evaluation.
    pub engine: NewEngine,
    /// Path of the document that is the configuration; empty for all documents.
    pub decision: String,
    pub apply: Apply,
}

pub struct LogMessages {
    pub plugin: &'static str,
    /// Message for a bundle that was not downloaded or parsed.
    pub load: &'static str,
    pub activation: &'static str,
    /// Message for an activation, in OPA's words.
    pub success: &'static str,
}

impl BundleTarget {
    /// Returns the engine that parses bundles. For discovery, it is not the engine that serves.
    pub fn reader(&self) -> &Engine {
        match self {
            Self::Engine(engine) => engine,
            Self::Configuration(configuration) => &configuration.reader,
        }
    }

    /// Activates a bundle. Blocks the thread. Returns a message for its status, if there is one.
    ///
    /// # Errors
    /// Returns why it cannot be activated. Nothing has changed then.
    pub fn activate(
        &self,
        name: &str,
        bundle_read: &mut Read,
    ) -> Result<Option<String>, BundleFailure> {
        match self {
            Self::Engine(engine) => activate(engine, &mut [(name, bundle_read)]).map(|()| None),
            Self::Configuration(configuration) => configuration.activate(name, bundle_read),
        }
    }

    pub fn report(&self, registry: &Registry, mut status: BundleStatus) {
        match self {
            Self::Engine(_) => registry.report_bundle(status),
            Self::Configuration(_) => {
                let is_active = status.is_active();
                // as in OPA
                status.metrics.clear();
                registry.report_discovery(status);
                if is_active {
                    registry.report(crate::plugins::DISCOVERY, PluginState::Ok, None);
                }
            }
        }
    }

    /// Returns the messages of log lines, in OPA's words.
    pub fn log_messages(&self) -> LogMessages {
        match self {
            Self::Engine(_) => LogMessages {
                plugin: super::NAME,
                load: "Bundle load failed",
                activation: "Bundle activation failed",
                success: "Bundle loaded and activated successfully.",
            },
            Self::Configuration(_) => LogMessages {
                plugin: crate::plugins::DISCOVERY,
                load: "Discovery download failed",
                activation: "Discovery reconfiguration error occurred",
                success: "Discovery update processed successfully.",
            },
        }
    }
}

impl Configuration {
    fn activate(
        &self,
        name: &str,
        bundle_read: &mut Read,
    ) -> Result<Option<String>, BundleFailure> {
        let failed = |reason: String| BundleFailure::new(reason);
        if bundle_read.bundle.kind() == BundleKind::Delta {
            return Err(failed(
                "a delta bundle contains no configuration".to_owned(),
            ));
        }
        let engine = (self.engine)();
        activate(&engine, &mut [(name, &mut *bundle_read)])?;
        let document = engine
            .document(&Path::from_slashes(&self.decision))
            .evaluate(&Request::new())
            .map_err(|error| failed(error.to_string()))?
            .ok_or_else(|| failed("undefined configuration".to_owned()))?;
        let mut document: Value =
            solon::from_value(document.borrow()).map_err(|error| failed(error.to_string()))?;
        if let (true, Value::Object(fields)) = (self.decision.is_empty(), &mut document) {
            // the engine's own document about the bundle
            fields.remove("system");
        }
        let overridden = (self.apply)(&document).map_err(failed)?;
        Ok((!overridden.is_empty()).then(|| {
            let keys = overridden.join(", ");
            format!("Keys in the discovered configuration overridden by boot configuration: {keys}")
        }))
    }
}
