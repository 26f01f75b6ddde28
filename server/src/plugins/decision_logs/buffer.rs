//! Events that wait in memory for an upload.

use std::collections::VecDeque;

use parking_lot::Mutex;

use super::chunk::{Chunk, SoftLimit, encode};
use super::counts::LogCounts;
use crate::config::{BufferLimit, ReportingOptions};

/// A bounded buffer. If it is full the oldest events are dropped and counted.
pub struct Buffer {
    limit: BufferLimit,
    waiting: Mutex<BufferedEvents>,
}

struct BufferedEvents {
    /// Events that are not compressed yet.
    events: VecDeque<Vec<u8>>,
    event_bytes: usize,
    /// Compressed events, from the oldest.
    chunks: VecDeque<Chunk>,
    chunk_bytes: usize,
    chunk_events: usize,
    /// Number of removed chunks, so that an upload removes the chunk that it has sent.
    removed: u64,
    soft: SoftLimit,
}

/// A chunk that is being uploaded.
pub struct Sending {
    /// The chunk.
    pub chunk: Chunk,
    /// Position of the chunk since startup.
    position: u64,
}

impl Buffer {
    /// Creates an empty buffer.
    pub fn new(options: &ReportingOptions) -> Self {
        Self {
            limit: options.buffer,
            waiting: Mutex::new(BufferedEvents {
                events: VecDeque::new(),
                event_bytes: 0,
                chunks: VecDeque::new(),
                chunk_bytes: 0,
                chunk_events: 0,
                removed: 0,
                soft: SoftLimit::new(options.upload_bytes),
            }),
        }
    }

    /// Adds an event. Returns `true` if there are enough events for a chunk.
    pub fn push(&self, event: Vec<u8>, counts: &LogCounts) -> bool {
        let mut waiting = self.waiting.lock();
        waiting.event_bytes += event.len();
        waiting.events.push_back(event);
        match self.limit {
            BufferLimit::Bytes(None) => {}
            BufferLimit::Bytes(Some(limit)) => {
                while waiting.event_bytes + waiting.chunk_bytes > limit
                    && waiting.drop_oldest(|dropped| {
                        counts.dropped_bytes.add(dropped);
                    })
                {}
            }
            BufferLimit::Events(limit) => {
                while waiting.events.len() + waiting.chunk_events > limit
                    && waiting.drop_oldest(|dropped| {
                        counts.dropped_events.add(dropped);
                    })
                {}
            }
        }
        waiting.event_bytes >= waiting.soft.get()
    }

    /// Compresses full chunks of events, or all events. It compresses without the lock, so that decisions do not wait.
    pub fn encode(&self, is_all: bool, counts: &LogCounts) {
        loop {
            let (events, mut soft) = {
                let mut waiting = self.waiting.lock();
                let soft = waiting.soft;
                if waiting.events.is_empty() || !is_all && waiting.event_bytes < soft.get() {
                    return;
                }
                let (mut events, mut bytes) = (Vec::new(), 0);
                while bytes < soft.get()
                    && let Some(event) = waiting.events.pop_front()
                {
                    bytes += event.len();
                    events.push(event);
                }
                // the events count until the chunk is added
                waiting.event_bytes -= bytes;
                waiting.chunk_bytes += bytes;
                waiting.chunk_events += events.len();
                (events, soft)
            };
            let taken: usize = events.iter().map(Vec::len).sum();
            let chunks = encode(&events, &mut soft, counts);
            let mut waiting = self.waiting.lock();
            waiting.soft = soft;
            waiting.chunk_bytes -= taken;
            waiting.chunk_events -= events.len();
            for chunk in chunks {
                waiting.chunk_bytes += chunk.body.len();
                waiting.chunk_events += chunk.events;
                waiting.chunks.push_back(chunk);
            }
        }
    }

    /// Returns the oldest chunk. It remains in the buffer until [`Self::sent`].
    pub fn next(&self) -> Option<Sending> {
        let waiting = self.waiting.lock();
        Some(Sending {
            chunk: waiting.chunks.front()?.clone(),
            position: waiting.removed,
        })
    }

    /// Removes an uploaded chunk, unless it was dropped meanwhile.
    pub fn sent(&self, sending: &Sending) {
        let mut waiting = self.waiting.lock();
        if waiting.removed == sending.position {
            waiting.remove_chunk();
        }
    }

    /// Returns the number of waiting events.
    pub fn len(&self) -> usize {
        let waiting = self.waiting.lock();
        waiting.events.len() + waiting.chunk_events
    }

    /// Returns the size in bytes of the waiting events.
    pub fn bytes(&self) -> usize {
        let waiting = self.waiting.lock();
        waiting.event_bytes + waiting.chunk_bytes
    }
}

impl BufferedEvents {
    fn remove_chunk(&mut self) -> Option<Chunk> {
        let chunk = self.chunks.pop_front()?;
        self.removed += 1;
        self.chunk_bytes -= chunk.body.len();
        self.chunk_events -= chunk.events;
        Some(chunk)
    }

    /// Drops the oldest chunk or, without chunks, the oldest event. Returns `false` if the buffer is empty.
    fn drop_oldest(&mut self, count: impl FnOnce(u64)) -> bool {
        if let Some(chunk) = self.remove_chunk() {
            count(chunk.events as u64);
            return true;
        }
        match self.events.pop_front() {
            Some(event) => {
                self.event_bytes -= event.len();
                count(1);
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
#[path = "../../../../tests/server/unit/log_buffer.rs"]
mod tests;
