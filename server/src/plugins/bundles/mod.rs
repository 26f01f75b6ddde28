//! Plugin `bundle`: downloads and activates bundles. If an update fails, the last valid bundle remains active.
//!
//! - `download`: single downloads, from services and files
//! - `activation`: parsing, verification and activation
//! - `store`: downloads from object stores and registries of images
//! - `persistence`: the last activated snapshot on disk
//! - `task`: lifecycle of one bundle
//! - `target`: target of a bundle: the engine, or the configuration
//! - `status`: the status of a bundle

mod activation;
mod download;
mod metrics;
mod persistence;
mod status;
mod store;
mod target;
mod task;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::{error, info};

use super::manager::DISCOVERY;
use super::running::Plugin;
use crate::config::{BundleSettings, DiscoverySettings, PluginSettings};
use activation::{BundleSource, Read, activate};
use download::{Downloader, MOST};
use persistence::Persisted;
use target::BundleTarget;
use task::{BundleTask, blocking, kind};

pub use metrics::BundleMetrics;
pub use status::{BundleFailure, BundleStatus};
pub use target::{Apply, Configuration, NewEngine};

pub const NAME: &str = "bundle";

struct PolledBundle {
    settings: BundleSettings,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl PolledBundle {
    /// Stops polling. An activation that has started is finished.
    async fn stop(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.task.await {
            error!(plugin = NAME, err = %error, "A bundle loader has ended.");
        }
    }
}

/// Polls the bundles of the settings until the server stops. Bundles that leave the settings are deactivated.
///
/// # Errors
/// Never fails.
pub async fn run(
    plugin: Plugin,
    mut settings: watch::Receiver<Arc<PluginSettings>>,
) -> Result<(), String> {
    let mut running: BTreeMap<String, PolledBundle> = BTreeMap::new();
    loop {
        let current = settings.borrow_and_update().clone();
        let context = Context {
            plugin: &plugin,
            current: &current,
            settings: &settings,
        };
        context.change(&mut running).await;
        tokio::select! {
            () = plugin.stopped() => break,
            changed = settings.changed() => if changed.is_err() {
                // the sender was dropped, so the settings cannot change again
                plugin.stopped().await;
                break;
            },
        }
    }
    for (_, bundle) in running {
        bundle.stop().await;
    }
    Ok(())
}

/// Polls the bundle of discovery until the server stops.
///
/// # Errors
/// Never fails.
pub async fn run_discovery(
    plugin: Plugin,
    settings: watch::Receiver<Arc<PluginSettings>>,
    discovery: DiscoverySettings,
    configuration: Configuration,
) -> Result<(), String> {
    let persisted = {
        let current = settings.borrow();
        let is_persisted = discovery.bundle.is_persisted;
        is_persisted.then(|| Persisted::discovery(&current.persistence_directory))
    };
    let mut task = BundleTask {
        name: DISCOVERY.into(),
        downloader: Downloader::new(&discovery.bundle, settings),
        settings: discovery.bundle,
        target: BundleTarget::Configuration(configuration),
        registry: plugin.registry().clone(),
        persisted,
        status: BundleStatus::new(DISCOVERY),
        etag: String::new(),
        superseded: Vec::<(String, Instant)>::new(),
    };
    task.restore().await;
    let stop = watch::Sender::new(false);
    let running = tokio::spawn(task.run(stop.subscribe()));
    plugin.stopped().await;
    stop.send_replace(true);
    running.await.map_err(|error| error.to_string())
}

/// Settings that are being applied.
struct Context<'c> {
    plugin: &'c Plugin,
    current: &'c PluginSettings,
    /// The current settings and all changes of them.
    settings: &'c watch::Receiver<Arc<PluginSettings>>,
}

impl Context<'_> {
    /// Stops, deactivates and starts bundles, so that the bundles of the settings run.
    async fn change(&self, running: &mut BTreeMap<String, PolledBundle>) {
        let bundles = &self.current.bundles;
        let is_current =
            |name: &String, bundle: &PolledBundle| bundles.get(name) == Some(&bundle.settings);
        let old = running
            .iter()
            .filter(|(name, bundle)| !is_current(name, bundle));
        let old: Vec<String> = old.map(|(name, _)| name.clone()).collect();
        for name in old {
            let Some(bundle) = running.remove(&name) else {
                continue;
            };
            bundle.stop().await;
            if !bundles.contains_key(&name) {
                deactivate(self.plugin, name).await;
            }
        }
        let new = bundles
            .iter()
            .filter(|(name, _)| !running.contains_key(*name));
        let new: Vec<_> = new.map(|(name, bundle)| self.task(name, bundle)).collect();
        for task in restore(new).await {
            let stop = watch::Sender::new(false);
            let (name, settings) = (task.name.to_string(), task.settings.clone());
            let task = tokio::spawn(task.run(stop.subscribe()));
            let bundle = PolledBundle {
                settings,
                stop,
                task,
            };
            running.insert(name, bundle);
        }
    }

    fn task(&self, name: &str, bundle: &BundleSettings) -> BundleTask {
        let directory = &self.current.persistence_directory;
        let status = self.plugin.registry().bundles().remove(name);
        BundleTask {
            name: name.into(),
            settings: bundle.clone(),
            target: BundleTarget::Engine(self.plugin.engine().clone()),
            registry: self.plugin.registry().clone(),
            persisted: bundle
                .is_persisted
                .then(|| Persisted::bundle(directory, name)),
            downloader: Downloader::new(bundle, self.settings.clone()),
            status: status.unwrap_or_else(|| BundleStatus::new(name)),
            // bundles with changed settings are downloaded again
            etag: String::new(),
            superseded: Vec::<(String, Instant)>::new(),
        }
    }
}

