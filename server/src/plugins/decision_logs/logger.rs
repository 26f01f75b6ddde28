//! The log of decisions, from start to stop.

use std::sync::Arc;

use arc_swap::{ArcSwapOption, Guard};
use parking_lot::Mutex;
use tracing::info;

use super::counts::LogCounts;
use super::event::{ErrorForm, Event};
use crate::config::DecisionLogOptions;
use crate::telemetry::CONSOLE;

/// Name of the plugin.
const NAME: &str = "decision_logs";

/// The decision log of a server: the one that runs, or none. Clones share it.
#[derive(Clone, Default)]
pub struct DecisionLogs(Arc<Shared>);

#[derive(Default)]
struct Shared {
    log: ArcSwapOption<DecisionLog>,
    counts: Arc<LogCounts>,
    failure: Arc<Mutex<Option<String>>>,
}

/// A decision log that runs.
pub struct DecisionLog {
    /// How it is configured.
    pub options: DecisionLogOptions,
    /// JSON object with the labels of the server.
    pub labels: Vec<u8>,
    /// What was counted.
    pub counts: Arc<LogCounts>,
    /// Names of the policies among prepared documents. No path of a request begins like them.
    pub drop_key: String,
    /// See `drop_key`.
    pub mask_key: String,
    /// The last failure, until an event is logged.
    failure: Arc<Mutex<Option<String>>>,
}

impl DecisionLogs {
    /// Returns the log that runs, or `None`. The cost is an atomic load.
    pub fn load(&self) -> Guard<Option<Arc<DecisionLog>>> {
        self.0.log.load()
    }

    /// Returns the counters, which outlive each change of the configuration.
    pub fn counts(&self) -> &LogCounts {
        &self.0.counts
    }

    /// Returns the last failure of the log that runs, or `None`.
    pub fn failure(&self) -> Option<String> {
        self.0.failure.lock().clone()
    }

    /// Starts a log, or replaces the one that runs by one with other options. Without options no decision is logged from now on.
    /// Decisions that have begun end in the log that they began with. `labels` is a JSON object.
    pub fn configure(&self, options: Option<&DecisionLogOptions>, labels: &[u8]) {
        let log = options.map(|options| {
            Arc::new(DecisionLog {
                options: options.clone(),
                labels: labels.to_vec(),
                counts: self.0.counts.clone(),
                drop_key: format!("log {}", options.drop_decision),
                mask_key: format!("log {}", options.mask_decision),
                failure: self.0.failure.clone(),
            })
        });
        self.0.log.store(log);
    }
}

impl DecisionLog {
    /// Returns `true` if writing an event may take longer than a reactor may wait.
    pub fn may_block(&self) -> bool {
        false
    }

    /// Reports that an event was not logged.
    pub fn failed(&self, why: String) {
        tracing::error!(plugin = NAME, "{why}");
        *self.failure.lock() = Some(why);
    }

    /// Writes an event to each sink. The mask policy must have been applied.
    ///
    /// # Errors
    /// The event is not logged, and its decision must not be returned.
    pub fn log(&self, event: &Event<'_>) -> Result<(), String> {
        if self.options.console {
            let text = event.text(ErrorForm::Text);
            let text = String::from_utf8_lossy(&text);
            info!(
                target: CONSOLE,
                r#type = "openpolicyagent.org/decision_logs",
                event = &*text,
                "Decision Log"
            );
        }
        self.counts.logged.increment();
        Ok(())
    }
}
