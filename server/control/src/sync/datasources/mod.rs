//! Data sources: documents that the service fetches and transforms.
//!
//! Tags and times of the last versions are kept in memory, so a check for changes costs one request without a
//! body. The documents themselves are in the private folder of the source.

mod http;
mod path;
mod store;
mod transform;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use parking_lot::Mutex;

use super::objects::Objects;
use super::{Budget, FetchOptions, Job, failure, internal};
use crate::limits;
use crate::list_digest::ListDigest;
use crate::model::{Datasource, DatasourceConfig, Failure, Phase, SecretValue, Source, Status};
use crate::trace::in_span;
use crate::tree::{Content, Tree};

/// Connections and versions of the data sources of all sources.
#[derive(Debug, Default)]
pub struct Datasources {
    sources: Mutex<HashMap<String, HashMap<String, DatasourceEntry>>>,
}

/// The names of a source and of its data source.
type DatasourceKey = (String, String);

/// A data source as it was fetched last.
#[derive(Clone, Debug)]
struct DatasourceEntry {
    /// Digest of the configuration and the credentials.
    request: String,
    connection: OpenDatasource,
    fetched: Option<DocumentVersion>,
    /// The digest of the inputs of the transformation and the name of its result.
    transformed: Option<(String, String)>,
}

/// An opened connection to a data source. Clones share it with its tokens.
#[derive(Clone, Debug)]
enum OpenDatasource {
    Http(http::HttpSource),
    Store(store::StoreSource),
}

#[derive(Clone, Debug)]
struct DocumentVersion {
    validators: Validators,
    /// The name of the file in the folder of the source.
    name: String,
    digest: String,
    size: u64,
}

/// Tag and time by which a server identifies the version of a document.
#[derive(Clone, Debug, Default)]
struct Validators {
    etag: Option<String>,
    last_modified: Option<String>,
}

/// A document that is not the known version.
struct ReceivedDocument {
    bytes: Bytes,
    validators: Validators,
}

/// Error of a data source. The message has no secrets.
#[derive(Debug)]
struct DatasourceError {
    status: Status,
    message: String,
}

#[derive(Debug, Default)]
pub struct FetchedDocuments {
    pub tree: Tree,
    /// Digests by data source: over HTTP, and from object stores.
    pub http: BTreeMap<String, String>,
    pub s3: BTreeMap<String, String>,
}

impl DatasourceError {
    fn failed(message: impl Into<String>) -> Self {
        Self {
            status: Status::SyncFailed,
            message: message.into(),
        }
    }

    /// Returns the error of a status: those that the server blames the client for are errors of the user.
    fn of_status(status: ::http::StatusCode, message: String) -> Self {
        let is_client = status.is_client_error();
        Self {
            status: if is_client {
                Status::UserError
            } else {
                Status::SyncFailed
            },
            message,
        }
    }
}

impl Datasources {
    /// Fetches the data sources of a source.
    ///
    /// # Errors
    /// One of them cannot be fetched.
    pub async fn fetch(
        &self,
        job: &Job<'_>,
        folder: &Path,
        options: &FetchOptions,
    ) -> Result<FetchedDocuments, Failure> {
        let mut documents = FetchedDocuments::default();
        if job.source.datasources.is_empty() {
            return Ok(documents);
        }
        let mut budget = Budget::new(options);
        self.forget_removed(job.source);
        for datasource in &job.source.datasources {
            let secret = secret_of(job, datasource)?;
            let named = |error: DatasourceError| named(job.source, datasource, secret, error);
            let file = path::file(&datasource.path)
                .map_err(|text| named(DatasourceError::failed(text)))?;
            if documents.tree.get(&file).is_some() {
                let text = format!("{file:?} is the file of another datasource, too");
                return Err(named(DatasourceError::failed(text)));
            }
            let (content, version) = self
                .fetch_one(job, datasource, secret, folder, options)
                .await
                .map_err(named)?;
            let counted = budget
                .add_entry()
                .and_then(|()| budget.add_bytes(version.size));
            counted.map_err(|text| named(DatasourceError::failed(text)))?;
            documents.tree.insert(file, content);
            let digests = match datasource.config {
                DatasourceConfig::Http { .. } => &mut documents.http,
                _ => &mut documents.s3,
            };
            digests.insert(datasource.name.clone(), version.digest);
        }
        Ok(documents)
    }

