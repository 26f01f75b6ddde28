//! Lifecycle of the decision log: start, replacement, and flush at the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::{ArcSwapOption, Guard};
use parking_lot::Mutex;
use solon_outbound::Services;
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tracing::info;

use super::buffer::Buffer;
use super::counts::{LogCounts, LogFailure};
use super::event::{ErrorForm, Event};
use super::file::{LogFile, Stdout};
use super::otlp::OtlpLog;
use super::rate::RateLimit;
use super::spool::{Spool, SpoolError};
use super::sqlite::LogDatabase;
use super::upload::{End, EventSource, Uploader};
use crate::config::{BufferLimit, DecisionLogOptions, ReportingTrigger};
use crate::telemetry::CONSOLE;

const NAME: &str = "decision_logs";

/// Active decision log of a server, if there is one. Clones share it.
#[derive(Clone, Default)]
pub struct DecisionLogs(Arc<LoggerState>);

#[derive(Default)]
struct LoggerState {
    log: ArcSwapOption<DecisionLog>,
    counts: Arc<LogCounts>,
    failure: Arc<Mutex<Option<LogFailure>>>,
    /// Notifies receivers of the result of each upload, and of failures.
    reported: watch::Sender<()>,
    /// State of uploads. Its lock serializes changes of the configuration.
    uploads: Mutex<Uploads>,
}

#[derive(Default)]
struct Uploads {
    /// Runtime of the uploaders, once the server runs.
    runtime: Option<Handle>,
    services: Services,
    running: Option<RunningLogger>,
    /// Uploaders of earlier configurations that still upload waiting events.
    ending: Vec<JoinHandle<()>>,
}

struct RunningLogger {
    end: watch::Sender<End>,
    task: JoinHandle<()>,
}

pub struct DecisionLog {
    pub options: DecisionLogOptions,
    /// JSON object with the labels of the server.
    pub labels: Vec<u8>,
    pub counts: Arc<LogCounts>,
    /// Cache key of the drop policy among prepared documents. No request path begins like it.
    pub drop_key: String,
    /// Cache key of the mask policy, see `drop_key`.
    pub mask_key: String,
    /// Last failure, until an upload succeeds.
    failure: Arc<Mutex<Option<LogFailure>>>,
    reported: watch::Sender<()>,
    source: Option<EventSource>,
    rate: Option<RateLimit>,
    file: Option<Arc<LogFile>>,
    stdout: Option<Arc<Stdout>>,
    sqlite: Option<Arc<LogDatabase>>,
    otlp: Option<Arc<OtlpLog>>,
    wake: Arc<Notify>,
    /// Dropped with the log, when no decision uses it.
    decisions: Arc<()>,
}

impl DecisionLogs {
    /// Returns the active log, or `None`. The cost is an atomic load.
    pub fn load(&self) -> Guard<Option<Arc<DecisionLog>>> {
        self.0.log.load()
    }

    /// Returns the counters, which outlive each change of the configuration.
    pub fn counts(&self) -> &LogCounts {
        &self.0.counts
    }

    /// Returns the last failure, or `None`.
    pub fn failure(&self) -> Option<LogFailure> {
        self.0.failure.lock().clone()
    }

