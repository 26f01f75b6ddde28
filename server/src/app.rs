//! Lifecycle of a server.

mod builder;
mod checks;
mod exposure;
mod signals;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use solon::{Engine, Value, json};
use solon_outbound::Services;
use tokio::sync::watch;
use tracing::info;

pub use self::builder::ServerBuilder;
use self::checks::Checks;
use self::exposure::{restrict_hosts, warn_of_openness};
pub use self::signals::survive_hangup;
use self::signals::{Hangup, reload_on, stopped};
use crate::api::{ActiveConstraints, RoutingService, State, export_metrics, log_status};
use crate::config::{DiscoverySettings, Live, ServerOptions};
use crate::execution::{Executor, Pool};
use crate::http::{self, Budget, Serving, serve};
use crate::net::{Listener, TlsState};
use crate::plugins::decision_logs::DecisionLogs;
use crate::plugins::{
    Apply, BUNDLES, Configuration, DISCOVERY, Manager, NewEngine, Registry, RunningPlugins, STATUS,
    Start, run_bundles, run_discovery,
};
use crate::system::signals::{SignalKind, signal};
use crate::telemetry::{Collector, flush_spans, start_tracing};

/// Returns the labels of a configuration as JSON text.
pub(crate) fn labels_of(config: &Value) -> Vec<u8> {
    let mut text = Vec::new();
    match config.get("labels") {
        Some(labels) => json::write(labels.borrow(), &mut text),
        None => text.extend_from_slice(b"{}"),
    }
    text
}

/// A policy server that is set up.
///
/// ```no_run
/// use solon_server::Server;
///
/// Server::builder().address("localhost:8181").build().run()?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Server {
    engine: Engine,
    options: ServerOptions,
    live: Live,
    decision_logs: DecisionLogs,
    services: Services,
    /// JSON object with the labels of the configuration.
    labels: Vec<u8>,
    plugins: Vec<Start>,
    registry: Arc<Registry>,
    manager: Arc<Manager>,
    hangup: Vec<Hangup>,
    constraints: ActiveConstraints,
}

/// Time limit for sending the last spans.
const LAST_SPANS: Duration = Duration::from_secs(5);

impl Server {
    /// Returns a builder, with the default options.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// Returns the engine that the server uses. Changes of it take effect at once.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the options that may be replaced while it runs.
    pub(crate) fn live(&self) -> Live {
        self.live.clone()
    }

    /// Returns the decision log, whose configuration may change while the server runs.
    pub(crate) fn decision_logs(&self) -> DecisionLogs {
        self.decision_logs.clone()
    }

    /// Downloads the rest of the configuration as its settings specify.
    pub(crate) fn discover(
        &mut self,
        settings: DiscoverySettings,
        engine: NewEngine,
        apply: Apply,
    ) {
        let configuration = Configuration {
            reader: self.engine.clone(),
            engine,
            decision: settings.decision.clone(),
            apply,
        };
        let current = self.manager.subscribe();
        let run = |plugin| run_discovery(plugin, current, settings, configuration);
        self.plugins.push(Start::new(DISCOVERY, run));
    }

    /// Returns the owner of the plugin settings.
    pub(crate) fn manager(&self) -> Arc<Manager> {
        self.manager.clone()
    }

    /// Serves on its own threads until a signal stops the process. A SIGHUP does not end the process: it reloads certificates, if
    /// there are any.
    ///
    /// # Errors
    /// Fails if an address cannot be opened, TLS cannot be configured, or [`ServerOptions::check`] fails.
    pub fn run(mut self) -> io::Result<()> {
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            // an idle thread must not keep replaced documents alive
            .on_thread_park(solon::release_thread_snapshot)
            .build()?
            .block_on(async {
                let stop = stopped(self.options.shutdown_wait)?;
                let has_certificates = self.options.tls.is_some();
                let hangup = signal(SignalKind::hangup())?;
                let actions = std::mem::take(&mut self.hangup);
                tokio::spawn(reload_on(hangup, actions, has_certificates));
                Box::pin(self.open().await?.serve(stop)).await;
                Ok(())
            })
    }

