//! The states of all plugins, and the bundles that they brought.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::watch;

use super::bundles::{self, BundleStatus};

/// How a plugin is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum PluginState {
    /// It has not begun to do its work.
    #[serde(rename = "NOT_READY")]
    NotReady,
    /// It does its work.
    #[serde(rename = "OK")]
    Ok,
    /// It does its work, though something is amiss.
    #[serde(rename = "WARN")]
    Warn,
    /// It does not do its work.
    #[serde(rename = "ERROR")]
    Error,
}

impl PluginState {
    /// The published name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotReady => "NOT_READY",
            Self::Ok => "OK",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }
}

/// The state of a plugin and words about it.
#[derive(Clone, Debug, Serialize)]
pub struct PluginStatus {
    /// How it is.
    pub state: PluginState,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

fn is_ready(bundle: &BundleStatus) -> bool {
    bundle.is_active() && bundle.errors.is_empty()
}

/// What is known of all plugins. They are registered before a server begins, so that none is missed.
pub struct Registry {
    plugins: Mutex<BTreeMap<String, PluginStatus>>,
    bundles: Mutex<BTreeMap<String, BundleStatus>>,
    discovery: Mutex<Option<BundleStatus>>,
    /// Whether all plugins were `OK` at once some time: it stays so.
    ready: watch::Sender<bool>,
    /// Tells that something is not as it was.
    changed: watch::Sender<()>,
}

impl Registry {
    /// The plugins of these names, none of which has begun.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let registry = Self {
            plugins: Mutex::default(),
            bundles: Mutex::default(),
            discovery: Mutex::default(),
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

    /// Notes how a plugin is.
    pub fn report(&self, name: &str, state: PluginState, message: Option<String>) {
        let status = PluginStatus { state, message };
        self.plugins.lock().insert(name.to_owned(), status);
        self.look();
        self.changed.send_replace(());
    }

    /// Removes a plugin that does not run any more.
    pub fn remove(&self, name: &str) {
        let removed = self.plugins.lock().remove(name);
        if removed.is_some() {
            self.look();
            self.changed.send_replace(());
        }
    }

    /// Whether everything is ready by now.
    fn look(&self) {
        if self.unwell(&[]).is_empty() {
            self.ready.send_replace(true);
        }
    }

    /// Notes what is known of a bundle; that it was active once is not forgotten.
    pub fn report_bundle(&self, mut status: BundleStatus) {
        let mut bundles = self.bundles.lock();
        let before = bundles.get(&status.name);
        let activated = before.and_then(|before| before.last_successful_activation);
        status.last_successful_activation = status.last_successful_activation.or(activated);
        bundles.insert(status.name.clone(), status);
        drop(bundles);
        self.bundles_changed();
    }

    /// Notes the status of discovery.
    pub fn report_discovery(&self, status: BundleStatus) {
        *self.discovery.lock() = Some(status);
        self.changed.send_replace(());
    }

    /// Returns the status of discovery, if there is one.
    pub fn discovery(&self) -> Option<BundleStatus> {
        self.discovery.lock().clone()
    }

    /// Forgets a bundle.
    pub fn forget_bundle(&self, name: &str) {
        self.bundles.lock().remove(name);
        self.bundles_changed();
    }

    /// The plugin that downloads bundles becomes `OK` once each of them is active without an error. Later errors do not change that.
    fn bundles_changed(&self) {
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
        self.changed.send_replace(());
    }

    /// Tells of each change from now on.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// All plugins by name.
    pub fn plugins(&self) -> BTreeMap<String, PluginStatus> {
        self.plugins.lock().clone()
    }

    /// All bundles by name.
    pub fn bundles(&self) -> BTreeMap<String, BundleStatus> {
        self.bundles.lock().clone()
    }

    /// The names of the plugins that are not `OK`, but for some that do not matter.
    pub fn unwell(&self, excluded: &[&str]) -> Vec<String> {
        let plugins = self.plugins.lock();
        let unwell = plugins.iter().filter(|(name, status)| {
            status.state != PluginState::Ok && !excluded.contains(&name.as_str())
        });
        unwell.map(|(name, _)| name.clone()).collect()
    }

    /// The names of the bundles that were not activated yet, or fail to be activated again before all others are active.
    pub fn inactive_bundles(&self) -> Vec<String> {
        let downloads = self.plugins.lock().get(bundles::NAME).map(|one| one.state);
        let is_inactive = |bundle: &&BundleStatus| match downloads {
            Some(PluginState::NotReady) => !is_ready(bundle),
            _ => !bundle.is_active(),
        };
        let bundles = self.bundles.lock();
        let inactive = bundles.values().filter(is_inactive);
        inactive.map(|bundle| bundle.name.clone()).collect()
    }

    /// Returns `false` if the configuration is to be discovered, and was not yet.
    pub fn is_discovered(&self) -> bool {
        let plugins = self.plugins.lock();
        let discovery = plugins.get(super::DISCOVERY);
        discovery.is_none_or(|plugin| plugin.state == PluginState::Ok)
    }

    /// Whether all plugins were `OK` at the same time at some point; it stays true.
    pub fn is_ready(&self) -> bool {
        *self.ready.borrow()
    }

    /// Waits until they are.
    pub async fn ready(&self) {
        // the sender lives as long as this does
        let _ = self.ready.subscribe().wait_for(|ready| *ready).await;
    }
}