/// Removes a bundle that is no longer configured.
async fn deactivate(plugin: &Plugin, name: String) {
    let (engine, bundle) = (plugin.engine().clone(), name.clone());
    let deactivation = blocking(move || {
        let result = engine.deactivate_bundle(&bundle);
        result.map_err(|error| BundleFailure::new(error.to_string()))
    });
    match deactivation.await {
        Ok(()) => info!(plugin = NAME, name, "Bundle deactivated."),
        Err(failure) => error!(
            plugin = NAME,
            name, "Bundle deactivation failed: {}", failure.log
        ),
    }
    plugin.forget_bundle(&name);
}

/// Activates persisted bundles that are not active yet, before anything is downloaded.
async fn restore(mut tasks: Vec<BundleTask>) -> Vec<BundleTask> {
    let inactive = tasks.iter().filter(|task| !task.status.is_active());
    let inactive = inactive.filter_map(|task| {
        let persisted = task.persisted.clone()?;
        Some((task.name.clone(), task.settings.clone(), persisted))
    });
    let inactive: Vec<_> = inactive.collect();
    let Some(engine) = tasks.first().map(|task| task.target.reader().clone()) else {
        return tasks;
    };
    let restored = blocking(move || Ok(restore_bundles(&engine, &inactive)));
    for (name, result) in restored.await.unwrap_or_default() {
        let Some(task) = tasks.iter_mut().find(|task| task.name == name) else {
            continue;
        };
        match result {
            Ok(bundle_read) => {
                task.status.kind = Some(kind(&bundle_read));
                task.activated(&bundle_read, String::new());
            }
            Err(failure) => task.failed("Failed to load bundle from disk", &failure),
        }
        task.registry.report_bundle(task.status.clone());
    }
    tasks
}

type Restored = Vec<(Arc<str>, Result<Read, BundleFailure>)>;

/// Parses, verifies and activates persisted bundles. All of them are activated as one change or, if one fails, those that succeed.
/// A bundle may need the policies of another one.
fn restore_bundles(
    engine: &solon::Engine,
    persisted_bundles: &[(Arc<str>, BundleSettings, Persisted)],
) -> Restored {
    let mut results = Restored::new();
    let mut rest = Vec::new();
    for (name, settings, persisted) in persisted_bundles {
        let archive = match persisted.read(MOST) {
            Ok(None) => continue,
            Ok(Some(archive)) => BundleSource::Archive(archive),
            Err(error) => {
                results.push((name.clone(), Err(BundleFailure::new(error.to_string()))));
                continue;
            }
        };
        match activation::read(engine, name, settings, &archive) {
            Ok(bundle_read) => rest.push((name.clone(), bundle_read)),
            Err(failure) => results.push((name.clone(), Err(failure))),
        }
    }
    let mut all: Vec<_> = rest
        .iter_mut()
        .map(|(name, bundle_read)| (&**name, bundle_read))
        .collect();
    if activate(engine, &mut all).is_ok() {
        results.extend(
            rest.into_iter()
                .map(|(name, bundle_read)| (name, Ok(bundle_read))),
        );
        return results;
    }
    // each iteration activates at least one of them
    loop {
        let count = rest.len();
        let mut failed = Vec::new();
        for (name, mut bundle_read) in std::mem::take(&mut rest) {
            match activate(engine, &mut [(&*name, &mut bundle_read)]) {
                Ok(()) => results.push((name, Ok(bundle_read))),
                Err(failure) => failed.push((name, bundle_read, failure)),
            }
        }
        if failed.is_empty() || failed.len() == count {
            let failed = failed.into_iter();
            results.extend(failed.map(|(name, _, failure)| (name, Err(failure))));
            return results;
        }
        rest = failed
            .into_iter()
            .map(|(name, bundle_read, _)| (name, bundle_read))
            .collect();
    }
}
