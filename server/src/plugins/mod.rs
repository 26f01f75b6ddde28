//! Plugins: parts of a server that run next to its requests, from start to stop, and their status.
//!
//! - `registry`: states of plugins and bundles
//! - `running`: plugins as tasks: start and end
//! - `decision_logs`: events of decisions, and the sinks that they are written to
//! - `manager`: the owner of the plugins' settings
//! - `bundles`: bundles that are downloaded

mod bundles;
pub mod decision_logs;
mod manager;
mod registry;
mod running;

pub use bundles::{
    Apply, BundleStatus, Configuration, NAME as BUNDLES, NewEngine, run as run_bundles,
    run_discovery,
};
pub use manager::{DECISION_LOGS, DISCOVERY, Manager, STATUS};
pub use registry::{PluginState, Registry};
pub use running::{Plugin, RunningPlugins, Start};
