use std::time::Duration;

use super::super::counts::LogCounts;
use super::Buffer;
use crate::config::{BufferLimit, ReportingOptions, ReportingTrigger};

fn buffer(limit: BufferLimit) -> Buffer {
    Buffer::new(&ReportingOptions {
        buffer: limit,
        upload_bytes: 1000,
        min_delay: Duration::ZERO,
        max_delay: Duration::ZERO,
        per_second: None,
        trigger: ReportingTrigger::Periodic,
    })
}

fn event(number: usize) -> Vec<u8> {
    format!("{{\"n\":{number:06}}}").into_bytes()
}

#[test]
fn the_oldest_events_are_dropped() {
    let counts = LogCounts::default();
    let buffer = buffer(BufferLimit::Events(10));
    for number in 0..25 {
        buffer.push(event(number), &counts);
    }
    assert_eq!(buffer.len(), 10);
    assert_eq!(counts.dropped_events.get(), 15);
}

#[test]
fn memory_stays_within_the_limit_whether_events_are_compressed_or_not() {
    let counts = LogCounts::default();
    let buffer = buffer(BufferLimit::Bytes(Some(5000)));
    for number in 0..100_000 {
        if buffer.push(event(number), &counts) {
            buffer.encode(false, &counts);
        }
        let waiting = buffer.waiting.lock();
        let bytes: usize = waiting.chunks.iter().map(|chunk| chunk.body.len()).sum();
        let events: usize = waiting.events.iter().map(Vec::len).sum();
        assert_eq!((bytes, events), (waiting.chunk_bytes, waiting.event_bytes));
        assert!(bytes + events <= 5000);
    }
    let dropped = counts.dropped_bytes.get();
    assert_eq!(dropped + buffer.len() as u64, 100_000);
}

/// A chunk that was dropped during its upload is not mistaken for the next one.
#[test]
fn a_chunk_is_removed_once() {
    let counts = LogCounts::default();
    let buffer = buffer(BufferLimit::Events(3));
    buffer.push(event(1), &counts);
    buffer.encode(true, &counts);
    let sending = buffer.next().unwrap();
    for number in 2..5 {
        buffer.push(event(number), &counts);
    }
    assert_eq!(counts.dropped_events.get(), 1);
    buffer.encode(true, &counts);
    buffer.sent(&sending);
    assert_eq!(buffer.len(), 3);
    let sending = buffer.next().unwrap();
    buffer.sent(&sending);
    assert_eq!(buffer.len(), 0);
}
