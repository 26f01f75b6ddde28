//! Commands of the command line other than running the service. Each is a function of its options.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use zeroize::Zeroizing;

use crate::api::audit::entry_json;
use crate::changes::token_json;
use crate::config::apply;
use crate::control_plane::{ControlPlane, Options, before};
use crate::db::{Database, DatabaseOptions, DbError, Mode, pending_sql};
use crate::error::ApiError;
use crate::findings::findings;
use crate::model::{Kind, Phase, Role, Status, StatusRecord};
use crate::secrets::{KeySource, Keyring, ServiceKeys};
use crate::sync::FetchOptions;
use crate::worker::{BuildReport, WorkerOptions};

/// `db migrate`: migrates the tables of the database to the latest version and returns the names of the migrations. With
/// `dry_run`, it returns the statements that would run.
///
/// # Errors
/// Files cannot be read, or the database cannot be reached or is newer.
pub async fn migrate(options: &Options, dry_run: bool) -> Result<String, ApiError> {
    let database = database(options)?;
    if dry_run {
        database.log_pending().await?;
        return Ok(pending_sql(&database).await?);
    }
    let report = database.migrate().await?;
    for name in &report.applied {
        tracing::debug!("applied migration {name}");
    }
    if report.applied.is_empty() {
        tracing::debug!("database migrations up to date");
    }
    Ok(report.applied.join("\n"))
}

fn database(options: &Options) -> Result<Database, ApiError> {
    let config = options.load()?;
    let database = options.database(&config.settings);
    if let DatabaseOptions::Sqlite(path) = &database
        && let Some(folder) = path.parent()
    {
        let cannot = |error: std::io::Error| DbError::Unavailable(error.to_string());
        std::fs::create_dir_all(folder).map_err(cannot)?;
    }
    Ok(Database::new(&database)?)
}

/// `run --validate`: reads and checks the configuration files without access to a database. Returns the section
/// `distributed_tracing`, which the program checks.
///
/// # Errors
/// All problems of the files.
pub async fn validate(options: &Options) -> Result<Option<Value>, ApiError> {
    let config = options.load()?;
    options.prefix(&config.settings)?;
    // the options of the database are parsed, but no connection is opened
    let database = options.database(&config.settings);
    options.check_keys(&database)?;
    drop(Database::new(&database)?);
    let database = Database::new(&DatabaseOptions::Memory)?;
    database.migrate().await?;
    let keyring = Keyring::random().map_err(|error| ApiError::internal(error.0))?;
    let keys = ServiceKeys::open(&database, &keyring).await?;
    let applied = apply(&config, None, &database, &keyring, &keys).await;
    applied.map(|_| config.settings.tracing)
}

/// Options of `build`, which fetches and publishes once without storing results.
pub struct OnceOptions {
    /// Limits and folders of fetching.
    pub fetching: FetchOptions,
    /// The variables that revision expressions can read.
    pub environment: BTreeMap<String, String>,
    /// Maximum number of bundles that are built at once. At least 1.
    pub concurrency: usize,
    /// The names of the bundles to build, or all if it is empty.
    pub bundles: Vec<String>,
}

/// `build`: builds and publishes bundles of the configuration files once, without the database of the service. `on_begin` is
/// called with the number of bundles, and `on_end` after each one.
///
/// # Errors
/// All problems of the files, or a bundle that they do not describe.
pub async fn build(
    options: &Options,
    options_of_build: OnceOptions,
    on_begin: impl FnOnce(usize),
    on_end: impl FnMut(&BuildReport),
) -> Result<Vec<BuildReport>, ApiError> {
    if options.config.paths.is_empty() {
        return Err(ApiError::invalid("`--config` must name the configuration"));
    }
    let mut key = Zeroizing::new([0_u8; 32]);
    getrandom::fill(key.as_mut_slice()).map_err(|error| ApiError::internal(error.to_string()))?;
    let options = Options {
        database: Some(DatabaseOptions::Memory),
        keys: KeySource::Text(Zeroizing::new(hex::encode(key.as_slice()))),
        ..options.clone()
    };
    let plane = ControlPlane::open(&options).await?;
    let described_bundles = bundles(plane.database()).await?;
    let absent = |name: &&String| !described_bundles.iter().any(|bundle| bundle.0 == **name);
    if let Some(absent) = options_of_build.bundles.iter().find(absent) {
        let message = format!("the configuration has no bundle {absent:?}");
        return Err(ApiError::invalid(message));
    }
    let is_chosen = |name: &String| {
        options_of_build.bundles.is_empty() || options_of_build.bundles.contains(name)
    };
    let (mut names, mut reports) = (Vec::new(), Vec::new());
    for (name, has_storage) in described_bundles {
        if !is_chosen(&name) {
            continue;
        }
        if has_storage {
            names.push(name);
        } else {
            // the database of this process would be lost
            reports.push(BuildReport {
                bundle: name,
                record: StatusRecord {
                    revision: String::new(),
                    phase: Phase::Push,
                    status: Status::ConfigError,
                    error_message: WITHOUT_STORAGE.to_owned(),
                },
            });
        }
    }
    on_begin(names.len());
    let stages = plane.stages(options_of_build.fetching, options_of_build.environment)?;
    let mut worker = WorkerOptions::new("build");
    worker.concurrency = options_of_build.concurrency;
    let worker = plane.worker(stages.into(), worker);
    reports.extend(worker.build_once(&names, on_end).await?);
    reports.sort_by(|a, b| a.bundle.cmp(&b.bundle));
    Ok(reports)
}

