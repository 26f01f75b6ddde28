//! Changes of the configuration while the server runs.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use solon::Engine;
use solon_outbound::{ClientOptions, Services};

use super::host::ServerHost;
use super::{Args, files, to_value};
use crate::api::VERSION;
use crate::app::labels_of;
use crate::cli::forms::given;
use crate::cli::version_of;
use crate::config::{Config, Live, LiveOptions};
use crate::plugins::decision_logs::DecisionLogs;
use crate::plugins::{Apply, Manager, NewEngine};
use crate::telemetry::exchange_observer;

/// Configuration of a running server, and the objects that a change of it updates.
pub struct Reload {
    /// Flags, which take precedence over the configuration.
    pub args: Args,
    /// Configuration of the file and the flags, as it was last read.
    pub start: Config,
    /// Latest discovered configuration.
    pub discovered: Option<serde_json::Value>,
    /// Active configuration, which a reload is compared with.
    pub running: Config,
    /// Services of the active configuration.
    pub services: Services,
    /// Id of this server, if the configuration has none.
    pub id: String,
    /// Provides the configuration to policies.
    pub host: Arc<ServerHost>,
    /// Provides the options to requests.
    pub live: Live,
    /// Decision log, which is replaced if its configuration changes.
    pub decision_logs: DecisionLogs,
    /// Provides the settings to plugins.
    pub manager: Arc<Manager>,
    /// The engine that serves. A reload keeps it.
    pub engine: Engine,
    /// Stored bundles that the configuration of the start does not name, until discovery has said whether it does.
    pub former: Vec<String>,
}

impl Reload {
    /// Reads the configuration again and activates it, without an effect on connections and on requests that have started. Logs
    /// each key whose change takes effect after a restart. An invalid configuration changes nothing.
    ///
    /// # Errors
    /// Returns why the configuration is not valid.
    pub fn reload(&mut self) -> Result<(), String> {
        let start = settled_config(&self.args)?;
        self.apply(start, self.discovered.clone()).map(drop)
    }

    /// Activates a discovered configuration, as [`Self::reload`] does. Returns its keys that the startup configuration overrides.
    ///
    /// # Errors
    /// Returns why the configuration is not valid.
    pub fn discover(&mut self, document: &serde_json::Value) -> Result<Vec<String>, String> {
        let overridden = self.apply(self.start.clone(), Some(document.clone()))?;
        let configured = &self.running.settings.plugins.bundles;
        self.former.retain(|name| !configured.contains_key(name));
        files::deactivate(&self.engine, &std::mem::take(&mut self.former))
            .map_err(|error| error.to_string())?;
        Ok(overridden)
    }

    fn apply(
        &mut self,
        start: Config,
        discovered: Option<serde_json::Value>,
    ) -> Result<Vec<String>, String> {
        let (config, overridden) = match &discovered {
            None => (start.clone(), Vec::new()),
            Some(document) => {
                let merged = start.discovered(document)?;
                (merged.config, merged.overridden)
            }
        };
        let (config, postponed) = config.while_running(&self.running)?;
        let options = self.args.options(&config)?;
        let services = services(&self.services, &config)?;
        let runtime_config = to_value(&config.redacted())?;
        let active = to_value(&config.active(&self.id, VERSION))?;
        let labels = labels_of(&active);
        let logs = options.decision_logs.as_ref();
        self.decision_logs.configure(logs, &labels, &services)?;
        // nothing fails from here on
        self.manager.set_decision_logs(logs.is_some());
        self.host.configure(runtime_config);
        self.live
            .replace(LiveOptions::from_options(&options, active));
        self.manager.apply(config.settings.plugins.with(&services));
        for warning in &config.warnings {
            tracing::warn!("{warning}");
        }
        for key in postponed {
            tracing::warn!(key, "The change of this key takes effect after a restart.");
        }
        tracing::info!("Configuration reloaded.");
        self.running = config;
        self.start = start;
        self.discovered = discovered;
        self.services = services;
        Ok(overridden)
    }
}

/// Pause between two reads of a configuration file, which must be equal.
const SETTLED: Duration = Duration::from_millis(50);

/// Maximum number of reads of a configuration file that is being written.
const READS: usize = 40;

/// Reads the configuration once its file no longer changes, because a part of a file can be valid. An empty file is an error:
/// editors and deployments empty a file before they write it.
fn settled_config(args: &Args) -> Result<Config, String> {
    let Some(path) = given(args.config_file.as_deref()) else {
        return args.config();
    };
    let read_config = || std::fs::read(path).ok();
    let mut before = read_config();
    for _ in 0..READS {
        std::thread::sleep(SETTLED);
        let config = args.config();
        let after = read_config();
        if after == before {
            let is_blank = |bytes: Vec<u8>| bytes.iter().all(u8::is_ascii_whitespace);
            return if after.is_some_and(is_blank) {
                Err(format!("{path}: the file is empty"))
            } else {
                config
            };
        }
        before = after;
    }
    Err(format!("{path}: the file is still being written"))
}

/// Returns the services of a configuration. Those that are unchanged since `before` keep their connections.
pub fn services(before: &Services, config: &Config) -> Result<Services, String> {
    let settings = &config.settings;
    before.changed(
        &settings.services,
        &settings.keys,
        &ClientOptions {
            observer: Some(exchange_observer()),
            ..ClientOptions::default()
        },
    )
}

/// Returns a function that activates a discovered configuration.
pub fn on_discovery(reload: &Arc<Mutex<Reload>>) -> Apply {
    let reload = reload.clone();
    Arc::new(move |document| reload.lock().discover(document))
}

/// Returns a function that creates the engines that evaluate discovered configurations. Their policies can read labels and the
/// exposed environment variables.
pub fn new_engine(args: &Args, host: Arc<ServerHost>) -> NewEngine {
    let version = version_of(args.v0_compatible);
    Arc::new(move || {
        let engine = Engine::builder().version(version);
        engine.host(host.clone()).build()
    })
}
