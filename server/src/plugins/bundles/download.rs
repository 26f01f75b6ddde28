//! Single downloads of a bundle: conditional requests, and unchanged files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, Request, Response, StatusCode};
use solon_outbound::registry::LastManifest;
use solon_outbound::{BodyStream, Client, HeadTimeout, backoff};
use tokio::sync::watch;

use super::activation::BundleSource;
use super::persistence::read_file;
use super::status::BundleFailure;
use super::store;
use crate::config::{BundleLocation, BundleSettings, PluginSettings};

/// Maximum size in bytes of an archive.
pub const MOST: u64 = 1 << 30;

/// Result of a download that has not failed.
pub enum Downloaded {
    /// The bundle has not changed since the last download.
    Unchanged,
    Bundle(Download),
}

pub struct Download {
    /// Archive or path.
    pub source: BundleSource,
    /// Size in bytes of the archive that a service sent.
    pub size: Option<u64>,
    /// Entity tag of the bundle; empty if there is none.
    pub etag: String,
}

/// Downloads one bundle repeatedly and remembers what the service has already sent.
pub struct Downloader {
    location: BundleLocation,
    /// State of the file at the last activation.
    file: Option<FileFingerprint>,
    /// State of the file when it was last read.
    read: Option<FileFingerprint>,
    /// Current services by name.
    settings: watch::Receiver<Arc<PluginSettings>>,
    /// Long polling time in seconds.
    wait: Option<u64>,
    manifest: Option<LastManifest>,
    /// `true` unless the content type of the last bundle shows that the service does not support long polling. Responses without a
    /// bundle do not change it.
    is_long: bool,
}

/// Length and modification time of a file.
type FileFingerprint = (u64, Option<SystemTime>);

impl Downloader {
    /// Creates a downloader for the location of a bundle.
    pub fn new(bundle: &BundleSettings, settings: watch::Receiver<Arc<PluginSettings>>) -> Self {
        Self {
            location: bundle.location.clone(),
            settings,
            wait: bundle.polling.long,
            manifest: None,
            is_long: true,
            file: None,
            read: None,
        }
    }

    /// Downloads the bundle unless its entity tag is one of `tags`.
    ///
    /// # Errors
    /// Returns why the download failed.
    pub async fn download(&mut self, tags: &str) -> Result<Downloaded, BundleFailure> {
        match &self.location {
            BundleLocation::File(path) => {
                let path = path.clone();
                self.open(&path).await
            }
            BundleLocation::Object { service, object } => {
                let client = self.client(service)?;
                store::read(&client, object, tags).await
            }
            BundleLocation::Service { service, resource } => {
                let client = self.client(service)?;
                if client.config().is_registry() {
                    return store::pull(&client, resource, &mut self.manifest, tags).await;
                }
                let wait = self.wait.filter(|_| self.is_long);
                let response = request(&client, resource, tags, wait).await?;
                if response.status() == StatusCode::NOT_MODIFIED {
                    return Ok(Downloaded::Unchanged);
                }
                self.is_long = text(response.headers(), &CONTENT_TYPE) == LONG_POLLING;
                read(response).await.map(Downloaded::Bundle)
            }
        }
    }

    /// Returns the current client of a service.
    ///
    /// # Errors
    /// The configuration has no service of this name.
    fn client(&self, service: &str) -> Result<Client, BundleFailure> {
        let client = self.settings.borrow().services.get(service).cloned();
        client.ok_or_else(|| BundleFailure::new(format!("service name {service:?} not found")))
    }

    /// Returns `true` if the source of the bundle is a service.
    pub fn is_remote(&self) -> bool {
        self.location.service().is_some()
    }

    /// Returns `true` if the next request should follow the last response at once.
    pub fn is_long(&self) -> bool {
        let is_path = matches!(self.location, BundleLocation::Service { .. });
        is_path && self.manifest.is_none() && self.wait.is_some() && self.is_long
    }

    /// Records that the last download is active.
    pub fn activated(&mut self) {
        self.file = self.read;
    }

