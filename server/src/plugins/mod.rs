//! Plugins: parts of a server that run beside its requests, from start to stop, and what is known of them.
//!
//! | file | holds |
//! |---|---|
//! | `registry` | the states of all plugins, and the bundles that they brought |
//! | `running` | plugins as tasks: how they begin and end |
//! | `decision_logs` | an event for each decision, and where events are written |
//! | `bundle` | what is known of a bundle |

mod bundle;
pub mod decision_logs;
mod registry;
mod running;

pub use bundle::BundleStatus;
pub use registry::{PluginState, Registry};
pub use running::{Plugin, Start, Started};
