//! What became of building and pushing a bundle.

use serde::Serialize;

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Phase {
    /// Sources were fetched.
    Sync,
    /// Fetched data was transformed.
    Transform,
    /// The bundle was built.
    Build,
    /// The bundle was put where it belongs.
    Push,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// Well.
    Success,
    /// By a fault of the service.
    InternalError,
    /// The bundle cannot be built as it is described.
    ConfigError,
    /// A source could not be fetched.
    SyncFailed,
    /// What was named does not exist, or may not be read.
    UserError,
    /// A transformation failed.
    TransformFailed,
    /// The build failed.
    BuildFailed,
    /// The bundle could not be put where it belongs.
    PushFailed,
    /// The service was stopped.
    Cancelled,
    /// Nobody knows.
    Unknown,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 4] = [Self::Sync, Self::Transform, Self::Build, Self::Push];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sync => "SYNC",
            Self::Transform => "TRANSFORM",
            Self::Build => "BUILD",
            Self::Push => "PUSH",
        }
    }
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 10] = [
        Self::Success,
        Self::InternalError,
        Self::ConfigError,
        Self::SyncFailed,
        Self::UserError,
        Self::TransformFailed,
        Self::BuildFailed,
        Self::PushFailed,
        Self::Cancelled,
        Self::Unknown,
    ];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "SUCCESS",
            Self::InternalError => "INTERNAL_ERROR",
            Self::ConfigError => "CONFIG_ERROR",
            Self::SyncFailed => "SYNC_FAILED",
            Self::UserError => "USER_ERROR",
            Self::TransformFailed => "TRANSFORM_FAILED",
            Self::BuildFailed => "BUILD_FAILED",
            Self::PushFailed => "PUSH_FAILED",
            Self::Cancelled => "CANCELLED",
            Self::Unknown => "UNKNOWN",
        }
    }
}

/// An outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The revision; empty where it was not known yet.
    pub revision: String,
    /// What was being done.
    pub phase: Phase,
    /// How it ended.
    pub status: Status,
    /// What went wrong; empty where nothing did.
    pub error_message: String,
}
