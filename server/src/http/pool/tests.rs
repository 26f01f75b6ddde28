//! Turns, shared work and bounds of the pool.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{NotRun, Pace, Pool, Stopwatch, TURN, Work};
use crate::config::Bounds;

/// Ends hangs.
const LONG: Duration = Duration::from_mins(2);

fn pool(slots: usize, threads: usize, waiting: usize) -> Pool {
    Pool::new(&Bounds {
        slots,
        threads,
        waiting,
        ..Bounds::default()
    })
}

/// Works for a time, with looks as an evaluation has them.
fn work(turn: &super::Turn, time: Duration) {
    let start = Instant::now();
    work_while(turn, || start.elapsed() < time);
}

fn work_while(turn: &super::Turn, goes_on: impl Fn() -> bool) {
    while goes_on() {
        std::thread::sleep(Duration::from_millis(1));
        turn.look();
    }
}

async fn wait_until(condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(LONG, wait).await.unwrap();
}

#[tokio::test]
async fn results_come_back_and_panics_are_lost() {
    let pool = pool(2, 4, 8);
    assert_eq!(pool.run(None, |_| 7).await, Ok(7));
    let none = pool.run(None, |_| -> u32 {
        std::process::id().checked_sub(u32::MAX).unwrap()
    });
    assert_eq!(none.await, Err(NotRun::Lost));
    assert_eq!(pool.run(None, |_| 8).await, Ok(8));
}

#[tokio::test]
async fn shared_work_is_done_whole_on_every_slot() {
    for (slots, threads) in [(1, 1), (1, 4), (2, 2), (3, 8)] {
        let pool = pool(slots, threads, 64);
        let works: Vec<_> = (0..6)
            .map(|_| {
                let pool = pool.clone();
                tokio::spawn(async move {
                    let parts = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
                    let shared = parts.clone();
                    let each = move |turn: &super::Turn| {
                        // parts are longer than a turn, so that threads are waited for
                        while shared.0.fetch_add(1, Ordering::SeqCst) < 8 {
                            work(turn, Duration::from_millis(15));
                            shared.1.fetch_add(1, Ordering::SeqCst);
                        }
                    };
                    let share =
                        move |turn: &super::Turn| turn.share(&(Arc::new(each) as Arc<Work>));
                    pool.run(None, share).await.unwrap();
                    parts.1.load(Ordering::SeqCst)
                })
            })
            .collect();
        for work in works {
            assert_eq!(work.await.unwrap(), 8, "{slots} slots");
        }
        // each slot comes back, soon after what it was needed for
        wait_until(|| pool.0.state.lock().free >= slots).await;
        assert_eq!(pool.0.state.lock().free, slots);
    }
}

#[tokio::test]
async fn long_work_gives_way_to_newcomers() {
    let pool = pool(1, 8, 64);
    let goes_on = Arc::new(AtomicBool::new(true));
    let begun = Arc::new(AtomicUsize::new(0));
    let long: Vec<_> = (0..4)
        .map(|_| {
            let (pool, goes_on, begun) = (pool.clone(), goes_on.clone(), begun.clone());
            let long = move |turn: &super::Turn| {
                begun.fetch_add(1, Ordering::SeqCst);
                work_while(turn, || goes_on.load(Ordering::SeqCst));
            };
            tokio::spawn(async move { pool.run(None, long).await })
        })
        .collect();
    wait_until(|| begun.load(Ordering::SeqCst) > 0).await;
    // it would wait forever for those before it
    let newcomer = tokio::time::timeout(LONG, pool.run(None, |_| ()));
    assert_eq!(newcomer.await, Ok(Ok(())));
    wait_until(|| begun.load(Ordering::SeqCst) == 4 && pool.yielded() > 4).await;
    goes_on.store(false, Ordering::SeqCst);
    for one in long {
        one.await.unwrap().unwrap();
    }
}

/// A thread that waits, for example for a processor, works no longer.
#[test]
fn a_decision_on_a_loaded_machine_is_quick() {
    let wait = || std::thread::sleep(2 * TURN);
    let noted = |stopwatch: Stopwatch| {
        wait();
        let pace = Pace::default();
        pace.note(1, stopwatch.took());
        (pace.is_quick(), pace.is_slow())
    };
    assert_eq!(noted(Stopwatch::of_thread(false)), (true, false));
    assert_eq!(
        noted(Stopwatch::limited(Instant::now(), TURN / 2)),
        (true, false)
    );
    assert_eq!(noted(Stopwatch::of_thread(true)), (false, true));
    // work counts
    let stopwatch = Stopwatch::of_thread(false);
    while stopwatch.took() <= TURN {
        std::hint::black_box(0);
    }
    let pace = Pace::default();
    pace.note(1, stopwatch.took());
    assert!(pace.is_slow());
}

#[tokio::test]
async fn what_does_not_fit_is_refused() {
    // slots that no thread takes are none
    for slots in [1, 8] {
        let pool = pool(slots, 1, 1);
        let goes_on = Arc::new(AtomicBool::new(true));
        let begun = Arc::new(AtomicBool::new(false));
        let run = || {
            let (pool, goes_on, begun) = (pool.clone(), goes_on.clone(), begun.clone());
            let long = move |turn: &super::Turn| {
                begun.store(true, Ordering::SeqCst);
                work_while(turn, || goes_on.load(Ordering::SeqCst));
            };
            tokio::spawn(async move { pool.run(None, long).await })
        };
        let first = run();
        wait_until(|| begun.load(Ordering::SeqCst)).await;
        let second = run();
        wait_until(|| pool.0.state.lock().waiting() == 1).await;
        assert_eq!(pool.run(None, |_| ()).await, Err(NotRun::Full));
        assert_eq!(pool.refused(), 1);
        goes_on.store(false, Ordering::SeqCst);
        first.await.unwrap().unwrap();
        second.await.unwrap().unwrap();
    }
}
