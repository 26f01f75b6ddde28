//! Log records for a receiver of OTLP. Events wait in memory, limited in number and bytes, and a separate thread sends them in batches.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::counts::LogCounts;
use crate::config::LogExportOptions;
use crate::telemetry::{Collector, logs_request};

/// Maximum size in bytes of the events that wait.
const WAITING_BYTES: usize = 128 << 20;

/// Maximum size in bytes of the events of a batch, unless there is only one. Receivers limit messages to 4 MiB.
const BATCH_BYTES: usize = 3 << 20;

/// Name of this server in log records, unless the options have one.
const SERVICE: &str = "solon";

pub struct OtlpLog {
    options: LogExportOptions,
    messages: mpsc::Sender<OtlpMessage>,
    /// Size of the events that wait, or are being sent.
    bytes: Arc<AtomicUsize>,
}

enum OtlpMessage {
    Event(Vec<u8>),
    /// Sends waiting events and drops the sender.
    Flush(oneshot::Sender<()>),
}

impl OtlpLog {
    /// Starts the thread. It connects when there are events, and ends after it has sent what waits when the sink is dropped.
    ///
    /// # Errors
    /// Fails if the options of the receiver are not valid, or no thread can be created.
    pub fn start(options: &LogExportOptions, counts: Arc<LogCounts>) -> Result<Self, String> {
        let failed = |error: String| format!("decision_logs.otlp: {error}");
        let (messages, receiver) = mpsc::channel(options.batch.queue);
        let bytes = Arc::new(AtomicUsize::new(0));
        let (started, is_started) = std::sync::mpsc::sync_channel(1);
        let (options_of_thread, buffered_bytes) = (options.clone(), bytes.clone());
        std::thread::Builder::new()
            .name("decision log".to_owned())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                let runtime = match runtime {
                    Ok(runtime) => runtime,
                    Err(error) => return drop(started.send(Err(error.to_string()))),
                };
                // the client of a receiver belongs to the runtime
                runtime.block_on(async {
                    let collector = match Collector::new(&options_of_thread.collector) {
                        Ok(collector) => collector,
                        Err(error) => return drop(started.send(Err(error))),
                    };
                    drop(started.send(Ok(())));
                    let exporter = OtlpExporter {
                        collector,
                        options: options_of_thread,
                        counts,
                        bytes: buffered_bytes,
                    };
                    exporter.run(receiver).await;
                });
            })
            .map_err(|error| failed(error.to_string()))?;
        let result = is_started.recv();
        result
            .map_err(|error| failed(error.to_string()))?
            .map_err(failed)?;
        Ok(Self {
            options: options.clone(),
            messages,
            bytes,
        })
    }

    pub fn options(&self) -> &LogExportOptions {
        &self.options
    }

    /// Adds an event to the queue.
    ///
    /// # Errors
    /// Fails if too many events wait, or they are too large together.
    pub fn append(&self, event: Vec<u8>) -> io::Result<()> {
        let size = event.len();
        let before = self.bytes.fetch_add(size, Ordering::Relaxed);
        let error = if before.saturating_add(size) > WAITING_BYTES {
            "the waiting events are too large"
        } else {
            match self.messages.try_send(OtlpMessage::Event(event)) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(_)) => "the receiver does not accept events fast enough",
                Err(TrySendError::Closed(_)) => "the sink has stopped",
            }
        };
        self.bytes.fetch_sub(size, Ordering::Relaxed);
        Err(io::Error::other(error))
    }

    /// Sends the events that wait, for at most `timeout`.
    pub async fn flush(&self, timeout: Duration) {
        let (flushed, completion) = oneshot::channel();
        let flush = async {
            if self
                .messages
                .send(OtlpMessage::Flush(flushed))
                .await
                .is_ok()
            {
                // the sender is dropped when the events were sent
                let _ = completion.await;
            }
        };
        let _ = tokio::time::timeout(timeout, flush).await;
    }
}

/// Sends events.
struct OtlpExporter {
    collector: Collector,
    options: LogExportOptions,
    counts: Arc<LogCounts>,
    bytes: Arc<AtomicUsize>,
}

impl OtlpExporter {
    async fn run(self, mut messages: mpsc::Receiver<OtlpMessage>) {
        while let Some(first) = messages.recv().await {
            let (mut events, mut size, mut flushed) = (Vec::new(), 0, None);
            let end = Instant::now() + self.options.batch.delay;
            let mut next = Some(first);
            while let Some(message) = next {
                match message {
                    OtlpMessage::Event(event) => {
                        size += event.len();
                        events.push(event);
                    }
                    OtlpMessage::Flush(completion) => {
                        flushed = Some(completion);
                        break;
                    }
                }
                if events.len() >= self.options.batch.items || size >= BATCH_BYTES {
                    break;
                }
                next = tokio::time::timeout_at(end, messages.recv())
                    .await
                    .unwrap_or_default();
            }
            self.send(&events).await;
            self.bytes.fetch_sub(size, Ordering::Relaxed);
            drop(flushed);
        }
    }

    async fn send(&self, events: &[Vec<u8>]) {
        if events.is_empty() {
            return;
        }
        let texts = events.iter().map(Vec::as_slice);
        let request = logs_request(texts, &self.options.collector, SERVICE);
        let timeout = self.options.batch.export_timeout;
        let (lost_events, reason) = match self.collector.send_logs(request, timeout).await {
            Ok(response) => match response.partial_success {
                Some(partial) if partial.rejected_log_records > 0 => (
                    partial.rejected_log_records.unsigned_abs(),
                    partial.error_message,
                ),
                _ => return,
            },
            Err(error) => (events.len() as u64, error),
        };
        self.counts.write_failures.add(lost_events);
        tracing::error!(
            plugin = "decision_logs",
            err = reason,
            events = lost_events,
            "Events were not sent over OTLP."
        );
    }
}