    /// Returns a receiver that is notified of the result of each upload, and of failures, from now on.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.0.reported.subscribe()
    }

    /// Starts a log, or replaces the active one. Without options no further decision is logged.
    ///
    /// A decision that has begun is logged by the log that it began with. Waiting events are uploaded: by the new log if it has the
    /// same buffer or spool, otherwise by the old one in the background. `labels` is a JSON object.
    ///
    /// # Errors
    /// Fails if a file or the spool cannot be opened, or the service does not exist. The active log remains.
    pub fn configure(
        &self,
        options: Option<&DecisionLogOptions>,
        labels: &[u8],
        services: &Services,
    ) -> Result<(), String> {
        let mut uploads = self.0.uploads.lock();
        let before = self.0.log.load_full();
        let log = options.map(|options| self.log(options, labels, before.as_deref()));
        let log = log.transpose()?.map(Arc::new);
        if let Some(log) = &log
            && let Some(name) = &log.options.service
            && services.get(name).is_none()
        {
            return Err(format!("invalid service name {name:?} in decision_logs"));
        }
        uploads.services = services.clone();
        let is_same = match (&before, &log) {
            (Some(before), Some(log)) => log.shares_source(before),
            _ => false,
        };
        self.0.log.store(log);
        drop(before);
        uploads.end(if is_same { End::Now } else { End::Replaced });
        self.start_upload(&mut uploads);
        Ok(())
    }

    fn log(
        &self,
        options: &DecisionLogOptions,
        labels: &[u8],
        before: Option<&DecisionLog>,
    ) -> Result<DecisionLog, String> {
        let source = match (&options.service, &options.spool) {
            (None, _) => None,
            (Some(_), Some(spool)) => match before.and_then(|before| before.source.as_ref()) {
                Some(EventSource::Spool(open)) if open.options() == spool => {
                    Some(EventSource::Spool(open.clone()))
                }
                _ => Some(EventSource::Spool(Arc::new(Spool::open(spool)?))),
            },
            (Some(_), None) => match before.map(|before| (&before.source, &before.options)) {
                Some((Some(EventSource::Buffer(buffer)), old))
                    if (old.reporting.buffer, old.reporting.upload_bytes)
                        == (options.reporting.buffer, options.reporting.upload_bytes) =>
                {
                    Some(EventSource::Buffer(buffer.clone()))
                }
                _ => Some(EventSource::Buffer(Arc::new(Buffer::new(
                    &options.reporting,
                )))),
            },
        };
        let file = match &options.file {
            None => None,
            Some(file) => match before.and_then(|before| before.file.as_ref()) {
                Some(open) if open.options() == file => Some(open.clone()),
                _ => Some(Arc::new(LogFile::open(file)?)),
            },
        };
        let stdout = match before.and_then(|before| before.stdout.clone()) {
            _ if !options.stdout => None,
            Some(stdout) => Some(stdout),
            None => Some(Arc::new(Stdout::start()?)),
        };
        let sqlite = match &options.sqlite {
            None => None,
            Some(database) => match before.and_then(|before| before.sqlite.as_ref()) {
                Some(open) if open.options() == database => Some(open.clone()),
                _ => {
                    let counts = self.0.counts.clone();
                    Some(Arc::new(LogDatabase::open(database, counts)?))
                }
            },
        };
        let otlp = match &options.otlp {
            None => None,
            Some(receiver) => match before.and_then(|before| before.otlp.as_ref()) {
                Some(open) if open.options() == receiver => Some(open.clone()),
                _ => {
                    let counts = self.0.counts.clone();
                    Some(Arc::new(OtlpLog::start(receiver, counts)?))
                }
            },
        };
        Ok(DecisionLog {
            options: options.clone(),
            labels: labels.to_vec(),
            counts: self.0.counts.clone(),
            drop_key: format!("log {}", options.drop_decision),
            mask_key: format!("log {}", options.mask_decision),
            failure: self.0.failure.clone(),
            reported: self.0.reported.clone(),
            source,
            rate: options.reporting.per_second.map(RateLimit::new),
            file,
            stdout,
            sqlite,
            otlp,
            wake: Arc::default(),
            decisions: Arc::default(),
        })
    }

    /// Starts uploading. It must be called within a tokio runtime.
    pub fn start(&self) {
        let mut uploads = self.0.uploads.lock();
        uploads.runtime = Handle::try_current().ok();
        if uploads.running.is_none() {
            self.start_upload(&mut uploads);
        }
    }

    fn start_upload(&self, uploads: &mut Uploads) {
        let log = self.0.log.load();
        let (Some(runtime), Some(log)) = (&uploads.runtime, &*log) else {
            return;
        };
        let client = log
            .options
            .service
            .as_ref()
            .and_then(|name| uploads.services.get(name));
        let (Some(source), Some(client)) = (&log.source, client) else {
            return;
        };
        let (end, ends) = watch::channel(End::No);
        let uploader = Uploader {
            source: source.clone(),
            client: client.clone(),
            resource: log.options.resource.clone(),
            reporting: log.options.reporting.clone(),
            counts: log.counts.clone(),
            failure: log.failure.clone(),
            reported: log.reported.clone(),
            wake: log.wake.clone(),
            decisions: Arc::downgrade(&log.decisions),
            end: ends,
        };
        let task = runtime.spawn(uploader.run());
        uploads.running = Some(RunningLogger { end, task });
    }

    /// Stops the log: uploads waiting events, for at most `timeout`.
    pub async fn stop(&self, timeout: Duration) {
        let tasks = {
            let mut uploads = self.0.uploads.lock();
            uploads.runtime = None;
            uploads.end(End::Flush);
            std::mem::take(&mut uploads.ending)
        };
        let otlp = self.load().as_ref().and_then(|log| log.otlp.clone());
        if tasks.is_empty() && otlp.is_none() {
            return;
        }
        info!(plugin = NAME, "Flushing decision logs.");
        let uploads = async {
            for task in tasks {
                // a panicked task has ended
                let _ = task.await;
            }
        };
        let exports = async {
            if let Some(otlp) = &otlp {
                otlp.flush(timeout).await;
            }
        };
        let all = async { tokio::join!(uploads, exports) };
        let _ = tokio::time::timeout(timeout, all).await;
        let remaining = self.load().as_ref().map_or(0, |log| log.waiting());
        if remaining > 0 {
            tracing::error!(
                plugin = NAME,
                events = remaining,
                "Decision logs were not uploaded."
            );
        }
    }
}

impl Uploads {
    fn end(&mut self, end: End) {
        self.ending.retain(|task| !task.is_finished());
        if let Some(running) = self.running.take() {
            // an uploader that has ended needs no message
            let _ = running.end.send(end);
            self.ending.push(running.task);
        }
    }
}

