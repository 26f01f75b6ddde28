//! The options of a server, and their defaults.

use std::time::Duration;

use super::Spelling;

/// Largest request body unless set: 256 MiB.
pub const BODY_LIMIT: usize = 256 << 20;
/// Largest request body after it was unpacked unless set: 512 MiB.
const UNPACKED_LIMIT: usize = 512 << 20;
/// Longest answer that is never packed unless set.
const GZIP_FROM: usize = 1024;

/// How a server runs.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Addresses to listen on.
    pub addresses: Vec<String>,
    /// Permissions of sockets in the file system.
    pub socket_mode: u32,
    /// Whether HTTP/2 is spoken without encryption.
    pub h2c: bool,
    /// Whose names are written.
    pub spelling: Spelling,
    /// Largest request body in bytes.
    pub body_limit: usize,
    /// Largest request body in bytes after it was unpacked.
    pub unpacked_limit: usize,
    /// Answers longer than this are packed for clients that take gzip.
    pub gzip_from: usize,
    /// Path of the document that `POST /` answers with.
    pub default_decision: String,
    /// How long the server goes on serving after it was told to stop.
    pub shutdown_wait: Duration,
    /// How long open requests may take then.
    pub shutdown_grace: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            addresses: vec!["localhost:8181".to_owned()],
            socket_mode: 0o755,
            h2c: false,
            spelling: Spelling::default(),
            body_limit: BODY_LIMIT,
            unpacked_limit: UNPACKED_LIMIT,
            gzip_from: GZIP_FROM,
            default_decision: "/system/main".to_owned(),
            shutdown_wait: Duration::ZERO,
            shutdown_grace: Duration::from_secs(10),
        }
    }
}
