//! Fetching of sources: built-in libraries, files, folders, datasources and Git repositories.
//!
//! A source has a private folder below the data folder, which all bundles share. Fetches of one source run one after another.

mod builtin;
mod datasources;
mod filter;
mod folder;
mod git;
mod names;
mod objects;
mod oidc;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use parking_lot::Mutex;
use solon_common::private_files;
use solon_outbound::NetworkRules;
use solon_outbound::proxy::Proxies;

use crate::error::{ApiError, ApiErrorKind};
use crate::limits;
use crate::model::{Address, Compat, Failure, Git, Phase, Secret, SecretValue, Source, Status};
use crate::tree::{Content, Facts, Fetched, Tree};

use datasources::Datasources;
use filter::Filter;
use git::{Authorities, CheckedAccess, Repository, TokenIssuers, TreeCache};
use objects::Objects;

/// Settings of fetching, which all sources share.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// The folder that contains the private folders of sources.
    pub data: PathBuf,
    /// A folder with built-in libraries of the operator, which replace the program's own of the same name.
    pub builtins: Option<PathBuf>,
    /// The folder that relative paths of local folders and repositories begin at.
    pub base: PathBuf,
    /// Maximum number of files of a source.
    pub max_files: usize,
    /// Maximum size of the files of a source, in bytes.
    pub max_bytes: u64,
    /// Maximum size of the private copy of a Git repository, in bytes.
    pub max_repository_bytes: u64,
    /// Maximum time of each call of `git`.
    pub git_timeout: Duration,
    /// Maximum size of a document of a data source, in bytes.
    pub max_datasource_bytes: usize,
    /// Maximum time of fetching a document of a data source.
    pub datasource_timeout: Duration,
    /// Maximum time of a transformation.
    pub transform_timeout: Duration,
    /// Maximum memory of a transformation, in bytes.
    pub transform_memory: usize,
    /// Decides about the version of Rego of transformations.
    pub compat: Compat,
    /// Rules for the networks that connections may lead to.
    pub networks: NetworkRules,
    /// Proxies of connections over HTTP.
    pub proxies: Arc<Proxies>,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            data: PathBuf::from("data"),
            builtins: None,
            base: PathBuf::from("."),
            max_files: limits::SOURCE_FILES,
            max_bytes: limits::SOURCE_BYTES,
            max_repository_bytes: limits::GIT_REPOSITORY,
            git_timeout: Duration::from_secs(limits::GIT_SECONDS),
            max_datasource_bytes: limits::DATASOURCE_BYTES,
            datasource_timeout: Duration::from_secs(limits::DATASOURCE_SECONDS),
            transform_timeout: Duration::from_secs(limits::TRANSFORM_SECONDS),
            transform_memory: limits::TRANSFORM_BYTES,
            compat: Compat::Strict,
            networks: NetworkRules::unrestricted().deny_metadata(),
            proxies: Proxies::system(),
        }
    }
}

/// Fetches sources into folders. A source is never fetched twice at the same time.
#[derive(Debug)]
pub struct Fetcher {
    options: FetchOptions,
    /// A lock for each source, held while it is fetched.
    locks: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    datasources: Datasources,
    token_issuers: TokenIssuers,
    /// Authorities of Git servers, if they are not those of the system.
    authorities: Option<Authorities>,
    checked: CheckedAccess,
    git_trees: TreeCache,
}

/// A source to fetch.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The source to fetch.
    pub source: &'a Source,
    /// The commit that a requirement pins.
    pub commit: Option<&'a str>,
    /// The decrypted secrets that the source refers to, by name.
    pub secrets: &'a BTreeMap<String, Secret>,
    /// Pushed data, as files `path/data.json`.
    pub pushed: Tree,
}

/// Remaining numbers of files and bytes of a source.
#[derive(Clone, Copy, Debug)]
struct Budget {
    max_files: usize,
    max_bytes: u64,
    files: usize,
    bytes: u64,
}

impl Budget {
    fn new(options: &FetchOptions) -> Self {
        Self {
            max_files: options.max_files,
            max_bytes: options.max_bytes,
            files: 0,
            bytes: 0,
        }
    }

    /// Counts a file or a folder.
    fn add_entry(&mut self) -> Result<(), String> {
        self.files += 1;
        if self.files > self.max_files {
            return Err(format!("more than {} files", self.max_files));
        }
        Ok(())
    }

    fn add_bytes(&mut self, bytes: u64) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.max_bytes {
            return Err(format!("files of more than {} bytes", self.max_bytes));
        }
        Ok(())
    }
}

