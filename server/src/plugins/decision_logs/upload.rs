//! Uploading events to a service.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{Method, Request};
use parking_lot::Mutex;
use solon_outbound::{Client, backoff};
use tokio::sync::{Notify, watch};

use super::buffer::Buffer;
use super::chunk::{Chunk, SoftLimit, encode};
use super::counts::{LogCounts, LogFailure};
use super::spool::Spool;
use crate::config::{ReportingOptions, ReportingTrigger};

/// Delay after the first failure. It doubles with each further failure.
const FIRST_RETRY: Duration = Duration::from_millis(100);
/// Pause between two synchronizations of a spool.
const SYNC: Duration = Duration::from_secs(1);
/// Pause between two checks for decisions that may still add events.
const DECISIONS: Duration = Duration::from_millis(10);
/// Maximum time for which an uploader waits for decisions that began with its log.
const LONGEST: Duration = Duration::from_mins(5);
/// Maximum size of a response body, which is not used.
const RESPONSE_BYTES: usize = 64 << 10;

/// Source of the events that are uploaded.
#[derive(Clone)]
pub enum EventSource {
    /// In memory. A crash loses the events.
    Buffer(Arc<Buffer>),
    /// On disk. A crash of the process loses no event.
    Spool(Arc<Spool>),
}

/// An uploader: the source of its events, and its control channels.
pub struct Uploader {
    pub source: EventSource,
    pub client: Client,
    pub resource: String,
    pub reporting: ReportingOptions,
    pub counts: Arc<LogCounts>,
    /// Last failure; see `DecisionLog`.
    pub failure: Arc<Mutex<Option<LogFailure>>>,
    /// Notifies receivers of results; see `DecisionLog`.
    pub reported: watch::Sender<()>,
    /// Wakes the uploader when there are enough events for a chunk.
    pub wake: Arc<Notify>,
    /// Dropped once no decision can add events.
    pub decisions: Weak<()>,
    /// Receives the requested end of the uploader.
    pub end: watch::Receiver<End>,
}

/// Requested end of an uploader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The uploader continues.
    No,
    /// The uploader uploads waiting events once, and ends.
    Flush,
    /// The uploader ends as with `Flush`, but not before the decisions that began with its log have ended.
    Replaced,
    /// The uploader ends at once, because another one has the source.
    Now,
}

/// Reason why events could not be uploaded.
struct UploadError {
    message: String,
    /// Status of the response, if there was one.
    http_code: Option<u16>,
    /// Delay that the service requested, or zero.
    retry_after: Duration,
}

impl From<String> for UploadError {
    fn from(message: String) -> Self {
        Self {
            message,
            http_code: None,
            retry_after: Duration::ZERO,
        }
    }
}

impl Uploader {
    /// Uploads events until the end is requested.
    pub async fn run(mut self) {
        let mut failures = 0;
        let mut requested = Duration::ZERO;
        loop {
            let delay = self.delay(failures).max(requested);
            match self.wait(delay, failures).await {
                End::Now => return,
                End::Flush => {
                    self.flush().await;
                    return;
                }
                End::Replaced => {
                    self.flush().await;
                    let all_logged = async {
                        while self.decisions.strong_count() > 0 {
                            tokio::time::sleep(DECISIONS).await;
                        }
                    };
                    // after this time a decision has failed
                    let _ = tokio::time::timeout(LONGEST, all_logged).await;
                    self.flush().await;
                    return;
                }
                End::No => {}
            }
            let mut end = self.end.clone();
            let chunks = self.counts.chunks.get();
            let uploaded = tokio::select! {
                uploaded = self.upload(true) => uploaded,
                // The next uploader repeats an interrupted upload. `wait_for` fails if another end was requested, because the sender
                // is dropped then: the upload continues.
                Ok(_) = end.wait_for(|end| *end == End::Now) => return,
            };
            match uploaded {
                Ok(()) => {
                    failures = 0;
                    requested = Duration::ZERO;
                    let failure = self.failure.lock().take();
                    if failure.is_some() || self.counts.chunks.get() != chunks {
                        self.reported.send_replace(());
                    }
                }
                Err(error) => {
                    failures += 1;
                    requested = error.retry_after;
                    self.counts.upload_failures.increment();
                    self.failed(error);
                }
            }
        }
    }

    async fn flush(&self) {
        if let Err(error) = self.upload(true).await {
            self.failed(error);
        }
    }

    fn failed(&self, error: UploadError) {
        let message = error.message;
        tracing::error!(
            plugin = "decision_logs",
            err = message,
            "Log upload failed."
        );
        let http_code = error.http_code;
        *self.failure.lock() = Some(LogFailure { message, http_code });
        self.reported.send_replace(());
    }

