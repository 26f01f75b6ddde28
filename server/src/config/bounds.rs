//! Limits of the server, with their defaults.

use std::time::Duration;

/// Limits of the server. The limits of single evaluations are those of the engine ([`solon::Limits`]).
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Maximum size of a request body, in bytes (`server.decoding.max_length`).
    pub body: usize,
    /// Maximum size of a request body after decompression, in bytes (`server.decoding.gzip.max_length`).
    pub unpacked: usize,
    /// Maximum size of a request body that is read for the authorization policy, in bytes, before and after decompression.
    pub authorization_body: usize,
    /// Total size of all bodies, decompressed bodies and responses in memory, in bytes.
    pub memory: usize,
    /// Maximum number of open connections.
    pub connections: usize,
    /// Maximum number of headers of a request.
    pub headers: usize,
    /// Maximum size of a request head, in bytes.
    pub head: usize,
    /// Time limit of receiving a request head, from its first byte.
    pub head_within: Duration,
    /// Maximum pause of a client while it sends a body or receives a response.
    pub more_within: Duration,
    /// Maximum idle time of a connection between two requests.
    pub idle: Duration,
    /// Maximum number of concurrent streams of an HTTP/2 connection.
    pub streams: u32,
    /// Maximum number of concurrent evaluations of each class: short, long and unknown. Evaluations that are known to be very short
    /// are not limited by it.
    pub permits: usize,
    /// Maximum number of threads that evaluate at the same time, at least four.
    pub threads: usize,
    /// Maximum number of requests that wait for a permit.
    pub waiting: usize,
    /// Maximum number of decisions that wait for `http.send` or other host calls, each on a separate thread.
    pub waiting_io: usize,
    /// Time limit of a request, from the end of its head; `None` is unlimited.
    pub request: Option<Duration>,
    /// Maximum number of prepared documents in the cache.
    pub documents: usize,
    /// Maximum number of prepared queries in the cache.
    pub queries: usize,
    /// Maximum number of inputs of a batch.
    pub batch: usize,
    /// Maximum size of the queue of log lines, in bytes. Lines beyond it are dropped, counted and reported.
    pub log: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            body: 256 << 20,
            unpacked: 512 << 20,
            authorization_body: 1 << 20,
            memory: 1 << 30,
            connections: 20_000,
            headers: 100,
            head: 1 << 20,
            head_within: Duration::from_secs(32),
            more_within: Duration::from_secs(32),
            idle: Duration::from_mins(10),
            streams: 250,
            permits: std::thread::available_parallelism().map_or(2, usize::from),
            threads: 64,
            waiting: 4096,
            waiting_io: 2048,
            request: Some(Duration::from_secs(30)),
            documents: 1024,
            queries: 256,
            batch: 100_000,
            log: 16 << 20,
        }
    }
}
