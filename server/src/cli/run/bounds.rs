//! Flags for limits of the whole process.

use std::time::Duration;

use crate::cli::amounts::{duration, size};
use crate::config::Bounds;

#[derive(Clone, clap::Args)]
pub struct BoundsArgs {
    /// Largest request body, like `256MiB` (also `server.decoding.max_length`)
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_body: Option<usize>,
    /// Largest request body that is read for the authorization policy, if that depends on `input.body`; beyond it requests
    /// are answered 413
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = size)]
    max_authorization_body: usize,
    /// Bytes of bodies and answers that all connections hold at a time; beyond it requests are answered 503
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    max_held: usize,
    /// Connections that are open at a time
    #[arg(long, value_name = "N", default_value_t = Bounds::default().connections)]
    max_connections: usize,
    /// Headers of a request
    #[arg(long, value_name = "N", default_value_t = Bounds::default().headers)]
    max_headers: usize,
    /// Bytes of the head of a request
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = size)]
    max_head: usize,
    /// Threads of evaluations that run; at least 4
    #[arg(long, value_name = "N", default_value_t = Bounds::default().threads)]
    max_threads: usize,
    /// Requests that wait for a thread; further ones are answered 503
    #[arg(long, value_name = "N", default_value_t = Bounds::default().waiting)]
    max_waiting: usize,
    /// Decisions that wait at a time for `http.send` or other host calls, each on a thread of its own; further requests that have
    /// to wait are answered 503
    #[arg(long, value_name = "N", default_value_t = Bounds::default().waiting_io)]
    max_waiting_io: usize,
    /// Documents that are kept prepared; the least used is forgotten first
    #[arg(long, value_name = "N", default_value_t = Bounds::default().documents)]
    max_prepared: usize,
    /// Inputs of a batch (`POST /v1/batch/data`)
    #[arg(long, value_name = "N", default_value_t = Bounds::default().batch)]
    max_batch: usize,
    /// How long the head of a request may take from its first byte
    #[arg(long, value_name = "DURATION", default_value = "32s", value_parser = duration)]
    head_timeout: Duration,
    /// How long a client may rest within a body or an answer
    #[arg(long, value_name = "DURATION", default_value = "32s", value_parser = duration)]
    body_timeout: Duration,
    /// How long a connection may rest between requests
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration)]
    idle_timeout: Duration,
    /// Longest time of a request from when it was read, like `500ms` or `1m30s`; 0 sets no bound
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub timeout: Duration,
    /// Most memory of the values of a decision, like `512MiB` or `2GB`
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