impl Fetcher {
    /// Creates the data folder.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new(mut options: FetchOptions) -> Result<Self, ApiError> {
        // `git` runs in another folder
        let data = std::path::absolute(&options.data);
        let created = data.and_then(|data| {
            private_files::create_folder(&data.join("sources"))?;
            options.data = data;
            Authorities::write(&options.data)
        });
        let authorities = created.map_err(|error| {
            let message = format!("{}: {error}", options.data.display());
            ApiError::new(ApiErrorKind::Internal, message)
        })?;
        Ok(Self {
            options,
            locks: Mutex::default(),
            datasources: Datasources::default(),
            token_issuers: TokenIssuers::default(),
            authorities,
            checked: CheckedAccess::default(),
            git_trees: TreeCache::default(),
        })
    }

    /// Fetches a source. Dropping the future ends the fetch.
    ///
    /// # Errors
    /// An origin of the source cannot be fetched. No file of an earlier fetch is changed.
    pub async fn fetch(&self, job: Job<'_>) -> Result<Fetched, Failure> {
        let lock = self.lock(&job.source.name);
        let _guard = lock.lock().await;
        let folder = self.folder(&job.source.name);
        let source = job.source.clone();
        let local_folder = folder.clone();
        let options = self.options.clone();
        let pushed = job.pushed.clone();
        let local = move || read_local(&source, &options, &local_folder, &pushed);
        let local = tokio::task::spawn_blocking(local).await;
        let (mut trees, sql_digest) = local.map_err(|error| internal(&error))??;
        let documents = self.datasources.fetch(&job, &folder, &self.options);
        let documents = documents.await?;
        let mut facts = Facts {
            sql_digest,
            http: documents.http,
            s3: documents.s3,
            ..Facts::default()
        };
        let mut git_tree = Tree::default();
        if let Some(git) = &job.source.git {
            let repository = Repository {
                source: &job.source.name,
                git,
                pin: job.commit,
                secret: git_secret(&job, git)?,
                folder: &folder,
                token_issuers: &self.token_issuers,
                authorities: self.authorities.as_ref(),
                checked: &self.checked,
                trees: &self.git_trees,
            };
            let (tree, commit) = repository.fetch(&self.options).await?;
            facts.git_commit = Some(commit);
            git_tree = tree;
        }
        // transformations read everything but the built-in library
        let database = trees.get(usize::from(!job.source.builtin.is_empty())..);
        let others = database.unwrap_or_default().iter().chain([&git_tree]);
        let others: Vec<&Tree> = others.collect();
        let transformed =
            self.datasources
                .transform(job.source, documents.tree, &others, &folder, &self.options);
        trees.push(transformed.await?);
        trees.push(git_tree);
        trees.retain(|tree| !tree.is_empty());
        Ok(Fetched::new(trees, facts))
    }

    fn lock(&self, source: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.locks.lock();
        // a lock that only the map refers to is free
        locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        locks.entry(source.to_owned()).or_default().clone()
    }

    /// Returns the private folder of a source. A digest is a valid name on every system.
    fn folder(&self, source: &str) -> PathBuf {
        let name = hex::encode(digest(&SHA256, source.as_bytes()));
        self.options.data.join("sources").join(name)
    }
}

impl<'a> Job<'a> {
    /// Returns a secret of the source for a connection to an address, or `None` without a name.
    fn secret(
        &self,
        name: &str,
        address: Option<&Address>,
    ) -> Result<Option<&'a SecretValue>, String> {
        if name.is_empty() {
            return Ok(None);
        }
        let secret = self.secrets.get(name);
        let secret = secret.ok_or_else(|| format!("secret {name:?} is not configured"))?;
        secret.value_for(address).map(Some)
    }
}

/// Returns the credentials of a repository.
fn git_secret<'a>(job: &Job<'a>, git: &Git) -> Result<Option<&'a SecretValue>, Failure> {
    let secret = job.secret(&git.credentials, git.address().as_ref());
    secret.map_err(|text| {
        let (source, repo) = (&job.source.name, &git.repo);
        let message = format!("source {source:?}: git synchronizer: {repo}: {text}");
        failure(Status::SyncFailed, message)
    })
}

/// Returns the trees of the built-in library and the database, and the digest of the latter.
fn read_local(
    source: &Source,
    options: &FetchOptions,
    folder: &Path,
    pushed: &Tree,
) -> Result<(Vec<Tree>, Option<String>), Failure> {
    let name = &source.name;
    let failed =
        |message: String| failure(Status::SyncFailed, format!("source {name:?}: {message}"));
    let missing = || Failure {
        phase: Phase::Build,
        status: Status::BuildFailed,
        message: format!("source {name:?}: directory does not exist"),
    };
    let with_place = |place: String| {
        move |error: Option<String>| match error {
            None => missing(),
            Some(error) => failed(format!("{place}: {error}")),
        }
    };
    let mut objects = Objects::open(folder).map_err(|error| internal(&error))?;
    let mut trees = Vec::new();
    if !source.builtin.is_empty() {
        let builtins = options.builtins.as_deref();
        let tree = builtin::read(
            &source.builtin,
            builtins,
            &mut objects,
            Budget::new(options),
        );
        trees.push(tree.map_err(with_place(format!("builtin {:?}", source.builtin)))?);
    }
    let mut database = Tree::default();
    if !source.directory.is_empty() {
        let filter = Filter::new(&source.paths, &[]).map_err(failed)?;
        let path = options.base.join(&source.directory);
        let tree = folder::read(&path, &filter, &mut objects, Budget::new(options));
        database = tree.map_err(with_place(format!("directory {:?}", source.directory)))?;
    }
    for (path, contents) in &source.files {
        let bytes = STANDARD.decode(contents);
        let bytes = bytes.map_err(|_| failed(format!("files: {path:?}: not base64")))?;
        if let Some(problem) = names::problem(path) {
            return Err(failed(format!("files: {path:?}: {problem}")));
        }
        if database.get(path).is_some() {
            let message = format!("files: {path:?}: the directory contains a file of this path");
            return Err(failed(message));
        }
        database.insert(path.as_str(), Content::Inline(Bytes::from(bytes)));
    }
    for (path, content) in pushed.files() {
        if database.get(path).is_some() {
            let message = format!("{path:?}: pushed data has the path of a file of the source");
            return Err(failed(message));
        }
        database.insert(path, content.clone());
    }
    let mut sql_digest = None;
    if !database.is_empty() {
        sql_digest = Some(database.digest().map_err(|error| internal(&error))?);
        trees.push(database);
    }
    objects.prune().map_err(|error| internal(&error))?;
    Ok((trees, sql_digest))
}

fn failure(status: Status, message: String) -> Failure {
    Failure {
        phase: Phase::Sync,
        status,
        message,
    }
}

fn internal(error: &dyn std::fmt::Display) -> Failure {
    failure(Status::InternalError, format!("data folder: {error}"))
}
