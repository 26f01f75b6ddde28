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

    /// Adapts to the sizes of a chunk, by a factor of 2 at most: to the size whose compressed chunk would just fit. A chunk that is not full
    /// says little about that size: it grows then, if less than 90 % of the limit was used.
    fn adapt(&mut self, size: usize, compressed: usize) {
        let half = self.current / 2;
        let double = self.current.saturating_mul(2);
        let next = if compressed > self.limit || size >= half {
            // events differ, so a sixteenth is left free: a chunk that is too large is compressed again
            let target = self.limit - self.limit / 16;
            size.saturating_mul(target) / compressed.max(1)
        } else if compressed < self.limit / 10 * 9 {
            double
        } else {
            self.current
        };
        let max_soft_limit = self.limit.saturating_mul(FACTOR).max(1);
        self.current = next.clamp(half, double).clamp(1, max_soft_limit);
    }
}

/// Compresses events into chunks that do not exceed the limit.
///
/// If a single event exceeds the limit, its `nd_builtin_cache` is removed. If that is not enough, the event is dropped and counted.
pub fn encode(events: &[Vec<u8>], soft: &mut SoftLimit, counts: &LogCounts) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut remaining = VecDeque::from([events]);
    while let Some(events) = remaining.pop_front() {
        let size = events.iter().map(Vec::len).sum();
        let Some(body) = compress(events, size) else {
            counts.encoding_failures.add(events.len() as u64);
            continue;
        };
        soft.adapt(size, body.len());
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
                remaining.push_front(second);
                remaining.push_front(first);
            }
        }
    }
    chunks
}

/// Compresses an event without the results of nondeterministic functions, or drops it.
fn smaller(event: &[u8], limit: usize, counts: &LogCounts) -> Option<Chunk> {
    let without_cache = without_nd_cache(event);
    let body = without_cache.and_then(|event| {
        let size = event.len();
        compress(&[event], size)
    });
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

/// Compresses events of `size` bytes as an array. All are written at once, because the encoder clears its buffer for each write.
fn compress(events: &[Vec<u8>], size: usize) -> Option<Vec<u8>> {
    let mut array = Vec::with_capacity(size + events.len() + 2);
    array.push(b'[');
    for (index, event) in events.iter().enumerate() {
        if index > 0 {
            array.push(b',');
        }
        array.extend_from_slice(event);
    }
    array.push(b']');
    let write = || -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&array)?;
        encoder.finish()
    };
    // writing to memory does not fail
    write().ok()
}

#[cfg(test)]
#[path = "../../../../tests/server/unit/log_chunk.rs"]
mod tests;