/// Message for a bundle without a storage.
const WITHOUT_STORAGE: &str =
    "object storage: a bundle without `object_storage` is published by `solon control run` only";

/// Returns the names of all bundles, and `true` for those with a storage.
async fn bundles(database: &Database) -> Result<Vec<(String, bool)>, ApiError> {
    let mut transaction = database.begin(Mode::Read).await?;
    let (mut bundles, mut after) = (Vec::new(), 0);
    loop {
        let page = transaction.items_after(Kind::Bundle, after, 1000).await?;
        let Some(last) = page.last() else {
            transaction.roll_back().await;
            return Ok(bundles);
        };
        after = last.head.id;
        for item in page {
            let body: Value = serde_json::from_str(&item.body)
                .map_err(|error| ApiError::internal(error.to_string()))?;
            let has_storage = body.get("object_storage").is_some();
            bundles.push((item.head.name, has_storage));
        }
    }
}

/// `check`: returns what an operator should change in the database, a line for each finding.
///
/// # Errors
/// Files cannot be read, or the database does not exist, cannot be reached, or is newer.
pub async fn check(options: &Options) -> Result<Vec<String>, ApiError> {
    let config = options.load()?;
    findings(&options.database(&config.settings)).await
}

/// `diff`: returns what the configuration files would change in the database, a line for each write.
///
/// # Errors
/// All problems of the files, or the database cannot be reached or has another version.
pub async fn diff(options: &Options) -> Result<Vec<String>, ApiError> {
    ControlPlane::attach(options).await?.preview().await
}

/// `export`: returns the stored items as a configuration file without the values of secrets.
///
/// # Errors
/// The database cannot be reached or has another version.
pub async fn export(options: &Options) -> Result<String, ApiError> {
    let database = database(options)?;
    database.check_version().await?;
    crate::config::export(&database).await
}

/// `audit prune`: deletes the audit entries that are older than `age`, and returns how many there were.
///
/// # Errors
/// Files cannot be read, or the database cannot be reached or has another version.
pub async fn prune_audit(options: &Options, age: Duration) -> Result<u64, ApiError> {
    let database = database(options)?;
    database.check_version().await?;
    Ok(database.prune_audit(before(age)).await?)
}

/// `audit export`: writes every audit entry as JSON, the earliest first.
///
/// # Errors
/// Files cannot be read, or the database cannot be reached or has another version.
pub async fn export_audit(
    options: &Options,
    mut write: impl FnMut(String),
) -> Result<(), ApiError> {
    let database = database(options)?;
    database.check_version().await?;
    let mut after = 0;
    loop {
        let mut transaction = database.begin(Mode::Read).await?;
        let page = transaction.audit_after(after, 100).await;
        transaction.roll_back().await;
        let page = page?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.id;
        for entry in &page {
            write(entry_json(entry)?);
        }
    }
}

/// `secrets rotate`: encrypts every secret with the first key, and returns how many were encrypted with another key. If the
/// service generated its key, this generates another one, which a running service loads at its next start. The previous key
/// still decrypts until the next rotation.
///
/// # Errors
/// Keys cannot be read or written or do not match the database, or the database cannot be reached.
pub async fn rotate_secrets(options: &Options) -> Result<usize, ApiError> {
    let internal_error = |error: crate::secrets::KeyError| ApiError::internal(error.0);
    let database = database(options)?;
    options.check_keys(&options.database(&options.load()?.settings))?;
    let mut keyring = Keyring::open(&options.keys).map_err(internal_error)?;
    if let KeySource::Made(path) = &options.keys {
        keyring.add_key(path).map_err(internal_error)?;
    }
    let changed_count = crate::secrets::rotate(&database, &keyring).await?;
    if let KeySource::Made(path) = &options.keys {
        keyring.forget_earlier(path).map_err(internal_error)?;
    }
    Ok(changed_count)
}

/// `run --reset-persistence`: deletes the data folder before the service starts, except for the key of the secrets.
///
/// # Errors
/// Files cannot be deleted.
pub fn reset(options: &Options) -> std::io::Result<()> {
    for name in ["sqlite.db", "sqlite.db-wal", "sqlite.db-shm"] {
        match std::fs::remove_file(options.data_dir.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// `token create`: creates a token and returns its key, which is not stored. `expires_at` is in microseconds since 1970.
///
/// # Errors
/// The name is taken or invalid, or the database cannot be reached.
pub async fn create_token(
    options: &Options,
    name: &str,
    role: Role,
    expires_at: Option<i64>,
) -> Result<Zeroizing<String>, ApiError> {
    let plane = ControlPlane::attach(options).await?;
    plane.create_token(name, role, expires_at).await
}

/// `token list`: returns every token as JSON, without its key.
///
/// # Errors
/// The database cannot be reached.
pub async fn tokens(options: &Options) -> Result<Vec<serde_json::Value>, ApiError> {
    let tokens = ControlPlane::attach(options).await?.tokens().await?;
    tokens.iter().map(token_json).collect()
}

/// `token revoke`: revokes a token.
///
/// # Errors
/// The token does not exist or is described by a file, or the database cannot be reached.
pub async fn revoke_token(options: &Options, name: &str) -> Result<(), ApiError> {
    ControlPlane::attach(options)
        .await?
        .revoke_token(name)
        .await
}