    /// Replaces documents by the results of their transformations. `others` are the other trees of the source.
    ///
    /// # Errors
    /// A transformation fails.
    pub async fn transform(
        &self,
        source: &Source,
        mut documents: Tree,
        others: &[&Tree],
        folder: &Path,
        options: &FetchOptions,
    ) -> Result<Tree, Failure> {
        let mut queries = source.datasources.iter().map(|one| &one.transform_query);
        if queries.all(String::is_empty) {
            return Ok(documents);
        }
        let mut trees: Vec<Tree> = others.iter().map(|&tree| tree.clone()).collect();
        trees.push(documents.clone());
        for datasource in &source.datasources {
            let query = &datasource.transform_query;
            if query.is_empty() {
                continue;
            }
            let failed = |text: String| Failure {
                phase: Phase::Transform,
                status: Status::TransformFailed,
                message: format!(
                    "source {:?}: datasource {:?}: transform_query: {text}",
                    source.name, datasource.name
                ),
            };
            let file = path::file(&datasource.path).map_err(failed)?;
            let Some(input) = documents.get(&file).cloned() else {
                continue;
            };
            let mut objects = Objects::open(folder).map_err(|error| internal(&error))?;
            let key = inputs(query, &input, &trees);
            let entry = (source.name.clone(), datasource.name.clone());
            let transformed = self.entry(&entry).and_then(|entry| entry.transformed);
            let known = transformed.filter(|(inputs, _)| *inputs == key);
            let known = known.map(|(_, name)| name);
            let content = match known.and_then(|name| objects.find(&name)) {
                Some(content) => content,
                None => {
                    let work = transform::Transform {
                        query: query.clone(),
                        input,
                        trees: trees.clone(),
                        options: options.clone(),
                    };
                    let attributes = [("solon.datasource", datasource.name.as_str())];
                    let transform = async { work.run().await.map_err(failed) };
                    let bytes = in_span("transform", &attributes, transform).await?;
                    store_bytes(objects, bytes).await?
                }
            };
            self.update(&entry, |entry| {
                entry.transformed = Some((key, name_of(&content)));
            });
            documents.insert(file, content);
        }
        Ok(documents)
    }

    async fn fetch_one(
        &self,
        job: &Job<'_>,
        datasource: &Datasource,
        secret: Option<&SecretValue>,
        folder: &Path,
        options: &FetchOptions,
    ) -> Result<(Content, DocumentVersion), DatasourceError> {
        let key = (job.source.name.clone(), datasource.name.clone());
        let entry = self.open(&key, datasource, secret, options)?;
        let broken = |error: &dyn std::fmt::Display| DatasourceError {
            status: Status::InternalError,
            message: format!("data folder: {error}"),
        };
        let mut objects = Objects::open(folder).map_err(|error| broken(&error))?;
        let known = entry.fetched.and_then(|version| {
            let content = objects.find(&version.name)?;
            Some((content, version))
        });
        let validators = known.as_ref().map(|(_, version)| &version.validators);
        let max = options.max_datasource_bytes;
        let timeout = options.datasource_timeout;
        let received = match &entry.connection {
            OpenDatasource::Http(source) => {
                let receiving = source.receive(validators, max);
                let received = tokio::time::timeout(timeout, receiving).await;
                received.unwrap_or_else(|_| {
                    let seconds = timeout.as_secs();
                    let text = format!("timeout: not received within {seconds} seconds");
                    Err(DatasourceError::failed(text))
                })?
            }
            OpenDatasource::Store(source) => source.receive(validators, max).await?,
        };
        let Some(received) = received else {
            return known.ok_or_else(|| DatasourceError::failed("unsuccessful status code 304"));
        };
        let digest = digest_of(&received.bytes);
        let size = received.bytes.len() as u64;
        let content = store_bytes(objects, received.bytes).await;
        let content = content.map_err(|failure| DatasourceError {
            status: failure.status,
            message: failure.message,
        })?;
        let version = DocumentVersion {
            validators: received.validators,
            name: name_of(&content),
            digest,
            size,
        };
        self.update(&key, |entry| entry.fetched = Some(version.clone()));
        Ok((content, version))
    }

