//! The control plane: database, keys and API.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use zeroize::Zeroizing;

use crate::access::Access;
use crate::api::{Metrics, Service, ServiceState};
use crate::changes::{Actor, Changing};
use crate::config::{
    Applied, Config, ConfigFiles, Settings, apply, check_prefix, fingerprint, preview,
};
use crate::db::{Database, DatabaseOptions, Dialect, Holder, Mode, Transaction};
use crate::error::{ApiError, ApiErrorKind};
use crate::limits;
use crate::model::{Compat, Kind, Role, StatusRecord};
use crate::secrets::{KeySource, Keyring, ServiceKeys};
use crate::storage::{ArtifactStore, StorageOptions};
use crate::sync::{FetchOptions, Fetcher};
use crate::worker::{BuildMetrics, BundleStages, Stages, Worker, WorkerOptions};

/// Options of a control plane.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database. If neither this nor a configuration file sets it, it is a file in the data folder.
    pub database: Option<DatabaseOptions>,
    /// The folder for local data: the database if it is SQLite, and a generated key.
    pub data_dir: PathBuf,
    /// The keys that encrypt secrets.
    pub keys: KeySource,
    /// Decides whether unknown fields are rejected.
    pub compat: Compat,
    /// The prefix of each path: empty, or `/…` without a trailing slash.
    pub api_prefix: String,
    /// Configuration files, which are merged in order.
    pub config: ConfigFiles,
    /// Retention of audit entries, which overrides the files. `Some(None)` is unlimited.
    pub audit_retention: Option<Option<Duration>>,
    /// Number of built revisions that are kept for each bundle, in addition to the active one. At least 1.
    pub kept_revisions: usize,
    /// `true` if the tables of a database server are migrated to the latest version. Tables of SQLite always are.
    pub apply_migrations: bool,
    /// Maximum time to wait for a database server that is starting.
    pub database_wait: Duration,
}

impl Options {
    /// Returns options that store everything in one folder: SQLite, and a generated key.
    pub fn in_folder(data_dir: impl Into<PathBuf>) -> Self {
        let data_dir = data_dir.into();
        Self {
            database: None,
            keys: KeySource::Made(data_dir.join("secrets.key")),
            data_dir,
            compat: Compat::Strict,
            api_prefix: String::new(),
            config: ConfigFiles::default(),
            audit_retention: None,
            kept_revisions: limits::ARTIFACTS,
            apply_migrations: false,
            database_wait: Duration::ZERO,
        }
    }

    /// Returns the database of the options, of the files, or a file in the data folder.
    pub(crate) fn database(&self, settings: &Settings) -> DatabaseOptions {
        let database = self.database.clone().or_else(|| settings.database.clone());
        database.unwrap_or_else(|| DatabaseOptions::Sqlite(self.data_dir.join("sqlite.db")))
    }

    /// Rejects a generated key for a database that several machines may share. The other machines would not have the key,
    /// and this machine would lose it with its data folder.
    pub(crate) fn check_keys(&self, database: &DatabaseOptions) -> Result<(), ApiError> {
        let KeySource::Made(path) = &self.keys else {
            return Ok(());
        };
        if !database.is_remote() {
            return Ok(());
        }
        let instead = if path.exists() {
            format!(
                "`--secrets-key-file {}` keeps the key that was generated before",
                path.display()
            )
        } else {
            "`openssl rand -base64 32` makes one".to_owned()
        };
        Err(ApiError::invalid(format!(
            "the database is a server, so the key for secrets is not generated: set `--secrets-key-file` or SOLON_SECRETS_KEY to a key that every replica has; {instead}"
        )))
    }

    /// Returns the prefix of each path, from the options or from the files.
    pub(crate) fn prefix(&self, settings: &Settings) -> Result<String, ApiError> {
        if self.api_prefix.is_empty() {
            return Ok(settings.api_prefix.clone().unwrap_or_default());
        }
        check_prefix(&self.api_prefix)
            .map_err(|message| ApiError::invalid(format!("the prefix of the API {message}")))?;
        Ok(self.api_prefix.trim_end_matches('/').to_owned())
    }

