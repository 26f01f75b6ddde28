//! Lifecycle of one bundle, from its first download until it is no longer configured.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use solon::bundle::BundleKind;
use solon_outbound::backoff;
use tokio::sync::watch;
use tracing::{error, info};

use super::activation::{self, BundleSource, REQUEST, Read, nanoseconds};
use super::download::{Download, Downloaded, Downloader, MOST};
use super::persistence::Persisted;
use super::status::{BundleFailure, BundleStatus};
use super::target::BundleTarget;
use crate::config::BundleSettings;
use crate::plugins::registry::Registry;

/// Minimum time between the starts of two long polling requests, for services that respond at once.
const SHORTEST: Duration = Duration::from_millis(100);

/// A bundle that is polled, by a task of its own.
pub struct BundleTask {
    pub name: Arc<str>,
    pub settings: BundleSettings,
    pub target: BundleTarget,
    /// Receives the status.
    pub registry: Arc<Registry>,
    pub persisted: Option<Persisted>,
    pub downloader: Downloader,
    pub status: BundleStatus,
    /// Entity tag of the active bundle.
    pub etag: String,
    /// Entity tags of replaced bundles.
    pub superseded: Vec<(String, Instant)>,
}

impl BundleTask {
    /// Polls until `stop` is `true`. An activation that has started is finished.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let plugin = self.target.log_messages().plugin;
        info!(plugin, name = &*self.name, "Starting bundle loader.");
        let mut failures = 0_u32;
        loop {
            let start = Instant::now();
            let tags = self.tags();
            let downloaded = tokio::select! {
                downloaded = self.downloader.download(&tags) => downloaded,
                _ = stop.wait_for(|stop| *stop) => break,
            };
            self.status.last_request = Some(SystemTime::now());
            self.status.metrics.clear();
            if self.downloader.is_remote() {
                let took = nanoseconds(start.elapsed());
                self.status.metrics.insert(REQUEST.to_owned(), took);
            }
            let polled = match downloaded {
                Ok(downloaded) => self.process(downloaded).await.map_err(|()| Duration::ZERO),
                Err(failure) => {
                    self.failed(self.target.log_messages().load, &failure);
                    Err(failure.retry_after.unwrap_or_default())
                }
            };
            self.target.report(&self.registry, self.status.clone());
            let polling = &self.settings.polling;
            let delay = match polled {
                Ok(()) => {
                    failures = 0;
                    if self.downloader.is_long() {
                        SHORTEST.saturating_sub(start.elapsed())
                    } else {
                        backoff::between(polling.min, polling.max)
                    }
                }
                Err(requested) => {
                    failures = failures.saturating_add(1);
                    backoff::after_failures(failures, polling.max).max(requested)
                }
            };
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                _ = stop.wait_for(|stop| *stop) => break,
            }
        }
        info!(plugin, name = &*self.name, "Stopping bundle loader.");
    }

    /// Activates the persisted bundle, if there is one.
    pub async fn restore(&mut self) {
        let Some(persisted) = self.persisted.clone() else {
            return;
        };
        let (target, name, settings) = (
            self.target.clone(),
            self.name.clone(),
            self.settings.clone(),
        );
        let restored = blocking(move || {
            let archive = persisted.read(MOST);
            let archive = archive.map_err(|error| BundleFailure::new(error.to_string()))?;
            let Some(archive) = archive else {
                return Ok(None);
            };
            let source = BundleSource::Archive(archive);
            let mut bundle_read = activation::read(target.reader(), &name, &settings, &source)?;
            let message = target.activate(&name, &mut bundle_read)?;
            Ok(Some((bundle_read, message)))
        });
        match restored.await {
            Ok(None) => return,
            Ok(Some((bundle_read, message))) => {
                self.status.kind = Some(kind(&bundle_read));
                self.activated(&bundle_read, String::new());
                self.status.message = message;
            }
            Err(failure) => self.failed("Failed to load bundle from disk", &failure),
        }
        self.target.report(&self.registry, self.status.clone());
    }

    /// Activates a download. An error is in the status and in the log.
    async fn process(&mut self, downloaded: Downloaded) -> Result<(), ()> {
        let download = match downloaded {
            Downloaded::Unchanged => {
                self.status.last_successful_request = self.status.last_request;
                self.status.succeed();
                return Ok(());
            }
            Downloaded::Bundle(download) => download,
        };
        let Download { source, size, etag } = download;
        let (target, name, settings) = (
            self.target.clone(),
            self.name.clone(),
            self.settings.clone(),
        );
        let reading = blocking(move || {
            let result = activation::read(target.reader(), &name, &settings, &source);
            result.map(|bundle_read| (bundle_read, source))
        });
        let (mut bundle_read, source) = match reading.await {
            Ok(bundle_and_source) => bundle_and_source,
            Err(failure) => {
                self.failed(self.target.log_messages().load, &failure);
                return Err(());
            }
        };
        self.status.last_successful_request = self.status.last_request;
        self.status.last_successful_download = self.status.last_request;
        self.status.kind = Some(kind(&bundle_read));
        self.status.metrics.extend(bundle_read.metrics.clone());
        bundle_read.bundle.etag.clone_from(&etag);
        let (target, name) = (self.target.clone(), self.name.clone());
        let activated = blocking(move || {
            let message = target.activate(&name, &mut bundle_read)?;
            Ok((bundle_read, message))
        });
        let (activated_bundle, message) = match activated.await {
            Ok(activated) => activated,
            Err(failure) => {
                self.failed(self.target.log_messages().activation, &failure);
                return Err(());
            }
        };
        self.status.size = size;
        self.downloader.activated();
        self.activated(&activated_bundle, etag);
        self.status.message = message;
        self.persist(source).await;
        Ok(())
    }

    /// Records an activation in the status and in the log.
    pub fn activated(&mut self, bundle_read: &Read, etag: String) {
        let status = &mut self.status;
        status.succeed();
        status.metrics.extend(bundle_read.metrics.clone());
        status.last_successful_activation = Some(SystemTime::now());
        let revision = &bundle_read.bundle.manifest.revision;
        status.active_revision = Some(revision.clone()).filter(|revision| !revision.is_empty());
        let log_messages = self.target.log_messages();
        let (plugin, name) = (log_messages.plugin, &*self.name);
        if etag.is_empty() {
            info!(plugin, name, "{}", log_messages.success);
        } else {
            info!(
                plugin,
                name, "{} Etag updated to {etag}.", log_messages.success
            );
        }
        let last = std::mem::replace(&mut self.etag, etag);
        self.superseded.retain(|(tag, _)| *tag != self.etag);
        if !last.is_empty() && last != self.etag && !self.settings.polling.superseded.is_zero() {
            self.superseded.push((last, Instant::now()));
        }
    }

    /// Returns the entity tags for `If-None-Match`: that of the active bundle, followed by those of recently replaced bundles, from
    /// the newest. If a replica of the service still has a replaced bundle, it responds 304.
    fn tags(&mut self) -> String {
        let time = self.settings.polling.superseded;
        self.superseded.retain(|(_, since)| since.elapsed() < time);
        let superseded = self.superseded.iter().rev().map(|(tag, _)| tag.as_str());
        let tags = [self.etag.as_str()].into_iter().chain(superseded);
        let tags: Vec<&str> = tags.filter(|tag| !tag.is_empty()).collect();
        tags.join(", ")
    }

    /// Records that the bundle could not be downloaded, parsed or activated. The active bundle remains.
    pub fn failed(&mut self, message: &str, failure: &BundleFailure) {
        self.status.fail(failure);
        let plugin = self.target.log_messages().plugin;
        error!(plugin, name = &*self.name, "{message}: {}", failure.log);
    }

    async fn persist(&mut self, source: BundleSource) {
        let (Some(persisted), BundleSource::Archive(archive)) = (self.persisted.clone(), source)
        else {
            return;
        };
        let write = blocking(move || {
            let result = persisted.write(&archive);
            result.map_err(|error| BundleFailure::new(error.to_string()))
        });
        if let Err(failure) = write.await {
            let text = format!("persisting bundle to disk failed: {}", failure.message);
            self.failed("Bundle persistence failed", &BundleFailure::new(text));
        }
    }
}

/// Returns the public name of a kind.
pub fn kind(bundle_read: &Read) -> &'static str {
    match bundle_read.bundle.kind() {
        BundleKind::Snapshot => "snapshot",
        BundleKind::Delta => "delta",
    }
}

/// Runs blocking work on a separate thread. A panic is returned as a failure.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BundleFailure> + Send + 'static,
) -> Result<T, BundleFailure> {
    let handle = tokio::task::spawn_blocking(move || {
        let result = work();
        // an idle thread must not keep replaced documents alive
        solon::release_thread_snapshot();
        result
    });
    handle
        .await
        .unwrap_or_else(|error| Err(BundleFailure::new(error.to_string())))
}
