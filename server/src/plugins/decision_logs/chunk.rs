//! Chunks: events compressed into the body of an upload.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::value::RawValue;

use super::counts::LogCounts;

/// Body of an upload: a JSON array of events, compressed with gzip.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The compressed array.
    pub body: Bytes,
    /// Number of events.
    pub events: usize,
}

/// Total size of uncompressed events at which a chunk is full. It adapts to the compression ratio.
#[derive(Clone, Copy, Debug)]
pub struct SoftLimit {
    /// Maximum size of a compressed chunk.
    limit: usize,
    current: usize,
}

/// Maximum ratio of the soft limit to the limit. Events that compress much better are not typical.
const FACTOR: usize = 64;

impl SoftLimit {
    /// Creates a soft limit that is initially the limit of compressed chunks.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            current: limit,
        }
    }

    /// Returns the size, in bytes.
    pub fn get(self) -> usize {
        self.current
    }

    /// Adapts to the compressed size of a chunk: grows if less than 90 % of the limit was used, shrinks if it was exceeded.
    fn adapt(&mut self, compressed: usize) {
        if compressed > self.limit {
            self.current = (self.current / 2).max(1);
        } else if compressed < self.limit / 10 * 9 {
            let most = self.limit.saturating_mul(FACTOR);
            self.current = self.current.saturating_mul(2).min(most);
        }
    }
}

/// Compresses events into chunks that do not exceed the limit.
///
/// If a single event exceeds the limit, its `nd_builtin_cache` is removed. If that is not enough, the event is dropped and counted.
pub fn encode(events: &[Vec<u8>], soft: &mut SoftLimit, counts: &LogCounts) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut left = VecDeque::from([events]);
    while let Some(events) = left.pop_front() {
        let Some(body) = compressed(events) else {
            counts.encoding_failures.add(events.len() as u64);
            continue;
        };
        soft.adapt(body.len());
        if body.len() <= soft.limit {
            if !events.is_empty() {
                chunks.push(Chunk {
                    body: body.into(),
                    events: events.len(),
                });
            }
            continue;
        }
        match events {
            [event] => chunks.extend(smaller(event, soft.limit, counts)),
            events => {
                let (first, second) = events.split_at(events.len() / 2);
                left.push_front(second);
                left.push_front(first);
            }
        }
    }
    chunks
}

/// Compresses an event without the results of nondeterministic functions, or drops it.
fn smaller(event: &[u8], limit: usize, counts: &LogCounts) -> Option<Chunk> {
    let without = without_nd_cache(event);
    let body = without.and_then(|event| compressed(&[event]));
    let chunk = body.filter(|body| body.len() <= limit).map(|body| Chunk {
        body: body.into(),
        events: 1,
    });
    if chunk.is_some() {
        counts.nd_cache_dropped.increment();
    } else {
        counts.encoding_failures.increment();
    }
    chunk
}

/// Returns an event without its `nd_builtin_cache`, or `None` if it has none.
fn without_nd_cache(event: &[u8]) -> Option<Vec<u8>> {
    let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(event).ok()?;
    members.remove("nd_builtin_cache")?;
    serde_json::to_vec(&members).ok()
}

fn compressed(events: &[Vec<u8>]) -> Option<Vec<u8>> {
    let write = || -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(b"[")?;
        for (at, event) in events.iter().enumerate() {
            if at > 0 {
                encoder.write_all(b",")?;
            }
            encoder.write_all(event)?;
        }
        encoder.write_all(b"]")?;
        encoder.finish()
    };
    // writing to memory does not fail
    write().ok()
}

#[cfg(test)]
#[path = "../../../../tests/server/unit/log_chunk.rs"]
mod tests;
