//! Changes of the configuration while the server runs.

use std::sync::Arc;

use solon_outbound::Services;

use super::host::ServerHost;
use super::{Args, services, to_value};
use crate::api::VERSION;
use crate::app::labels_of;
use crate::config::{Config, Live, LiveOptions};
use crate::plugins::decision_logs::DecisionLogs;

/// The configuration of a running server, and where a change of it takes effect.
pub struct Reload {
    /// The flags, which take precedence over the configuration.
    pub args: Args,
    /// The configuration that is in force.
    pub running: Config,
    /// The services of that configuration.
    pub services: Services,
    /// The name of this server, where the configuration has none.
    pub id: String,
    /// What policies see of the configuration.
    pub host: Arc<ServerHost>,
    /// What requests see of it.
    pub live: Live,
    /// The decision log, which is replaced if its configuration changes.
    pub decision_logs: DecisionLogs,
}

impl Reload {
    /// Reads the configuration again and puts it into force, without an effect on connections and on requests that have started. Logs
    /// each key whose change takes effect after a restart. A configuration that is not valid changes nothing.
    ///
    /// # Errors
    /// Why the configuration is not valid.
    pub fn reload(&mut self) -> Result<(), String> {
        let (config, postponed) = self.args.config()?.while_running(&self.running)?;
        let options = self.args.options(&config)?;
        let services = services(&self.services, &config)?;
        let told = to_value(&config.told())?;
        let active = to_value(&config.active(&self.id, VERSION))?;
        let labels = labels_of(&active);
        let logs = options.decision_logs.as_ref();
        self.decision_logs.configure(logs, &labels, &services)?;
        // nothing fails from here on
        self.host.configure(told);
        self.live.replace(LiveOptions::of(&options, active));
        for warning in &config.warnings {
            tracing::warn!("{warning}");
        }
        for key in postponed {
            tracing::warn!(key, "The change of this key takes effect after a restart.");
        }
        tracing::info!("Configuration reloaded.");
        self.running = config;
        self.services = services;
        Ok(())
    }
}
