//! Plugins as tasks: start and end.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use solon::Engine;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::error;

use super::bundles::BundleStatus;
use super::registry::{PluginState, Registry};

/// Interface between a plugin and its server: the engine, status reports, and the stop signal.
///
/// ```no_run
/// use solon_server::{PluginState, Server};
///
/// let server = Server::builder().plugin("mirror", |plugin| async move {
///     plugin.report(PluginState::Ok);
///     // … brings policies and documents to `plugin.engine()` …
///     plugin.stopped().await;
///     Ok(())
/// });
/// server.build().run()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Plugin {
    name: Arc<str>,
    engine: Engine,
    registry: Arc<Registry>,
    stop: watch::Receiver<bool>,
}

impl Plugin {
    /// Returns the engine of the server. Changes of it take effect at once.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the states of all plugins.
    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Reports the state of the plugin. The initial state is `NOT_READY`.
    pub fn report(&self, state: PluginState) {
        self.registry.report(&self.name, state, None);
    }

    /// Reports the state of the plugin with a message, which `GET /v1/status` shows.
    pub fn report_because(&self, state: PluginState, message: &str) {
        let message = Some(message.to_owned());
        self.registry.report(&self.name, state, message);
    }

    /// Reports the status of a bundle. `/health?bundles` succeeds once each reported bundle has been activated.
    pub fn report_bundle(&self, status: BundleStatus) {
        self.registry.report_bundle(status);
    }

    /// Removes a bundle that is no longer configured.
    pub fn forget_bundle(&self, name: &str) {
        self.registry.forget_bundle(name);
    }

    /// Completes when the server stops. The plugin must then end within the time limit of open requests.
    pub async fn stopped(&self) {
        // without a sender the server has stopped
        let _ = self.stop.clone().wait_for(|stop| *stop).await;
    }
}

/// Future of a plugin, which returns an error if it ended before it was stopped.
type PluginFuture = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

pub struct Start {
    pub name: String,
    run: Box<dyn FnOnce(Plugin) -> PluginFuture + Send>,
}

impl Start {
    /// Creates a plugin from its async function.
    pub fn new<F>(name: &str, run: impl FnOnce(Plugin) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self {
            name: name.to_owned(),
            run: Box::new(|plugin| Box::pin(run(plugin))),
        }
    }
}

pub struct RunningPlugins {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl RunningPlugins {
    /// Starts plugins. It must be called within a tokio runtime.
    pub fn all(plugins: Vec<Start>, engine: &Engine, registry: &Arc<Registry>) -> Self {
        let stop = watch::Sender::new(false);
        let mut tasks = JoinSet::new();
        for Start { name, run } in plugins {
            let name: Arc<str> = name.into();
            let plugin = Plugin {
                name: name.clone(),
                engine: engine.clone(),
                registry: registry.clone(),
                stop: stop.subscribe(),
            };
            let registry = registry.clone();
            // a separate task isolates a panic
            let running = tokio::spawn(async move { run(plugin).await });
            tasks.spawn(async move {
                let _abandoned = Abandoned(running.abort_handle());
                let reason = match running.await {
                    Ok(Ok(())) => return,
                    Ok(Err(error)) => error,
                    Err(_) => "it panicked".to_owned(),
                };
                error!(plugin = &*name, err = reason, "A plugin has ended.");
                registry.report(&name, PluginState::Error, Some(reason));
            });
        }
        Self { stop, tasks }
    }

    /// Stops all plugins, and waits for them for at most `timeout`.
    pub async fn end(mut self, timeout: Duration) {
        self.stop.send_replace(true);
        let all = async { while self.tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(timeout, all).await;
    }
}

/// Aborts a task when its waiter is dropped.
struct Abandoned(tokio::task::AbortHandle);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.abort();
    }
}
