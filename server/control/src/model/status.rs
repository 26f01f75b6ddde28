//! Status records of building and pushing a bundle.

use serde::Serialize;

/// Phase of a build, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Phase {
    /// Sources were fetched.
    Sync,
    /// Fetched data was transformed.
    Transform,
    /// The bundle was built.
    Build,
    /// The bundle was stored in its storage.
    Push,
}

/// Result of a phase. Its JSON is the name in upper case, such as `"SYNC_FAILED"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// The bundle is published.
    Success,
    /// An internal error of the service.
    InternalError,
    /// The bundle cannot be built as it is described.
    ConfigError,
    /// A source could not be fetched.
    SyncFailed,
    /// A named resource does not exist or may not be read.
    UserError,
    /// A transformation of fetched data failed.
    TransformFailed,
    /// The sources were fetched but do not form a bundle.
    BuildFailed,
    /// The bundle could not be stored in its storage.
    PushFailed,
    /// The service was stopped.
    Cancelled,
    /// The result is unknown.
    Unknown,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 4] = [Self::Sync, Self::Transform, Self::Build, Self::Push];

    /// Returns the name of the phase in records, such as `SYNC`.
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
    /// Every status, in the order of declaration.
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

    /// Returns the name of the status in records, such as `SYNC_FAILED`.
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

/// Failure of a phase, which ends the build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The phase that failed.
    pub phase: Phase,
    /// The result, which is not [`Status::Success`].
    pub status: Status,
    /// The message for the status record. It contains no secret.
    pub message: String,
}

/// The result of an attempt to build and publish a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusRecord {
    /// The revision. Empty if it was not known yet.
    pub revision: String,
    /// The last phase that ran.
    pub phase: Phase,
    /// The result of that phase.
    pub status: Status,
    /// The error message. Empty if there is none.
    pub error_message: String,
}
