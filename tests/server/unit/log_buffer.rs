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

/// Each event is uploaded or counted as dropped, never both.
#[test]
fn a_chunk_is_not_dropped_during_its_upload() {
    let counts = LogCounts::default();
    let buffer = buffer(BufferLimit::Events(3));
    buffer.push(event(1), &counts);
    buffer.encode(true, &counts);
    let sending = buffer.next().unwrap();
    for number in 2..5 {
        buffer.push(event(number), &counts);
    }
    // event 2 is the oldest that is not being uploaded
    assert_eq!(counts.dropped_events.get(), 1);
    buffer.encode(true, &counts);
    buffer.count_sent();
    assert_eq!((sending.events, buffer.len()), (1, 2));
    let sending = buffer.next().unwrap();
    buffer.count_sent();
    assert_eq!((sending.events, buffer.len()), (2, 0));
    // nothing is being uploaded
    buffer.count_sent();
    assert_eq!(counts.dropped_events.get(), 1);
}

#[test]
fn a_chunk_whose_upload_failed_may_be_dropped() {
    let counts = LogCounts::default();
    let buffer = buffer(BufferLimit::Events(2));
    buffer.push(event(1), &counts);
    buffer.encode(true, &counts);
    assert_eq!(buffer.next().unwrap().events, 1);
    buffer.failed();
    for number in 2..4 {
        buffer.push(event(number), &counts);
    }
    assert_eq!((counts.dropped_events.get(), buffer.len()), (1, 2));
    buffer.encode(true, &counts);
    assert_eq!(buffer.next().unwrap().events, 2);
    buffer.count_sent();
    assert_eq!(buffer.len(), 0);
}

/// A chunk alone may exceed the limit while it is being uploaded: new events are dropped then.
#[test]
fn events_are_dropped_while_a_chunk_fills_the_buffer() {
    let counts = LogCounts::default();
    let buffer = buffer(BufferLimit::Events(1));
    buffer.push(event(1), &counts);
    buffer.encode(true, &counts);
    assert_eq!(buffer.next().unwrap().events, 1);
    buffer.push(event(2), &counts);
    assert_eq!((counts.dropped_events.get(), buffer.len()), (1, 1));
    buffer.count_sent();
    assert_eq!(buffer.len(), 0);
}
