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
    /// `true` while the oldest chunk is being uploaded. It is not dropped then, so that no event is uploaded and counted as dropped.
    is_sending: bool,
    soft: SoftLimit,
}

impl Buffer {
    pub fn new(options: &ReportingOptions) -> Self {
        Self {
            limit: options.buffer,
            waiting: Mutex::new(BufferedEvents {
                events: VecDeque::new(),
                event_bytes: 0,
                chunks: VecDeque::new(),
                chunk_bytes: 0,
                chunk_events: 0,
                is_sending: false,
                soft: SoftLimit::new(options.upload_bytes),
            }),
        }
    }

    /// Adds an event. Returns `true` if there are enough events for a chunk.
    pub fn push(&self, event: Vec<u8>, counts: &LogCounts) -> bool {
        let mut state = self.waiting.lock();
        state.event_bytes += event.len();
        state.events.push_back(event);
        match self.limit {
            BufferLimit::Bytes(None) => {}
            BufferLimit::Bytes(Some(limit)) => {
                while state.event_bytes + state.chunk_bytes > limit
                    && state.drop_oldest(|dropped_bytes| {
                        counts.dropped_bytes.add(dropped_bytes);
                    })
                {}
            }
            BufferLimit::Events(limit) => {
                while state.events.len() + state.chunk_events > limit
                    && state.drop_oldest(|dropped_events| {
                        counts.dropped_events.add(dropped_events);
                    })
                {}
            }
        }
        state.event_bytes >= state.soft.get()
    }

    /// Compresses full chunks of events, or all events. It compresses without the lock, so that decisions do not wait.
    pub fn encode(&self, is_all: bool, counts: &LogCounts) {
        loop {
            let (events, mut soft) = {
                let mut state = self.waiting.lock();
                let soft = state.soft;
                if state.events.is_empty() || !is_all && state.event_bytes < soft.get() {
                    return;
                }
                let (mut events, mut bytes) = (Vec::new(), 0);
                while bytes < soft.get()
                    && let Some(event) = state.events.pop_front()
                {
                    bytes += event.len();
                    events.push(event);
                }
                // the events count until the chunk is added
                state.event_bytes -= bytes;
                state.chunk_bytes += bytes;
                state.chunk_events += events.len();
                (events, soft)
            };
            let encoded_bytes: usize = events.iter().map(Vec::len).sum();
            let chunks = encode(&events, &mut soft, counts);
            let mut state = self.waiting.lock();
            state.soft = soft;
            state.chunk_bytes -= encoded_bytes;
            state.chunk_events -= events.len();
            for chunk in chunks {
                state.chunk_bytes += chunk.body.len();
                state.chunk_events += chunk.events;
                state.chunks.push_back(chunk);
            }
        }
    }

    /// Returns the oldest chunk. It remains in the buffer and is not dropped until [`Self::sent`] or [`Self::failed`].
    pub fn next(&self) -> Option<Chunk> {
        let mut state = self.waiting.lock();
        let chunk = state.chunks.front()?.clone();
        state.is_sending = true;
        Some(chunk)
    }

    /// Removes the chunk of [`Self::next`], which was uploaded.
    pub fn count_sent(&self) {
        let mut state = self.waiting.lock();
        if std::mem::take(&mut state.is_sending) {
            state.remove_chunk(0);
        }
    }

    /// Keeps the chunk of [`Self::next`] for another upload.
    pub fn failed(&self) {
        self.waiting.lock().is_sending = false;
    }

    /// Returns the number of waiting events.
    pub fn len(&self) -> usize {
        let state = self.waiting.lock();
        state.events.len() + state.chunk_events
    }

    /// Returns the size in bytes of the waiting events.
    pub fn bytes(&self) -> usize {
        let state = self.waiting.lock();
        state.event_bytes + state.chunk_bytes
    }
}

impl BufferedEvents {
    fn remove_chunk(&mut self, position: usize) -> Option<Chunk> {
        let chunk = self.chunks.remove(position)?;
        self.chunk_bytes -= chunk.body.len();
        self.chunk_events -= chunk.events;
        Some(chunk)
    }

    /// Drops the oldest chunk that is not being uploaded or, without such chunks, the oldest event. Returns `false` if there is none.
    fn drop_oldest(&mut self, count: impl FnOnce(u64)) -> bool {
        if let Some(chunk) = self.remove_chunk(usize::from(self.is_sending)) {
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
