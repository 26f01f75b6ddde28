//! The owner of the plugins' settings.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::bundles::{self, BundleStatus};
use super::registry::{PluginState, Registry};
use crate::config::PluginSettings;

/// Name of the plugin that reports the status.
pub const STATUS: &str = "status";

/// Name of the plugin that downloads the configuration.
pub const DISCOVERY: &str = "discovery";

pub const DECISION_LOGS: &str = "decision_logs";

/// Publishes settings to the plugins, which start, change and stop accordingly.
pub struct Manager {
    registry: Arc<Registry>,
    settings: watch::Sender<Arc<PluginSettings>>,
    /// Lock that serializes changes of the settings.
    changing: Mutex<()>,
}

impl Manager {
    /// Creates the owner of the settings of a server that has not started.
    pub fn new(registry: Arc<Registry>, settings: PluginSettings) -> Self {
        let manager = Self {
            registry,
            settings: watch::Sender::new(Arc::default()),
            changing: Mutex::default(),
        };
        manager.apply(settings);
        manager
    }

    /// Replaces the settings. New plugins are `NOT_READY` when this returns, so that health checks include them.
    pub fn apply(&self, settings: PluginSettings) {
        let _changing = self.changing.lock();
        let before = self.settings.borrow().clone();
        if settings.bundles.is_empty() {
            self.registry.remove(bundles::NAME);
        } else {
            let bundles = self.registry.bundles();
            let names = settings.bundles.keys();
            let new: Vec<_> = names
                .filter(|name| !before.bundles.contains_key(*name))
                .collect();
            for name in &new {
                if !bundles.contains_key(*name) {
                    self.registry.report_bundle(BundleStatus::new(name));
                }
            }
            if !new.is_empty() {
                let state = PluginState::NotReady;
                self.registry.report(bundles::NAME, state, None);
            }
        }
        let bounds = settings.status.as_ref();
        let bounds = bounds.and_then(|status| status.stage_buckets.as_deref());
        self.registry.bundle_metrics().set_bounds(bounds);
        match (&before.status, &settings.status) {
            (None, Some(_)) => self.registry.report(STATUS, PluginState::Ok, None),
            (Some(_), None) => self.registry.remove(STATUS),
            _ => {}
        }
        self.settings.send_replace(Arc::new(settings));
    }

    /// Adds the decision log to the plugins, or removes it.
    pub fn set_decision_logs(&self, is_configured: bool) {
        let is_registered = self.registry.plugins().contains_key(DECISION_LOGS);
        match (is_registered, is_configured) {
            (false, true) => self.registry.report(DECISION_LOGS, PluginState::Ok, None),
            (true, false) => self.registry.remove(DECISION_LOGS),
            _ => {}
        }
    }

    /// Returns a receiver of the settings and their changes. It starts with the current ones.
    pub fn subscribe(&self) -> watch::Receiver<Arc<PluginSettings>> {
        self.settings.subscribe()
    }
}