    /// Returns the name of this server in traces and metrics, unless it is configured.
    fn service_name(&self) -> &'static str {
        if self.options.spelling.is_opa() {
            "opa"
        } else {
            "solon"
        }
    }

    /// Starts plugins.
    fn begin(&mut self, collector: Option<Collector>) -> Begun {
        let mut plugins = std::mem::take(&mut self.plugins);
        let registry = self.registry.clone();
        let state = State::new(
            self.engine.clone(),
            self.options.clone(),
            self.live.clone(),
            self.constraints.clone(),
            registry.clone(),
            self.decision_logs.clone(),
        );
        let (executor, budget) = (
            Arc::new(Executor::new(&self.options.bounds)),
            state.budget.clone(),
        );
        // the cell is set only here
        let measured = gauges(executor.pool.clone(), budget.clone());
        let _ = state.transport.set(Box::new(measured));
        let app = Arc::new(RoutingService::new(state.clone(), executor.clone(), budget));
        let (status, settings) = (app.clone(), self.manager.subscribe());
        let current = settings.clone();
        plugins.push(Start::new(STATUS, |plugin| {
            log_status(status, plugin, current)
        }));
        if let (Some(options), Some(collector)) = (self.options.metrics_export.clone(), collector) {
            let (exported, name) = (app.clone(), self.service_name());
            plugins.push(Start::new("metrics_export", move |plugin| {
                export_metrics(exported, plugin, options, collector, name)
            }));
        }
        plugins.push(Start::new(BUNDLES, |plugin| run_bundles(plugin, settings)));
        let started = RunningPlugins::all(plugins, &self.engine, &registry);
        Begun {
            app,
            started,
            state,
            executor,
        }
    }

    /// Opens the addresses. It must be called within a tokio runtime. Clients that connect wait for [`ListeningServer::serve`].
    ///
    /// # Errors
    /// Fails as [`Self::run`] does.
    pub async fn open(mut self) -> io::Result<ListeningServer> {
        let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
        let result = self.options.check();
        result.map_err(|text| invalid(text.to_owned()))?;
        if let Some(tracing) = &self.options.tracing {
            start_tracing(tracing, self.service_name()).map_err(invalid)?;
        }
        let exported = self.options.metrics_export.as_ref();
        let collector = exported.map(|options| Collector::new(&options.collector));
        let collector = collector.transpose().map_err(invalid)?;
        self.decision_logs
            .configure(
                self.options.decision_logs.as_ref(),
                &self.labels,
                &self.services,
            )
            .map_err(invalid)?;
        self.decision_logs.start();
        let Begun {
            app,
            started,
            state,
            executor,
        } = self.begin(collector);
        if let Some(ready_timeout) = self.options.ready_within {
            wait_until_ready(&app.state().plugins, ready_timeout).await?;
        }
        let options = &self.options;
        info!(
            addrs = options.addresses.join(", "),
            diagnostic_addrs = options.diagnostic_addresses.join(", "),
            "Initializing server."
        );
        warn_of_openness(options);
        let tls = TlsState::shared(options.tls.as_ref())?;
        let (mode, has_certificate) = (options.socket_mode, tls.is_some());
        let mut listeners = Listener::open_all(&options.addresses, mode, has_certificate).await?;
        let diagnostic = &options.diagnostic_addresses;
        let diagnostic = Listener::open_all(diagnostic, mode, has_certificate).await?;
        listeners.extend(diagnostic.into_iter().map(|listener| Listener {
            is_diagnostic: true,
            ..listener
        }));
        restrict_hosts(&mut listeners, options)?;
        let checks = Checks::open(options, state, executor).await?;
        let addresses = |is_diagnostic| {
            let some = listeners.iter();
            let some = some.filter(move |listener| listener.is_diagnostic == is_diagnostic);
            some.map(Listener::address).collect::<Vec<_>>()
        };
        info!(
            addrs = addresses(false).join(", "),
            diagnostic_addrs = addresses(true).join(", "),
            "Server initialized."
        );
        Ok(ListeningServer {
            decision_logs: self.decision_logs,
            addresses: addresses(false),
            app,
            started,
            options: self.options,
            listeners,
            tls,
            checks,
        })
    }
}

