//! Levels of the log of the control plane.

use clap::ValueEnum;

use crate::telemetry::Level;

/// Log levels, as in OPA Control Plane.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum LevelFlag {
    /// Details for debugging the service.
    Debug,
    /// Requests and writes.
    #[default]
    Info,
    /// Warnings and errors.
    Warn,
    /// Errors only.
    Error,
}

impl From<LevelFlag> for Level {
    fn from(flag: LevelFlag) -> Self {
        match flag {
            LevelFlag::Debug => Self::Debug,
            LevelFlag::Info => Self::Info,
            LevelFlag::Warn => Self::Warn,
            LevelFlag::Error => Self::Error,
        }
    }
}
