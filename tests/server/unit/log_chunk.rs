use std::io::Read as _;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::super::counts::LogCounts;
use super::{SoftLimit, encode};

fn events(body: &[u8]) -> Vec<Value> {
    let mut text = String::new();
    GzDecoder::new(body).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns a text that does not compress well.
fn noise(length: usize, seed: u64) -> String {
    let mut state = seed + 1;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'a' + u8::try_from(state % 26).unwrap())
    };
    (0..length).map(step).collect()
}

#[test]
fn chunks_contain_all_events_and_stay_within_the_limit() {
    let counts = LogCounts::default();
    let mut soft = SoftLimit::new(1000);
    let all: Vec<Vec<u8>> = (0..200)
        .map(|number| {
            json!({"n": number, "x": noise(100, number)})
                .to_string()
                .into_bytes()
        })
        .collect();
    let chunks = encode(&all, &mut soft, &counts);
    assert!(chunks.len() > 10);
    assert!(chunks.iter().all(|chunk| chunk.body.len() <= 1000));
    let got: Vec<Value> = chunks
        .iter()
        .flat_map(|chunk| events(&chunk.body))
        .collect();
    let numbers: Vec<u64> = got
        .iter()
        .map(|event| event["n"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..200).collect::<Vec<_>>());
    assert_eq!(chunks.iter().map(|chunk| chunk.events).sum::<usize>(), 200);
}

#[test]
fn an_event_that_is_too_large_loses_its_nd_builtin_cache_or_is_dropped() {
    let counts = LogCounts::default();
    let mut soft = SoftLimit::new(200);
    let large = json!({"decision_id": "a", "nd_builtin_cache": noise(1000, 1)});
    let larger = json!({"decision_id": "b", "input": noise(1000, 1)});
    let all = [large, larger].map(|event| event.to_string().into_bytes());
    let chunks = encode(&all, &mut soft, &counts);
    assert_eq!(chunks.len(), 1);
    assert_eq!(events(&chunks[0].body), [json!({"decision_id": "a"})]);
    assert_eq!(counts.nd_cache_dropped.get(), 1);
    assert_eq!(counts.encoding_failures.get(), 1);
}

/// Events of one kind: once the size has adapted, no chunk is compressed twice, and chunks are well filled.
#[test]
fn the_soft_limit_settles() {
    let counts = LogCounts::default();
    let mut soft = SoftLimit::new(32_768);
    let event = |seed: u64| json!({"labels": {"region": "eu"}, "x": noise(60, seed)});
    let mut seed = 0;
    for round in 0..60 {
        let (mut all, mut size) = (Vec::new(), 0);
        while size < soft.get() {
            seed += 1;
            let text = event(seed).to_string().into_bytes();
            size += text.len();
            all.push(text);
        }
        let chunks = encode(&all, &mut soft, &counts);
        if round >= 10 {
            assert_eq!(chunks.len(), 1, "round {round}");
            let used = chunks[0].body.len();
            assert!(used > 32_768 / 10 * 9, "round {round}: {used}");
        }
    }
}

#[test]
fn the_soft_limit_adapts() {
    let counts = LogCounts::default();
    let mut soft = SoftLimit::new(1000);
    let small = vec![b"{}".to_vec(); 10];
    encode(&small, &mut soft, &counts);
    assert_eq!(soft.get(), 2000);
    for _ in 0..100 {
        encode(&small, &mut soft, &counts);
    }
    assert_eq!(soft.get(), 64_000);
    let large = [
        json!(noise(3000, 1)).to_string().into_bytes(),
        json!(noise(600, 2)).to_string().into_bytes(),
    ];
    encode(&large, &mut soft, &counts);
    assert!(soft.get() < 64_000);
}
