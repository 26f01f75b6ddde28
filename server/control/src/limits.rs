//! Every bound of the control plane.

/// Longest name of a bundle, source, stack, secret or token, in bytes.
pub const NAME: usize = 1024;

/// Shortest key of a token in a configuration file, in characters.
pub const TOKEN_KEY: usize = 32;

/// Longest path of a document of source data, in bytes; an index of every database holds it.
pub const DATA_PATH: usize = 1024;

/// Longest text of one field, in bytes.
pub const TEXT: usize = 1 << 20;

/// Largest body that describes a bundle, a source, a stack, a secret or a token, in bytes.
pub const RESOURCE_BODY: usize = 16 << 20;

/// Largest document of source data, in bytes.
pub const DATA_BODY: usize = 64 << 20;

/// Longest answer that is formatted for humans, in bytes; a longer one comes on one line.
pub const PRETTY: usize = 128 << 20;

/// Most requirements, labels or datasources of one item.
pub const PARTS: usize = 100_000;

/// Most problems that one refusal tells.
pub const PROBLEMS: usize = 10;

/// Most users that a refusal names of what is in use.
pub const USERS: usize = 100;

/// Items of a page, unless fewer are asked for.
pub const PAGE: usize = 100;

/// Status records of a page, unless fewer are asked for.
pub const STATUS_PAGE: usize = 10;

/// Status records that are kept of a bundle.
pub const STATUSES: i64 = 100;

/// Longest message of a status record, in bytes.
pub const STATUS_MESSAGE: usize = 8 << 10;

/// Longest revision of a status record, in bytes.
pub const REVISION: usize = 512;

/// Connections to a database server, and readers of SQLite.
pub const CONNECTIONS: usize = 8;

/// Shortest rebuild interval of a bundle, in seconds.
pub const REBUILD_INTERVAL: i64 = 1;

/// Longest glob, in bytes.
pub const GLOB: usize = 4096;

/// Seconds between two notes of when a key was last used.
pub const LAST_USED_SECONDS: i64 = 60;

/// Longest number of a request that is kept, in characters.
pub const REQUEST_ID: usize = 64;

/// How many files a configuration may have.
pub const CONFIG_FILES: usize = 10_000;