    async fn open(&mut self, path: &Path) -> Result<Downloaded, BundleFailure> {
        let path = path.to_owned();
        let last = self.file;
        let result = tokio::task::spawn_blocking(move || open(path, last)).await;
        let result = result.map_err(|error| BundleFailure::new(error.to_string()))?;
        let (identity, source) = result?;
        self.read = identity;
        Ok(source.map_or(Downloaded::Unchanged, |source| {
            Downloaded::Bundle(Download {
                source,
                size: None,
                etag: String::new(),
            })
        }))
    }
}

/// Header with the bundle kinds that the client supports, and the long polling time.
const PREFER: &str = "prefer";

/// Content type of services that support long polling.
const LONG_POLLING: &str = "application/vnd.openpolicyagent.bundles";

/// Time for the response itself, in addition to the long polling time.
const GRACE: Duration = Duration::from_secs(10);

/// Requests a bundle from a service with a long polling time of `wait` seconds. The status of the response is 200 or 304.
async fn request(
    client: &Client,
    resource: &str,
    tags: &str,
    wait: Option<u64>,
) -> Result<Response<BodyStream>, BundleFailure> {
    let mut prefer = "modes=snapshot,delta".to_owned();
    let path = format!("/{}", resource.trim_start_matches('/'));
    let mut request = Request::get(path);
    if let Some(seconds) = wait {
        prefer += &format!(";wait={seconds}");
        let timeout = Duration::from_secs(seconds).saturating_add(GRACE);
        request = request.extension(HeadTimeout(timeout));
    }
    request = request.header(PREFER, prefer);
    if !tags.is_empty() {
        request = request.header(IF_NONE_MATCH, tags);
    }
    let failed =
        |error: &dyn std::fmt::Display| BundleFailure::new(format!("request failed: {error}"));
    let request = request.body(Bytes::new()).map_err(|error| failed(&error))?;
    let response = client.send(request).await.map_err(|error| failed(&error))?;
    match response.status() {
        StatusCode::NOT_MODIFIED | StatusCode::OK => Ok(response),
        status => Err(BundleFailure {
            retry_after: backoff::requested(status, response.headers(), SystemTime::now()),
            ..BundleFailure::of_status(status)
        }),
    }
}

async fn read(response: Response<BodyStream>) -> Result<Download, BundleFailure> {
    let etag = text(response.headers(), &ETAG).to_owned();
    let max = usize::try_from(MOST).unwrap_or(usize::MAX);
    let body = response.into_body().read_bounded(max).await;
    let body = body.map_err(|error| BundleFailure::new(format!("bundle read failed: {error}")))?;
    Ok(Download {
        size: u64::try_from(body.len()).ok(),
        source: BundleSource::Archive(body.into()),
        etag,
    })
}

/// Returns a header as text. The text is empty if the header is missing or not ASCII.
fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> &'h str {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default()
}

/// Reads a file unless it is unchanged. Folders are always read.
fn open(
    path: PathBuf,
    last: Option<FileFingerprint>,
) -> Result<(Option<FileFingerprint>, Option<BundleSource>), BundleFailure> {
    let path_text = path.display().to_string();
    let failed = |error: &std::io::Error| {
        BundleFailure::new(match error.kind() {
            std::io::ErrorKind::NotFound => format!("stat {path_text}: no such file or directory"),
            _ => format!("open {path_text}: {error}"),
        })
    };
    let metadata = std::fs::metadata(&path).map_err(|error| failed(&error))?;
    if metadata.is_dir() {
        return Ok((None, Some(BundleSource::Path(path))));
    }
    let identity = (metadata.len(), metadata.modified().ok());
    if last == Some(identity) {
        return Ok((last, None));
    }
    let bytes = read_file(&path, MOST).map_err(|error| failed(&error))?;
    let bytes = bytes.ok_or_else(|| {
        BundleFailure::new(format!("stat {path_text}: no such file or directory"))
    })?;
    Ok((Some(identity), Some(BundleSource::Archive(bytes))))
}
