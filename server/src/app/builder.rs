//! Builder of a server: engine, options, plugins.

use std::future::Future;
use std::sync::Arc;

use solon::{Engine, EngineBuilder, Error, HostFunction, Value};
use solon_host::{NetworkRules, RestrictedHost};
use solon_outbound::Services;

use super::{Hangup, Server, labels_of};
use crate::api::{ActiveConstraints, file_name};
use crate::config::{ENVOY, Live, LiveOptions, PluginSettings, ServerOptions};
use crate::plugins::decision_logs::DecisionLogs;
use crate::plugins::{
    DECISION_LOGS, DISCOVERY, Manager, Plugin, PluginState, Registry, STATUS, Start,
};

/// Builder of a [`Server`]. It opens no socket.
#[derive(Default)]
pub struct ServerBuilder {
    engine: Option<Engine>,
    /// Builder of the server's own engine, with its functions.
    own_engine: EngineBuilder,
    options: ServerOptions,
    addresses: Vec<String>,
    config: Option<Value>,
    services: Services,
    plugins: Vec<Start>,
    settings: Option<PluginSettings>,
    hangup: Vec<Hangup>,
    constraints: ActiveConstraints,
}

impl ServerBuilder {
    /// Sets the engine to serve. The program may change and evaluate it as well. Without it, the server creates an engine with the
    /// system's clock, resolver and HTTP client, without environment variables and without metadata services of clouds.
    ///
    /// Clients that may send queries can read everything that the host of an engine exposes. [`solon_host::RestrictedHost`] exposes
    /// chosen variables, [`solon_host::SystemHost`] all of them.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Adds a function that policies may call to the server's own engine. An engine that is passed to [`Self::engine`] keeps the
    /// functions it was built with. The function is never called on a reactor thread.
    ///
    /// # Errors
    /// [`Error::Options`] if there is a function of this name already.
    pub fn function(mut self, function: HostFunction) -> Result<Self, Error> {
        self.own_engine = self.own_engine.function(function.waiting())?;
        Ok(self)
    }

    /// Sets the options. The default is equal to `solon run` without flags.
    #[must_use]
    pub fn options(mut self, options: ServerOptions) -> Self {
        self.options = options;
        self
    }

    /// Adds a listening address: `host:port`, `:port` or `unix://path`. The addresses of the options are used only if none is
    /// added.
    #[must_use]
    pub fn address(mut self, address: &str) -> Self {
        self.addresses.push(address.to_owned());
        self
    }

    /// Sets the object without secrets that `GET /v1/config` returns.
    #[must_use]
    pub fn config(mut self, config: Value) -> Self {
        self.config = Some(config);
        self
    }

    /// Sets the services that decisions may be uploaded to.
    #[must_use]
    pub(crate) fn services(mut self, services: Services) -> Self {
        self.services = services;
        self
    }

    /// Adds a plugin: a part of the server that starts before it listens and runs until it stops. `/v1/status` and the input of
    /// health rules contain its name. If two plugins have the same name, the later one runs.
    #[must_use]
    pub fn plugin<F>(mut self, name: &str, run: impl FnOnce(Plugin) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.plugins.retain(|plugin| plugin.name != name);
        self.plugins.push(Start::new(name, run));
        self
    }

    /// Sets the plugins of a configuration: bundles, discovery and status.
    #[must_use]
    pub(crate) fn plugin_settings(mut self, settings: PluginSettings) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Calls a function for each SIGHUP that the process receives while [`Server::run`] runs.
    #[must_use]
    pub(crate) fn on_hangup(mut self, act: impl Fn() + Send + 'static) -> Self {
        self.hangup.push(Box::new(act));
        self
    }

    /// Sets the constraints that `POST /v0/gatekeeper` decides by. The caller may replace them while the server runs.
    #[must_use]
    pub(crate) fn constraints(mut self, constraints: ActiveConstraints) -> Self {
        self.constraints = constraints;
        self
    }

    /// Builds the server. Without an engine, it gets one whose policies cannot reach metadata services and see no
    /// environment variables.
    pub fn build(self) -> Server {
        let engine = self.engine.unwrap_or_else(|| {
            let host = RestrictedHost::new()
                .networks(NetworkRules::unrestricted().deny_metadata())
                .expose_variables::<&str>([]);
            let builder = self.own_engine.host(Arc::new(host));
            builder.file_name(file_name).build()
        });
        let mut options = self.options;
        if !self.addresses.is_empty() {
            options.addresses = self.addresses;
        }
        let config = self.config.unwrap_or_else(|| Value::object(Vec::new()));
        let names = self.plugins.iter().map(|plugin| plugin.name.as_str());
        let logs = options.decision_logs.as_ref().map(|_| DECISION_LOGS);
        let checks = options.envoy.as_ref().map(|_| ENVOY);
        let names = names
            .chain(options.status.map(|_| STATUS))
            .chain(logs)
            .chain(checks);
        let registry = Arc::new(Registry::new(names));
        if let Some(name) = logs {
            registry.report(name, PluginState::Ok, None);
        }
        let settings = self.settings.map(|settings| {
            let state = match settings.discovery {
                Some(_) => PluginState::NotReady,
                None => PluginState::Ok,
            };
            registry.report(DISCOVERY, state, None);
            settings
        });
        let manager = Manager::new(registry.clone(), settings.unwrap_or_default());
        Server {
            engine,
            decision_logs: DecisionLogs::default(),
            services: self.services,
            labels: labels_of(&config),
            live: Live::new(LiveOptions::from_options(&options, config)),
            options,
            plugins: self.plugins,
            registry,
            manager: Arc::new(manager),
            hangup: self.hangup,
            constraints: self.constraints,
        }
    }
}