impl DecisionLog {
    /// Returns `true` if writing an event may take longer than a reactor may block.
    pub fn may_block(&self) -> bool {
        matches!(&self.source, Some(EventSource::Spool(spool)) if spool.may_block())
    }

    /// Reports that an event was not logged.
    pub fn failed(&self, reason: String) {
        tracing::error!(plugin = NAME, "{reason}");
        let http_code = None;
        *self.failure.lock() = Some(LogFailure {
            message: reason,
            http_code,
        });
        self.reported.send_replace(());
    }

    /// Returns the number of events that wait for an upload.
    pub fn waiting(&self) -> u64 {
        match &self.source {
            Some(EventSource::Buffer(buffer)) => buffer.len() as u64,
            Some(EventSource::Spool(spool)) => spool.len(),
            None => 0,
        }
    }

    /// Returns the name, description and value of the metric of the buffer, or `None` without one.
    pub fn buffer_size(&self) -> Option<(&'static str, &'static str, u64)> {
        let Some(EventSource::Buffer(buffer)) = &self.source else {
            return None;
        };
        Some(match self.options.reporting.buffer {
            BufferLimit::Events(_) => (
                "decision_logs_buffer_size_events",
                "Number of items waiting in the decision log event buffer.",
                buffer.len() as u64,
            ),
            BufferLimit::Bytes(_) => (
                "decision_logs_buffer_size_bytes",
                "Number of bytes waiting in the decision log size buffer.",
                buffer.bytes() as u64,
            ),
        })
    }

    /// Returns the size of the spool in bytes, or `None` without one.
    pub fn spool_bytes(&self) -> Option<u64> {
        match &self.source {
            Some(EventSource::Spool(spool)) => Some(spool.bytes()),
            _ => None,
        }
    }

    fn shares_source(&self, other: &Self) -> bool {
        match (&self.source, &other.source) {
            (Some(EventSource::Buffer(a)), Some(EventSource::Buffer(b))) => Arc::ptr_eq(a, b),
            (Some(EventSource::Spool(a)), Some(EventSource::Spool(b))) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Writes an event to each sink. The mask policy must have been applied.
    ///
    /// # Errors
    /// Fails if the event is not logged. Its decision must not be returned then.
    pub fn log(&self, event: &Event<'_>) -> Result<(), String> {
        if self.options.console {
            let text = event.text(ErrorForm::Text);
            let text = String::from_utf8_lossy(&text);
            info!(
                target: CONSOLE,
                r#type = "openpolicyagent.org/decision_logs",
                event = &*text,
                "Decision Log"
            );
        }
        let is_local = self.file.is_some() || self.stdout.is_some() || self.sqlite.is_some();
        if self.source.is_some() || self.otlp.is_some() || is_local {
            self.write(event.text(ErrorForm::Object))?;
        }
        self.counts.logged.increment();
        Ok(())
    }

    fn write(&self, event: Vec<u8>) -> Result<(), String> {
        let failed = |operation: &str, error: &dyn std::fmt::Display| {
            self.counts.write_failures.increment();
            self.failed(format!("{operation}: {error}"));
        };
        if let Some(file) = &self.file
            && let Err(error) = file.append(&event)
        {
            failed("decision_logs.file", &error);
        }
        if let Some(stdout) = &self.stdout
            && let Err(error) = stdout.append(event.clone())
        {
            failed("decision_logs.stdout", &error);
        }
        if let Some(sqlite) = &self.sqlite
            && let Err(error) = sqlite.append(event.clone())
        {
            failed("decision_logs.sqlite", &error);
        }
        if let Some(otlp) = &self.otlp
            && let Err(error) = otlp.append(event.clone())
        {
            failed("decision_logs.otlp", &error);
        }
        let Some(source) = &self.source else {
            return Ok(());
        };
        if let Some(rate) = &self.rate
            && !rate.allows(Instant::now())
        {
            self.counts.dropped_rate.increment();
            return Ok(());
        }
        match source {
            EventSource::Buffer(buffer) => {
                if buffer.push(event, &self.counts) {
                    self.wake.notify_one();
                }
            }
            EventSource::Spool(spool) => match spool.append(&event) {
                Ok(()) => {
                    if self.options.reporting.trigger == ReportingTrigger::Immediate {
                        self.wake.notify_one();
                    }
                }
                Err(SpoolError::Full(true)) => {
                    self.counts.dropped_spool.increment();
                    return Err("the spool is full".to_owned());
                }
                Err(SpoolError::Full(false)) => self.counts.dropped_spool.increment(),
                Err(SpoolError::Io(error)) => {
                    failed("decision_logs.spool", &error);
                    // with `when_full: reject`, an event that is not on disk must fail its request
                    if spool.rejects() {
                        return Err(format!("the spool cannot be written: {error}"));
                    }
                }
            },
        }
        Ok(())
    }
}
