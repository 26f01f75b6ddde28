//! Memory that evaluations leave for later ones.

use std::sync::Barrier;
use std::thread;

use solon::internal::limits;
use solon::{Engine, Limits, Request, cached_memory, release_memory};

const LARGE: &str = "x := count([[n, n] | some n in numbers.range(1, 400000)])";

#[test]
fn idle_threads_keep_little_and_all_can_be_released() {
    let query = Engine::new().prepare_query(LARGE).unwrap();
    let threads = 48;
    let (done, measured) = (Barrier::new(threads + 1), Barrier::new(threads + 1));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                query.solutions(&Request::new()).unwrap();
                done.wait();
                measured.wait();
            });
        }
        done.wait();
        let kept = cached_memory();
        assert!((1..=limits::POOLED_ARENAS).contains(&kept), "{kept} bytes");
        // other tests may return memory at the same time
        let released = (0..100).any(|_| {
            release_memory();
            cached_memory() < kept
        });
        measured.wait();
        assert!(released);
    });
}

#[test]
fn reused_memory_does_not_count_for_the_next_decision() {
    let query = Engine::new().prepare_query(LARGE).unwrap();
    query.solutions(&Request::new()).unwrap();
    let small = Limits::default().memory(Some(1 << 20));
    let request = Request::new().limits(&small);
    for text in [
        "x := [1, 2]",
        "x := count([n | some n in numbers.range(1, 1000)])",
    ] {
        let query = Engine::new().prepare_query(text).unwrap();
        assert!(query.solutions(&request).is_ok(), "{text}");
    }
    assert!(query.solutions(&request).is_err());
    assert!(query.solutions(&Request::new()).is_ok());
}
