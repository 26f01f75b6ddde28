//! Plugins: parts of a server that run next to its requests, from start to stop, and their status.
//!
//! | file | contains |
//! |---|---|
//! | `registry` | the states of all plugins, and the bundles that they brought |
//! | `running` | plugins as tasks: how they begin and end |
//! | `decision_logs` | an event for each decision, and where events are written |
//! | `manager` | the owner of the plugins' settings |
//! | `backoff` | delays between requests to services |
//! | `bundles` | bundles that are downloaded |

mod backoff;
mod bundles;
pub mod decision_logs;
mod manager;
mod registry;
mod running;

pub use bundles::{
    Apply, BundleStatus, Configuration, NAME as BUNDLES, NewEngine, run as run_bundles,
    run_discovery,
};
pub use manager::{DISCOVERY, Manager, STATUS};
pub use registry::{PluginState, Registry};
pub use running::{Plugin, Start, Started};