    /// Returns the delay before the next upload: random between minimum and maximum, or growing with failures up to the maximum.
    fn delay(&self, failures: u32) -> Duration {
        let ReportingOptions {
            min_delay,
            max_delay,
            trigger,
            ..
        } = self.reporting;
        if failures > 0 {
            let max_delay_of_retry =
                FIRST_RETRY.saturating_mul(1_u32.checked_shl(failures - 1).unwrap_or(u32::MAX));
            let max_delay_of_retry = max_delay_of_retry.min(max_delay.max(FIRST_RETRY));
            return FIRST_RETRY / 2 + backoff::between(Duration::ZERO, max_delay_of_retry);
        }
        match trigger {
            ReportingTrigger::Immediate => min_delay,
            ReportingTrigger::Periodic => backoff::between(min_delay, max_delay),
        }
    }

    /// Waits for the next upload, and compresses events in the meantime.
    async fn wait(&mut self, delay: Duration, failures: u32) -> End {
        let timer = tokio::time::sleep(delay.min(FOREVER));
        tokio::pin!(timer);
        let is_immediate = self.reporting.trigger == ReportingTrigger::Immediate && failures == 0;
        loop {
            tokio::select! {
                () = &mut timer => return End::No,
                changed = self.end.changed() => {
                    // without a log no events are added
                    let end = if changed.is_ok() { *self.end.borrow() } else { End::Flush };
                    if end != End::No {
                        return end;
                    }
                }
                () = self.wake.notified() => {
                    self.encode(false).await;
                    if is_immediate {
                        return End::No;
                    }
                }
                () = tokio::time::sleep(SYNC), if matches!(self.source, EventSource::Spool(_)) => self.sync().await,
            }
        }
    }

    async fn encode(&self, is_all: bool) {
        if let EventSource::Buffer(buffer) = &self.source {
            let (buffer, counts) = (buffer.clone(), self.counts.clone());
            // a panic loses only the events that were being compressed
            let _ = tokio::task::spawn_blocking(move || buffer.encode(is_all, &counts)).await;
        }
    }

    async fn sync(&self) {
        if let EventSource::Spool(spool) = &self.source {
            let spool = spool.clone();
            let synced = tokio::task::spawn_blocking(move || spool.sync_interval()).await;
            if let Ok(Err(error)) = synced {
                self.failed(format!("decision_logs.spool: {error}").into());
            }
        }
    }

    /// Uploads all waiting events.
    async fn upload(&self, is_all: bool) -> Result<(), UploadError> {
        match &self.source {
            EventSource::Buffer(buffer) => {
                self.encode(is_all).await;
                while let Some(chunk) = buffer.next() {
                    if let Err(error) = self.send(&chunk).await {
                        buffer.failed();
                        return Err(error);
                    }
                    buffer.count_sent();
                }
            }
            EventSource::Spool(spool) => {
                self.sync().await;
                let mut soft = SoftLimit::new(self.reporting.upload_bytes);
                loop {
                    let (source, counts, mut limit) = (spool.clone(), self.counts.clone(), soft);
                    let reading = tokio::task::spawn_blocking(move || {
                        let batch = source.next(limit.get())?;
                        let chunks = batch.as_ref().map(|batch| {
                            VecDeque::from(encode(&batch.events, &mut limit, &counts))
                        });
                        Ok::<_, std::io::Error>((batch, chunks, limit))
                    });
                    let result = reading.await.map_err(|error| error.to_string())?;
                    let (batch, chunks, limit) =
                        result.map_err(|error| format!("decision_logs.spool: {error}"))?;
                    soft = limit;
                    let Some(batch) = batch else {
                        return Ok(());
                    };
                    for chunk in chunks.into_iter().flatten() {
                        self.send(&chunk).await?;
                    }
                    let source = spool.clone();
                    let result =
                        tokio::task::spawn_blocking(move || source.remove_sent(&batch)).await;
                    let result = result.map_err(|error| error.to_string())?;
                    result.map_err(|error| format!("decision_logs.spool: {error}"))?;
                }
            }
        }
        Ok(())
    }

    async fn send(&self, chunk: &Chunk) -> Result<(), UploadError> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(&self.resource)
            .header(CONTENT_TYPE, "application/json")
            .header(CONTENT_ENCODING, "gzip")
            .body(chunk.body.clone());
        let request: Request<Bytes> =
            request.map_err(|error| format!("decision_logs.resource: {error}"))?;
        let response = self.client.send(request).await;
        let response = response.map_err(|error| format!("log upload failed: {error}"))?;
        let status = response.status();
        let requested = backoff::requested(status, response.headers(), SystemTime::now());
        // the response is read to its end, so that the connection can be reused
        let _ = response.into_body().read_bounded(RESPONSE_BYTES).await;
        if !status.is_success() {
            let reason = status.canonical_reason().unwrap_or_default();
            let code = status.as_u16();
            return Err(UploadError {
                message: format!("log upload failed, server replied with HTTP {code} {reason}"),
                http_code: Some(code),
                retry_after: requested.unwrap_or_default(),
            });
        }
        self.counts.uploaded.add(chunk.events as u64);
        self.counts.chunks.increment();
        Ok(())
    }
}

/// A duration longer than any process runs.
const FOREVER: Duration = Duration::from_hours(365 * 24);
