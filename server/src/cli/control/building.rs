//! Options of building bundles, and the start of the worker.

use std::path::PathBuf;
use std::sync::Arc;

use solon_control::commands::OnceOptions;
use solon_control::sync::FetchOptions;
use solon_control::trace::Tracer;
use solon_control::worker::WorkerOptions;
use solon_control::{ApiError, ControlPlane};
use solon_outbound::NetworkRules;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::telemetry::{StageTracer, is_traced};

/// Options of building bundles.
#[derive(clap::Args)]
pub struct BuildingArgs {
    /// Serve the API without building bundles, which other instances on the same database do.
    #[arg(long)]
    no_build: bool,
    #[command(flatten)]
    stages: StageArgs,
}

/// Options of fetching and building.
#[derive(clap::Args)]
pub struct StageArgs {
    /// Folder of built-in libraries, one folder each; they replace the program's own of the same name.
    #[arg(long, value_name = "DIR")]
    builtins: Option<PathBuf>,
    /// Maximum number of bundles that are built at the same time.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// Environment variables that revision expressions can read; can be repeated or separated by commas.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    expose_env: Vec<String>,
    /// Reject sources and object stores at loopback, link-local and private addresses.
    #[arg(long)]
    deny_private_networks: bool,
}

impl StageArgs {
    /// Returns the options of fetching, the exposed variables, and the number of bundles that are built at once.
    pub fn options(self) -> OnceOptions {
        let networks = NetworkRules::unrestricted().deny_metadata();
        let fetching = FetchOptions {
            builtins: self.builtins,
            networks: if self.deny_private_networks {
                networks.deny_private()
            } else {
                networks
            },
            ..FetchOptions::default()
        };
        let names = self.expose_env.into_iter();
        let variables = names.filter_map(|name| {
            let value = std::env::var(&name).ok()?;
            Some((name, value))
        });
        OnceOptions {
            fetching,
            environment: variables.collect(),
            concurrency: self.concurrency.into(),
            bundles: Vec::new(),
        }
    }
}

impl BuildingArgs {
    /// Starts the worker, which ends after `stop_signal` becomes `true`.
    ///
    /// # Errors
    /// The data folder cannot be used.
    pub fn start(
        self,
        plane: &ControlPlane,
        mut stop_signal: watch::Receiver<bool>,
    ) -> Result<JoinHandle<()>, ApiError> {
        if self.no_build {
            return Ok(tokio::spawn(async {}));
        }
        let stages = self.stages.options();
        let concurrency = stages.concurrency;
        let stages = plane.stages(stages.fetching, stages.environment)?;
        let mut options = WorkerOptions::new(instance());
        options.concurrency = concurrency;
        options.tracer = is_traced().then(|| Arc::new(StageTracer) as Arc<dyn Tracer>);
        let worker = plane.worker(stages.into(), options);
        Ok(tokio::spawn(async move {
            let stop = async move {
                // without a sender the service has ended
                let _ = stop_signal.wait_for(|stop_signal| *stop_signal).await;
            };
            worker.run(stop).await;
        }))
    }
}

/// Returns a name that no other instance has: random, or with the id of the process.
fn instance() -> String {
    crate::plugins::decision_logs::new_id()
        .unwrap_or_else(|| format!("process-{}", std::process::id()))
}
