//! Configuration files: items that are described in files, and settings of the service.
//!
//! Files are merged in order (`files`), environment variables are expanded (`environment`), and everything is parsed and
//! checked (`root`). The items are then written to the database in one transaction ([`apply`]).

mod apply;
mod environment;
mod files;
mod generation;
mod preview;
mod root;
mod settings;
mod unique;

pub use apply::{Applied, apply};
pub use files::{ConfigFiles, fingerprint};
pub use preview::{export, preview};
pub use root::Config;
pub use settings::{MetricsSettings, Settings, check_prefix};

use std::fmt;

/// The problems of configuration files, one per line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub Vec<String>);

impl ConfigError {
    fn one(message: impl Into<String>) -> Self {
        Self(vec![message.into()])
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "configuration error: {}", self.0.join("\n"))
    }
}

impl std::error::Error for ConfigError {}