/// Parts that run before the server listens.
struct Begun {
    app: Arc<RoutingService>,
    started: RunningPlugins,
    state: Arc<State>,
    executor: Arc<Executor>,
}

/// A server that listens but does not serve yet.
pub struct ListeningServer {
    app: Arc<RoutingService>,
    options: ServerOptions,
    listeners: Vec<Listener>,
    addresses: Vec<String>,
    tls: Option<Arc<TlsState>>,
    started: RunningPlugins,
    decision_logs: DecisionLogs,
    checks: Checks,
}

impl ListeningServer {
    /// Returns the addresses, with the chosen ports.
    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Returns the addresses of external authorization over gRPC and over HTTP, with the chosen ports.
    pub fn check_addresses(&self) -> (Vec<String>, Vec<String>) {
        self.checks.addresses()
    }

    /// Serves until `stop` completes, then finishes open requests.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let Self { app, options, .. } = self;
        let bounds = Arc::new(options.bounds);
        let (h2c, grace) = (options.h2c, options.shutdown_grace);
        let budget = app.state().budget.clone();
        let registry = app.state().plugins.clone();
        let reloading = self.tls.clone().map(|tls| tokio::spawn(tls.keep_fresh()));
        let serving = Serving {
            service: Arc::new(http::ConnectionService::new(app, budget, bounds.clone())),
            h2c,
            grace,
            tls: self.tls,
        };
        let (stopping, stop_signal) = watch::channel(false);
        let checks = self.checks.serve(registry, bounds, grace, async move {
            // without a sender the server has stopped
            let _ = stop_signal
                .clone()
                .wait_for(|stop_signal| *stop_signal)
                .await;
        });
        let stop = async move {
            stop.await;
            stopping.send_replace(true);
        };
        tokio::join!(serve(self.listeners, serving, stop), checks);
        if let Some(task) = reloading {
            task.abort();
        }
        self.started.end(grace).await;
        self.decision_logs.stop(grace).await;
        flush_spans(grace.min(LAST_SPANS)).await;
        info!("Server shutdown.");
    }
}

/// Waits until all plugins are ready.
///
/// # Errors
/// They are not in time. The error names those that are not ready.
async fn wait_until_ready(plugins: &Registry, timeout: Duration) -> io::Result<()> {
    let result = tokio::time::timeout(timeout, plugins.ready()).await;
    result.map_err(|_| {
        let unready = plugins.unwell(&[]).join(", ");
        io::Error::other(format!("plugins are not ready in time: {unready}"))
    })
}

/// Returns the gauges of the transport: work that was rejected, overran or waits, and memory of bodies.
fn gauges(
    pool: Pool,
    budget: Budget,
) -> impl Fn() -> Vec<(&'static str, &'static str, u64)> + Send + Sync {
    move || {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        vec![
            (
                "solon_refused_total",
                "Requests that were refused since too many waited.",
                pool.rejected(),
            ),
            (
                "solon_overruns_total",
                "Evaluations that took longer than estimated, and let others begin.",
                pool.overran(),
            ),
            (
                "solon_waiting_decisions",
                "Decisions that wait for http.send or other host calls.",
                number(pool.in_host_calls()),
            ),
            (
                "solon_held_bytes",
                "Bytes of bodies and answers that all connections hold.",
                number(budget.reserved()),
            ),
            (
                "solon_held_bytes_limit",
                "Bytes of bodies and answers that they may hold.",
                number(budget.limit()),
            ),
        ]
    }
}

#[cfg(test)]
#[path = "../../tests/server/faults.rs"]
mod faults;
