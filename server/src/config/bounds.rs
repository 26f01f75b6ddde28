//! Every bound of the server, with its default.

use std::time::Duration;

/// What a server bounds. Bounds of single evaluations are the engine's ([`solon::Limits`]).
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Largest request body, in bytes (`server.decoding.max_length`).
    pub body: usize,
    /// Largest request body after it was unpacked, in bytes (`server.decoding.gzip.max_length`).
    pub unpacked: usize,
    /// Largest request body that is read for the authorization policy, in bytes, compressed or not.
    pub authorization_body: usize,
    /// Bytes of all bodies, unpacked bodies and answers that are held at a time.
    pub memory: usize,
    /// Connections that are open at a time.
    pub connections: usize,
    /// Headers of a request.
    pub headers: usize,
    /// Bytes of a request's head.
    pub head: usize,
    /// How long the head of a request may take, from its first byte.
    pub head_within: Duration,
    /// How long a client may rest within a body, or before it takes more of an answer.
    pub more_within: Duration,
    /// How long a connection may rest between two requests.
    pub idle: Duration,
    /// Streams of one HTTP/2 connection that are open at a time.
    pub streams: u32,
    /// Evaluations of each class that run at a time: short, long and unknown ones. Those that are known to be very short are not
    /// bounded by it.
    pub permits: usize,
    /// Threads of evaluations that run at a time, at least four.
    pub threads: usize,
    /// Requests that wait for a permit.
    pub waiting: usize,
    /// Decisions that wait for `http.send` or other host calls, each on a thread of its own.
    pub waiting_io: usize,
    /// How long a request may take from when it was read; none is without end.
    pub request: Option<Duration>,
    /// Documents that are kept prepared.
    pub documents: usize,
    /// Queries that are kept prepared.
    pub queries: usize,
    /// Inputs of a batch.
    pub batch: usize,
    /// Maximum bytes of log lines that wait to be written. Lines beyond that are dropped, counted and reported.
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
