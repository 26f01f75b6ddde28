//! Flags for limits of the whole process.

use std::time::Duration;

use crate::cli::amounts::{duration, size};
use crate::config::Bounds;

#[derive(Clone, clap::Args)]
pub struct BoundsArgs {
    /// Maximum size of a request body, such as `256MiB` (also `server.decoding.max_length`).
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_body: Option<usize>,
    /// Maximum size of a request body that is read for an authorization policy that depends on `input.body`. Larger
    /// requests are rejected with 413.
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = size)]
    max_authorization_body: usize,
    /// Memory limit of request and response bodies of all connections; above it requests are rejected with 503.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    max_held: usize,
    /// Maximum number of open connections.
    #[arg(long, value_name = "N", default_value_t = Bounds::default().connections)]
    max_connections: usize,
    /// Maximum number of headers of a request.
    #[arg(long, value_name = "N", default_value_t = Bounds::default().headers)]
    max_headers: usize,
    /// Maximum size of a request head in bytes.
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = size)]
    max_head: usize,
    /// Number of evaluation threads; at least 4.
    #[arg(long, value_name = "N", default_value_t = Bounds::default().threads)]
    max_threads: usize,
    /// Maximum number of requests that wait for a thread; others are rejected with 503.
    #[arg(long, value_name = "N", default_value_t = Bounds::default().waiting)]
    max_waiting: usize,
    /// Maximum number of decisions that wait for `http.send` or other host calls, each on its own thread. Others that would have
    /// to wait are rejected with 503.
    #[arg(long, value_name = "N", default_value_t = Bounds::default().waiting_io)]
    max_waiting_io: usize,
    /// Capacity of the cache of prepared documents, in documents (LRU).
    #[arg(long, value_name = "N", default_value_t = Bounds::default().documents)]
    max_prepared: usize,
    /// Maximum number of inputs of a batch (`POST /v1/batch/data`).
    #[arg(long, value_name = "N", default_value_t = Bounds::default().batch)]
    max_batch: usize,
    /// Time limit of a request head, from its first byte.
    #[arg(long, value_name = "DURATION", default_value = "32s", value_parser = duration)]
    head_timeout: Duration,
    /// Idle time limit within a request or response body.
    #[arg(long, value_name = "DURATION", default_value = "32s", value_parser = duration)]
    body_timeout: Duration,
    /// Idle time limit between requests of a connection.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration)]
    idle_timeout: Duration,
    /// Time limit of a request after it was read, such as `500ms` or `1m30s`; 0 means no limit.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub timeout: Duration,
    /// Memory limit of the values of a decision, such as `512MiB` or `2GB`.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    pub memory: usize,
}

impl BoundsArgs {
    /// Returns the time limit of a request, if there is one.
    pub fn time(&self) -> Option<Duration> {
        Some(self.timeout).filter(|time| !time.is_zero())
    }

    /// Returns all limits. The limits of bodies are those of the configuration, unless a flag sets them.
    pub fn bounds(&self, body: Option<usize>, unpacked: Option<usize>) -> Bounds {
        let defaults = Bounds::default();
        Bounds {
            body: self.max_body.or(body).unwrap_or(defaults.body),
            unpacked: unpacked.unwrap_or(defaults.unpacked),
            authorization_body: self.max_authorization_body,
            memory: self.max_held,
            connections: self.max_connections,
            headers: self.max_headers,
            head: self.max_head,
            head_within: self.head_timeout,
            more_within: self.body_timeout,
            idle: self.idle_timeout,
            threads: self.max_threads,
            waiting: self.max_waiting,
            waiting_io: self.max_waiting_io,
            request: self.time(),
            documents: self.max_prepared,
            batch: self.max_batch,
            ..defaults
        }
    }
}
