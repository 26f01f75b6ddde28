//! Every limit of the control plane.

/// Maximum length of a name of a bundle, source, stack, secret or token, in bytes.
pub const NAME: usize = 1024;

/// Minimum length of a token key in a configuration file, in characters.
pub const TOKEN_KEY: usize = 32;

/// Maximum length of a path of a document of source data, in bytes. It must fit into an index of every database.
pub const DATA_PATH: usize = 1024;

/// Maximum length of a text field, in bytes.
pub const TEXT: usize = 1 << 20;

/// Maximum size of a body that describes a bundle, a source, a stack, a secret or a token, in bytes.
pub const RESOURCE_BODY: usize = 16 << 20;

/// Maximum size of a document of source data, in bytes.
pub const DATA_BODY: usize = 64 << 20;

/// Maximum size of a pretty-printed response, in bytes. A longer one is returned on one line.
pub const PRETTY: usize = 128 << 20;

/// Maximum number of requirements, labels or datasources of one item.
pub const PARTS: usize = 100_000;

/// Maximum number of problems in one error message.
pub const PROBLEMS: usize = 10;

/// Maximum number of users that an error message lists for an item in use.
pub const USERS: usize = 100;

/// Default and maximum number of items per page.
pub const PAGE: usize = 100;

/// Default and maximum number of status records per page.
pub const STATUS_PAGE: usize = 10;

/// Number of status records stored for each bundle.
pub const STATUSES: i64 = 100;

/// Number of finished builds stored for each bundle.
pub const BUILD_ATTEMPTS: i64 = 100;

/// Maximum length of the message of a status record, in bytes.
pub const STATUS_MESSAGE: usize = 8 << 10;

/// Maximum length of the revision of a status record, in bytes.
pub const REVISION: usize = 512;

/// Maximum number of connections to a database server, and of readers of SQLite.
pub const CONNECTIONS: usize = 8;

/// Number of due bundles that one query returns.
pub const DUE_BUNDLES: i64 = 1000;

/// Minimum rebuild interval of a bundle, in seconds.
pub const REBUILD_INTERVAL: i64 = 1;

/// Maximum length of a glob, in bytes.
pub const GLOB: usize = 4096;

/// Seconds between two updates of the last use of a key.
pub const LAST_USED_SECONDS: i64 = 60;

/// Maximum length of a stored request id, in characters.
pub const REQUEST_ID: usize = 64;

/// Maximum number of files of a configuration.
pub const CONFIG_FILES: usize = 10_000;

pub const SOURCE_FILES: usize = 100_000;

/// Maximum size of the files of a source, in bytes.
pub const SOURCE_BYTES: u64 = 1 << 30;

/// Maximum size of a path in a source, in bytes.
pub const SOURCE_PATH: usize = 4096;

/// Maximum number of nested folders of a source.
pub const SOURCE_FOLDERS: usize = 64;

/// Hours that files of a source stay in its folder after the last fetch that used them, for builds that read them.
pub const UNUSED_FILE_HOURS: u64 = 24;

/// Size of a piece of an archive in the database, in bytes. Part of the format: the offset of a piece is computed from it.
pub const ARTIFACT_PIECE: usize = 1 << 20;

/// Default number of revisions that are kept for each bundle, in addition to the active one.
pub const ARTIFACTS: usize = 10;

/// Maximum size of an archive, in bytes.
pub const ARTIFACT: usize = 1 << 30;

/// Maximum time of each request that publishes to an object store, in seconds.
pub const PUSH_SECONDS: u64 = 300;

/// Maximum number of seconds that a download waits for a change.
pub const LONG_POLL_SECONDS: u64 = 600;

/// Maximum size of a message of Git that is part of a status record, in bytes.
pub const GIT_MESSAGE: usize = 2048;

/// Maximum size of a listing or of the errors of Git, in bytes.
pub const GIT_OUTPUT: usize = 64 << 20;

/// Maximum number of files of packs of a private copy of a Git repository. A copy with more is fetched again.
pub const GIT_PACK_FILES: usize = 192;

/// Default of the maximum size of the private copy of a Git repository, in bytes.
pub const GIT_REPOSITORY: u64 = 2 << 30;

/// Default of the maximum time of a call of Git, in seconds.
pub const GIT_SECONDS: u64 = 600;

/// Default of the maximum size of a document of a data source, in bytes.
pub const DATASOURCE_BYTES: usize = DATA_BODY;

/// Default of the maximum time of fetching a document of a data source, in seconds.
pub const DATASOURCE_SECONDS: u64 = 300;

/// Maximum time until the head of the response of a data source, in seconds.
pub const DATASOURCE_HEAD_SECONDS: u64 = 30;

/// Maximum number of sources whose versions of documents are kept in memory.
pub const DATASOURCES: usize = 100_000;

/// Default of the maximum time of a transformation, in seconds.
pub const TRANSFORM_SECONDS: u64 = 30;

/// Default of the maximum memory of a transformation, in bytes.
pub const TRANSFORM_BYTES: usize = 1 << 30;

/// Maximum number of issuers whose tokens are kept in memory.
pub const TOKEN_ISSUERS: usize = 1000;

/// Maximum number of repositories whose credentials are known to have been accepted.
pub const CHECKED_REPOSITORIES: usize = 10_000;

/// Maximum total number of files whose commits are kept in memory: about 50 MB of paths. Beyond it, each check lists its files.
pub const KEPT_FILES: usize = 200_000;

/// Maximum total size of the texts of bundles that stay parsed between builds, in bytes. Sources and stacks have as much.
pub const PARSED_ITEMS: usize = 32 << 20;

/// Maximum number of times that the sources of one bundle are mounted.
pub const VISITS: usize = 10_000;

/// Maximum length of the revision of a bundle, in bytes.
pub const BUNDLE_REVISION: usize = 255;

/// Maximum number of loop iterations and calls of a revision expression.
pub const REVISION_STEPS: u64 = 1_000_000;

/// Maximum time of a revision expression, in seconds.
pub const REVISION_SECONDS: u64 = 5;

/// Number of requests of builds stored for each bundle.
pub const BUILD_REQUESTS: i64 = 1000;

/// Maximum size of the body of a webhook, in bytes. Anonymous clients can make the service buffer as much.
pub const WEBHOOK_BODY: usize = 4 << 20;

/// Number of deliveries of webhooks that are remembered for each source.
pub const WEBHOOK_DELIVERIES: i64 = 1000;

/// Minimum time between two fetches of a source that webhooks trigger, in microseconds.
pub const WEBHOOK_PAUSE: i64 = 5_000_000;

/// Lifetime of a session of the page, in seconds.
pub const SESSION_SECONDS: i64 = 8 * 3600;

/// Maximum number of sessions of a token.
pub const SESSIONS: i64 = 32;

/// Maximum size of a form of the page, in bytes.
pub const FORM_BODY: usize = 16 << 10;

pub const PAGE_ROWS: usize = 50;