    /// Loads the configuration files, which may refer to variables of the environment. Blocks.
    ///
    /// # Errors
    /// A file cannot be read, or the configuration is not valid.
    pub(crate) fn load(&self) -> Result<Config, ApiError> {
        let variables = |name: &str| std::env::var(name).ok();
        Config::load(&self.config, self.compat, &variables)
            .map_err(|error| ApiError::invalid(error.to_string()))
    }
}

/// Log message if the files of this process are older than the configuration in force.
const SUPERSEDED: &str = "the configuration was not applied: a process that was started later, or files with a larger `metadata.generation`, have changed it; start again to apply these files";

/// A control plane: a database, its keys and the API over them. Clones share all three.
#[derive(Clone)]
pub struct ControlPlane {
    state: Arc<ServiceState>,
    options: Arc<Options>,
    /// Fingerprint of the configuration files that were loaded at the start.
    loaded: Option<Arc<[u8]>>,
    /// The generation of the configuration that this process has applied.
    generation: Arc<AtomicI64>,
    audit_retention: Option<Duration>,
    builds: BuildMetrics,
    /// The section `distributed_tracing` of the configuration.
    tracing: Option<Value>,
}

impl ControlPlane {
    /// Opens the database and migrates its tables to the latest version if the options allow it.
    ///
    /// # Errors
    /// The database cannot be reached or has another version, or keys cannot be read or do not match the database.
    pub async fn open(options: &Options) -> Result<Self, ApiError> {
        Self::open_with(options, true).await
    }

    /// Opens the database as [`ControlPlane::open`] does, but does not apply the configuration files.
    ///
    /// # Errors
    /// See [`ControlPlane::open`].
    pub async fn attach(options: &Options) -> Result<Self, ApiError> {
        Self::open_with(options, false).await
    }

    async fn open_with(options: &Options, with_files: bool) -> Result<Self, ApiError> {
        // computed before the files are read, so that files that change in the meantime are loaded again
        let loaded = fingerprint(&options.config).map(Arc::from);
        let config = options.load()?;
        let kind = options.database(&config.settings);
        options.check_keys(&kind)?;
        if !matches!(kind, DatabaseOptions::Memory) {
            std::fs::create_dir_all(&options.data_dir).map_err(|error| {
                let folder = options.data_dir.display();
                ApiError::internal(format!("cannot make the folder {folder}: {error}"))
            })?;
        }
        let mut database = Database::new(&kind)?;
        let mut metrics = Metrics::new(&config.settings.metrics);
        let builds = BuildMetrics::new(&config.settings.metrics);
        metrics.register(|registry| builds.register(registry));
        database.observe(metrics.observer());
        database.wait_until_ready(options.database_wait).await;
        if options.apply_migrations || database.dialect() == Dialect::Sqlite {
            let report = database.migrate().await?;
            if !report.applied.is_empty() {
                tracing::info!(migrations = report.applied.len(), "the tables were changed");
            }
        } else {
            database.check_version().await?;
        }
        let keyring = Keyring::open(&options.keys).map_err(|error| ApiError::internal(error.0))?;
        let keyring = Arc::new(keyring);
        let keys = ServiceKeys::open(&database, &keyring).await?;
        let access = Access::new(database.dialect())?;
        // archives in a file of SQLite would make every backup of it large
        let in_files = matches!(kind, DatabaseOptions::Sqlite(_));
        let folder = in_files.then(|| options.data_dir.clone());
        let artifacts = ArtifactStore::new(database.clone(), folder, options.kept_revisions);
        artifacts.remove_garbage().await?;
        let state = ServiceState {
            artifacts,
            database,
            keyring,
            keys,
            access,
            compat: options.compat,
            prefix: options.prefix(&config.settings)?,
            metrics,
            is_ready: AtomicBool::new(true),
            touching: parking_lot::Mutex::default(),
            unnumbered: AtomicU64::new(0),
        };
        let generation = AtomicI64::new(0);
        if with_files && !options.config.paths.is_empty() {
            let ServiceState {
                database,
                keyring,
                keys,
                ..
            } = &state;
            let applied = apply(&config, None, database, keyring, keys).await?;
            if applied.is_superseded {
                tracing::warn!("{SUPERSEDED}");
            }
            generation.store(applied.generation, Ordering::Release);
        }
        Ok(Self {
            state: Arc::new(state),
            options: Arc::new(options.clone()),
            loaded,
            generation: Arc::new(generation),
            builds,
            tracing: config.settings.tracing,
            audit_retention: options
                .audit_retention
                .or(config.settings.audit_retention)
                .flatten(),
        })
    }