    /// Returns the entry of a data source, with a new connection if its configuration or its secret changed.
    fn open(
        &self,
        key: &DatasourceKey,
        datasource: &Datasource,
        secret: Option<&SecretValue>,
        options: &FetchOptions,
    ) -> Result<DatasourceEntry, DatasourceError> {
        let mut digest = ListDigest::new();
        digest.add(&serde_json::to_vec(&datasource.config).unwrap_or_default());
        if let Some(secret) = secret {
            digest.add(&secret.to_json());
        }
        let request = digest.finish();
        if let Some(entry) = self.entry(key).filter(|entry| entry.request == request) {
            return Ok(entry);
        }
        let connection = match &datasource.config {
            DatasourceConfig::Http { .. } => http::HttpSource::open(datasource, secret, options)
                .map(OpenDatasource::Http)
                .map_err(|text| format!("init client: {text}")),
            config => store::StoreSource::open(config, secret, options).map(OpenDatasource::Store),
        };
        let entry = DatasourceEntry {
            request,
            connection: connection.map_err(DatasourceError::failed)?,
            fetched: None,
            transformed: None,
        };
        let (source, name) = key.clone();
        let mut sources = self.sources.lock();
        let entries = sources.entry(source).or_default();
        entries.insert(name, entry.clone());
        Ok(entry)
    }

    fn entry(&self, (source, name): &DatasourceKey) -> Option<DatasourceEntry> {
        self.sources.lock().get(source)?.get(name).cloned()
    }

    fn update(&self, (source, name): &DatasourceKey, update: impl FnOnce(&mut DatasourceEntry)) {
        let mut sources = self.sources.lock();
        let entries = sources.get_mut(source);
        if let Some(entry) = entries.and_then(|entries| entries.get_mut(name)) {
            update(entry);
        }
    }

    /// Forgets data sources that a source has no longer, and all others if there are too many sources.
    fn forget_removed(&self, source: &Source) {
        let mut sources = self.sources.lock();
        if sources.len() > limits::DATASOURCES {
            // deleted sources leave entries
            sources.clear();
        }
        if let Some(entries) = sources.get_mut(&source.name) {
            let names: BTreeSet<&str> = source
                .datasources
                .iter()
                .map(|one| one.name.as_str())
                .collect();
            entries.retain(|name, _| names.contains(name.as_str()));
        }
    }
}

/// Returns the secret of a data source.
fn secret_of<'j>(
    job: &Job<'j>,
    datasource: &Datasource,
) -> Result<Option<&'j SecretValue>, Failure> {
    let address = datasource.config.address();
    let secret = job.secret(&datasource.credentials, address.as_ref());
    secret.map_err(|text| {
        let error = DatasourceError::failed(text);
        named(job.source, datasource, None, error)
    })
}

fn named(
    source: &Source,
    datasource: &Datasource,
    secret: Option<&SecretValue>,
    error: DatasourceError,
) -> Failure {
    // a server may repeat in a message what it received
    let message = match secret {
        Some(secret) => secret.redact(error.message),
        None => error.message,
    };
    let (source, datasource) = (&source.name, &datasource.name);
    failure(
        error.status,
        format!("source {source:?}: datasource {datasource:?}: {message}"),
    )
}

/// Returns the digest of a document as revision expressions read it: over the path in its folder, a zero byte and the content.
fn digest_of(bytes: &[u8]) -> String {
    let mut context = Context::new(&SHA256);
    context.update(b"data.json\0");
    context.update(bytes);
    hex::encode(context.finish())
}

/// Returns the digest of everything that a transformation reads.
fn inputs(query: &str, input: &Content, trees: &[Tree]) -> String {
    let mut digest = ListDigest::new();
    digest.add(query.as_bytes());
    input.add_to(&mut digest);
    for tree in trees {
        digest.add(b"tree");
        for (path, content) in tree.files() {
            digest.add(path.as_bytes());
            content.add_to(&mut digest);
        }
    }
    digest.finish()
}

async fn store_bytes(mut objects: Objects, bytes: Bytes) -> Result<Content, Failure> {
    let storing = tokio::task::spawn_blocking(move || objects.store(&bytes)).await;
    let stored = storing.map_err(|error| internal(&error))?;
    stored.map_err(|error| internal(&error))
}

/// Returns the name of a stored file.
fn name_of(content: &Content) -> String {
    match content {
        Content::File(path) => {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        }
        Content::Inline(_) => String::new(),
    }
}
