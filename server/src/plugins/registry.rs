//! States of all plugins and bundles.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::watch;

use super::bundles::{self, BundleMetrics, BundleStatus};

/// State of a plugin, as `GET /v1/status` reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum PluginState {
    /// The plugin has not started its work.
    #[serde(rename = "NOT_READY")]
    NotReady,
    /// The plugin works. `/health?plugins` needs this state.
    #[serde(rename = "OK")]
    Ok,
    /// The plugin works with limitations.
    #[serde(rename = "WARN")]
    Warn,
    /// The plugin does not work.
    #[serde(rename = "ERROR")]
    Error,
}

impl PluginState {
    /// Returns the name in `GET /v1/status`, such as `NOT_READY`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotReady => "NOT_READY",
            Self::Ok => "OK",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct PluginStatus {
    pub state: PluginState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

fn is_ready(bundle: &BundleStatus) -> bool {
    bundle.is_active() && bundle.errors.is_empty()
}

/// States of all plugins. Plugins are registered before a server starts, so that none is missing.
pub struct Registry {
    plugins: Mutex<BTreeMap<String, PluginStatus>>,
    bundles: Mutex<BTreeMap<String, BundleStatus>>,
    discovery: Mutex<Option<BundleStatus>>,
    bundle_metrics: BundleMetrics,
    /// `true` once all plugins have been `OK` at the same time.
    ready: watch::Sender<bool>,
    /// Notifies receivers of changes.
    changed: watch::Sender<()>,
}

impl Registry {
    /// Creates a registry of plugins with these names, in their initial state.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let registry = Self {
            plugins: Mutex::default(),
            bundles: Mutex::default(),
            discovery: Mutex::default(),
            bundle_metrics: BundleMetrics::default(),
            ready: watch::Sender::new(false),
            changed: watch::Sender::new(()),
        };
        let none = PluginStatus {
            state: PluginState::NotReady,
            message: None,
        };
        let names = names.into_iter();
        *registry.plugins.lock() = names.map(|name| (name.to_owned(), none.clone())).collect();
        registry.look();
        registry
    }

    /// Sets the state of a plugin, which need not be known before. Wakes those that wait for readiness.
    pub fn report(&self, name: &str, state: PluginState, message: Option<String>) {
        let status = PluginStatus { state, message };
        self.plugins.lock().insert(name.to_owned(), status);
        self.look();
        self.changed.send_replace(());
    }

    /// Removes a plugin that no longer runs.
    pub fn remove(&self, name: &str) {
        let removed = self.plugins.lock().remove(name);
        if removed.is_some() {
            self.look();
            self.changed.send_replace(());
        }
    }

    /// Updates `ready`.
    fn look(&self) {
        if self.unwell(&[]).is_empty() {
            self.ready.send_replace(true);
        }
    }

    /// Sets the status of a bundle. The record that it has been active is kept.
    pub fn report_bundle(&self, mut status: BundleStatus) {
        // A bundle that was not requested yet has neither been loaded nor failed.
        if status.last_request.is_some() {
            self.bundle_metrics.observe(&status);
        }
        let mut bundles = self.bundles.lock();
        let before = bundles.get(&status.name);
        let activated = before.and_then(|before| before.last_successful_activation);
        status.last_successful_activation = status.last_successful_activation.or(activated);
        let has_failed = status.has_failed();
        bundles.insert(status.name.clone(), status);
        drop(bundles);
        // The error of a failed attempt may replace one that keeps the bundle from being ready.
        if !has_failed {
            self.look_at_bundles();
        }
        self.changed.send_replace(());
    }

    /// Sets the status of discovery and notifies those that wait for changes.
    pub fn report_discovery(&self, status: BundleStatus) {
        *self.discovery.lock() = Some(status);
        self.changed.send_replace(());
    }

    /// Returns the status of discovery, or `None` without discovery.
    pub fn discovery(&self) -> Option<BundleStatus> {
        self.discovery.lock().clone()
    }

    pub fn forget_bundle(&self, name: &str) {
        self.bundles.lock().remove(name);
        self.look_at_bundles();
        self.changed.send_replace(());
    }

    /// Sets the plugin that downloads bundles to `OK` once each bundle is active without an error. Later errors do not change that.
    fn look_at_bundles(&self) {
        let mut plugins = self.plugins.lock();
        if let Some(plugin) = plugins.get_mut(bundles::NAME)
            && plugin.state == PluginState::NotReady
        {
            let bundles = self.bundles.lock();
            if bundles.values().all(is_ready) {
                plugin.state = PluginState::Ok;
            }
        }
        drop(plugins);
        self.look();
    }

    /// Returns a receiver that is notified of each change from now on.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Returns a copy of the states of all plugins, by name.
    pub fn plugins(&self) -> BTreeMap<String, PluginStatus> {
        self.plugins.lock().clone()
    }

    /// Returns a copy of the states of all bundles, by name.
    pub fn bundles(&self) -> BTreeMap<String, BundleStatus> {
        self.bundles.lock().clone()
    }

    pub fn bundle_metrics(&self) -> &BundleMetrics {
        &self.bundle_metrics
    }

    /// Returns the names of the plugins that are not `OK`, except excluded ones.
    pub fn unwell(&self, excluded: &[&str]) -> Vec<String> {
        let plugins = self.plugins.lock();
        let unwell = plugins.iter().filter(|(name, status)| {
            status.state != PluginState::Ok && !excluded.contains(&name.as_str())
        });
        unwell.map(|(name, _)| name.clone()).collect()
    }

    /// Returns the names of the bundles that were not activated yet, or whose activation has failed again before all others are
    /// active.
    pub fn inactive_bundles(&self) -> Vec<String> {
        let downloads = self
            .plugins
            .lock()
            .get(bundles::NAME)
            .map(|plugin| plugin.state);
        let is_inactive = |bundle: &&BundleStatus| match downloads {
            Some(PluginState::NotReady) => !is_ready(bundle),
            _ => !bundle.is_active(),
        };
        let bundles = self.bundles.lock();
        let inactive = bundles.values().filter(is_inactive);
        inactive.map(|bundle| bundle.name.clone()).collect()
    }

    /// Returns `false` if there are bundles that have not been active without an error at the same time.
    pub fn has_bundles(&self) -> bool {
        let plugins = self.plugins.lock();
        let downloads = plugins.get(bundles::NAME);
        let is_ready = downloads.is_none_or(|plugin| plugin.state != PluginState::NotReady);
        is_ready || self.bundles.lock().is_empty()
    }

    /// Returns `false` if the configuration is discovered, and has not been applied yet.
    pub fn is_discovered(&self) -> bool {
        let plugins = self.plugins.lock();
        let discovery = plugins.get(super::DISCOVERY);
        discovery.is_none_or(|plugin| plugin.state == PluginState::Ok)
    }

    /// Returns `true` once all plugins have been `OK` at the same time. It does not change back.
    pub fn is_ready(&self) -> bool {
        *self.ready.borrow()
    }

    /// Waits until [`Self::is_ready`] returns `true`.
    pub async fn ready(&self) {
        // the sender lives as long as the registry
        let _ = self.ready.subscribe().wait_for(|is_ready| *is_ready).await;
    }
}