    /// Returns what the configuration files would change, a line for each write.
    ///
    /// # Errors
    /// All problems of the files, or the database cannot be reached.
    pub(crate) async fn preview(&self) -> Result<Vec<String>, ApiError> {
        if self.options.config.paths.is_empty() {
            return Err(ApiError::invalid("`--config` must name the configuration"));
        }
        let config = self.options.load()?;
        let ServiceState {
            database,
            keyring,
            keys,
            ..
        } = &*self.state;
        preview(&config, database, keyring, keys).await
    }

    /// Reads the configuration files again and applies their items in one transaction. Settings of the service stay as they
    /// were at its start. Without files nothing changes.
    ///
    /// # Errors
    /// All problems of the files, or the database cannot be reached.
    pub async fn reload(&self) -> Result<Applied, ApiError> {
        if self.options.config.paths.is_empty() {
            return Ok(Applied::default());
        }
        let config = self.options.load()?;
        let ServiceState {
            database,
            keyring,
            keys,
            ..
        } = &*self.state;
        let known_generation = self.generation.load(Ordering::Acquire);
        let applied = apply(&config, Some(known_generation), database, keyring, keys).await?;
        self.generation.store(applied.generation, Ordering::Release);
        Ok(applied)
    }

    /// Reloads the configuration files as [`ControlPlane::reload`] does, and logs the result. Returns `false` if a retry
    /// may succeed because the database could not be reached.
    pub async fn reload_and_log(&self) -> bool {
        match self.reload().await {
            Ok(Applied {
                is_superseded: true,
                ..
            }) => {
                tracing::warn!("{SUPERSEDED}");
                true
            }
            Ok(Applied {
                written,
                removed,
                left,
                ..
            }) => {
                let left = left.join(", ");
                tracing::info!(written, removed, left, "the configuration was loaded again");
                true
            }
            Err(error) => {
                tracing::error!(%error, "the configuration was not loaded again");
                !matches!(error.kind, ApiErrorKind::Unavailable | ApiErrorKind::Busy)
            }
        }
    }

    /// Reloads the configuration files whenever they change, until the future is dropped. If loading fails, the error is
    /// logged and the previous configuration stays in force.
    pub async fn watch(&self, pause: Duration) {
        let mut last_fingerprint = self.loaded.clone();
        loop {
            tokio::time::sleep(pause).await;
            let now = fingerprint(&self.options.config).map(Arc::from);
            // files that are being written may be unreadable for a short time
            if now.is_some() && now != last_fingerprint && self.reload_and_log().await {
                last_fingerprint = now;
            }
        }
    }

    /// Deletes expired audit entries every hour, until the future is dropped. Without a retention, entries are never
    /// deleted. The log reports which of both applies.
    pub async fn prune_audit(&self) {
        let Some(retention) = self.audit_retention else {
            tracing::info!("entries of the audit are kept for ever: `--audit-retention` is off");
            return;
        };
        let hours = retention.as_secs() / 3600;
        tracing::info!(
            hours,
            "entries of the audit are removed when they are older"
        );
        loop {
            let before = before(retention);
            match self.state.database.prune_audit(before).await {
                Ok(0) => {}
                Ok(removed) => tracing::info!(removed, "old entries of the audit were removed"),
                Err(error) => tracing::warn!(%error, "old entries of the audit were not removed"),
            }
            tokio::time::sleep(Duration::from_hours(1)).await;
        }
    }

    /// Returns the API. It shares the state of this control plane.
    pub fn service(&self) -> Service {
        Service::new(self.state.clone())
    }

    /// Creates a worker that builds the bundles of this control plane.
    pub fn worker<S: Stages>(&self, stages: Arc<S>, options: WorkerOptions) -> Worker<S> {
        let ServiceState {
            database, keyring, ..
        } = &*self.state;
        let builds = self.builds.clone();
        Worker::new(stages, database.clone(), keyring.clone(), options, builds)
    }

