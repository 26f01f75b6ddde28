//! Plugins as tasks: how they begin and end.

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

/// A plugin's side of its server: what it serves, where it reports, and when it is to end.
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
    /// The engine that its server serves.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The states of all plugins.
    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Tells how it is; before the first time it is `NOT_READY`.
    pub fn report(&self, state: PluginState) {
        self.registry.report(&self.name, state, None);
    }

    /// Tells how it is, and why.
    pub fn report_because(&self, state: PluginState, message: &str) {
        let message = Some(message.to_owned());
        self.registry.report(&self.name, state, message);
    }

    /// Tells what is known of a bundle. A server counts as healthy with `?bundles` once each that was told of has been
    /// activated.
    pub fn report_bundle(&self, status: BundleStatus) {
        self.registry.report_bundle(status);
    }

    /// Tells that a bundle is not wanted any more.
    pub fn forget_bundle(&self, name: &str) {
        self.registry.forget_bundle(name);
    }

    /// Is there when the server stops. What the plugin does then has to end within the time for open requests.
    pub async fn stopped(&self) {
        // a server that is gone has stopped
        let _ = self.stop.clone().wait_for(|stop| *stop).await;
    }
}

/// What a plugin does until it is stopped, and what made it end before.
type Run = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// A plugin that was not started.
pub struct Start {
    /// Its name.
    pub name: String,
    run: Box<dyn FnOnce(Plugin) -> Run + Send>,
}

impl Start {
    /// A plugin by what it does.
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

/// The plugins of a server that runs.
pub struct Started {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Started {
    /// Starts plugins, within a runtime of tokio.
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
            // in a task of its own, so that a panic is its own as well
            let running = tokio::spawn(async move { run(plugin).await });
            tasks.spawn(async move {
                let _abandoned = Abandoned(running.abort_handle());
                let why = match running.await {
                    Ok(Ok(())) => return,
                    Ok(Err(why)) => why,
                    Err(_) => "it panicked".to_owned(),
                };
                error!(plugin = &*name, err = why, "A plugin has ended.");
                registry.report(&name, PluginState::Error, Some(why));
            });
        }
        Self { stop, tasks }
    }

    /// Tells all of them to stop, and waits for that as long as it may take.
    pub async fn end(mut self, within: Duration) {
        self.stop.send_replace(true);
        let all = async { while self.tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(within, all).await;
    }
}

/// Ends a task with whoever waits for it.
struct Abandoned(tokio::task::AbortHandle);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.abort();
    }
}