    /// Returns the stages that fetch, build and publish the bundles of this control plane. `environment` are the variables that
    /// revision expressions can read.
    ///
    /// # Errors
    /// The data folder cannot be created.
    pub fn stages(
        &self,
        mut fetching: FetchOptions,
        environment: BTreeMap<String, String>,
    ) -> Result<BundleStages, ApiError> {
        fetching.data.clone_from(&self.options.data_dir);
        fetching.compat = self.options.compat;
        let storage = StorageOptions {
            networks: fetching.networks.clone(),
            ..self.storage_options()
        };
        Ok(BundleStages {
            fetcher: Fetcher::new(fetching)?,
            storage,
            compat: self.options.compat,
            environment,
            metrics: self.builds.git.clone(),
        })
    }

    /// Returns the section `distributed_tracing` of the configuration, if there is one.
    pub fn tracing(&self) -> Option<&Value> {
        self.tracing.as_ref()
    }

    /// Returns the database, which the API uses as well.
    pub fn database(&self) -> &Database {
        &self.state.database
    }

    /// Returns the options of the storages of bundles. Relative paths of files begin in the working directory.
    pub fn storage_options(&self) -> StorageOptions {
        StorageOptions {
            artifacts: self.state.artifacts.clone(),
            folder: PathBuf::new(),
            private: self.options.data_dir.clone(),
            networks: solon_outbound::NetworkRules::unrestricted().deny_metadata(),
        }
    }

    /// Returns the archives of built bundles.
    pub fn artifacts(&self) -> &ArtifactStore {
        &self.state.artifacts
    }

    /// Sets the readiness that `/health` reports.
    pub fn set_ready(&self, is_ready: bool) {
        self.state.is_ready.store(is_ready, Ordering::Release);
    }

    /// Creates a token and returns its key, which is not stored.
    ///
    /// # Errors
    /// The name is taken or invalid, or the database cannot be reached.
    pub async fn create_token(
        &self,
        name: &str,
        role: Role,
        expires_at: Option<i64>,
    ) -> Result<Zeroizing<String>, ApiError> {
        let keys = &self.state.keys;
        let mut transaction = self.state.database.begin(Mode::Write).await?;
        let mut changing = by_operator(&mut transaction);
        let issued = changing.create_token(keys, name, role, expires_at).await;
        Ok(transaction.settle(issued).await?.key)
    }

    /// Returns every token.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn tokens(&self) -> Result<Vec<Holder>, ApiError> {
        let mut transaction = self.state.database.begin(Mode::Read).await?;
        let mut all = Vec::new();
        loop {
            let after = all.last().map_or(0, |last: &Holder| last.id);
            let page = transaction.tokens_after(after, 1000).await?;
            if page.is_empty() {
                transaction.roll_back().await;
                return Ok(all);
            }
            all.extend(page);
        }
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// The token does not exist or is described by a file, or the database cannot be reached.
    pub async fn revoke_token(&self, name: &str) -> Result<(), ApiError> {
        let mut transaction = self.state.database.begin(Mode::Write).await?;
        let revoked = by_operator(&mut transaction).revoke_token(name).await;
        transaction.settle(revoked).await
    }

    /// Records the result of building or pushing a bundle.
    ///
    /// # Errors
    /// The bundle does not exist, or the database cannot be reached.
    pub async fn record_status(&self, bundle: &str, record: &StatusRecord) -> Result<(), ApiError> {
        let mut transaction = self.state.database.begin(Mode::Write).await?;
        let recorded = async {
            let head = transaction.head(Kind::Bundle, bundle).await?;
            let head = head.ok_or_else(ApiError::not_found)?;
            Ok::<_, ApiError>(transaction.record_status(head.id, record).await?)
        };
        let recorded = recorded.await;
        transaction.settle(recorded).await
    }
}

/// Returns the current time minus `age`, in microseconds since 1970.
pub(crate) fn before(age: Duration) -> i64 {
    let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
    crate::db::now().saturating_sub(age)
}

/// Begins a change on behalf of the operator.
fn by_operator(transaction: &mut Transaction) -> Changing<'_> {
    Changing {
        transaction,
        actor: Actor::Operator,
        request: "",
    }
}
