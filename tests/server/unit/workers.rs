//! How the threads that evaluate share processors. Only Linux has priorities of threads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::super::{LONG, LatencyEstimate, Permit, Pool, SharedWork};
use crate::config::Bounds;
use crate::system::LOWER;

/// Returns the nice value of the calling thread.
fn nice() -> i32 {
    rustix::process::getpriority_process(None).unwrap()
}

/// Threads of short decisions preempt those of long ones.
#[tokio::test]
async fn long_work_runs_at_a_lower_priority() {
    let pool = Pool::new(&Bounds {
        permits: 2,
        threads: 16,
        ..Bounds::default()
    });
    let estimate = |took| {
        let estimate = Arc::<LatencyEstimate>::default();
        estimate.note(1, took);
        Some(estimate)
    };
    let normal = nice();
    let lower = (normal + LOWER).min(19);
    // no thread of one class is used by another one
    for _ in 0..3 {
        for (estimate, expected) in [
            (None, normal),
            (estimate(LONG / 2), normal),
            (estimate(2 * LONG), lower),
        ] {
            let began = pool.run(estimate.clone(), None, |_| nice()).await;
            assert_eq!(began, Ok(expected));
            let shared = pool.run(estimate, None, |permit| {
                let all = Arc::new(Mutex::new(Vec::new()));
                let noted = all.clone();
                let each = move |_: &Permit| noted.lock().push(nice());
                permit.share(&(Arc::new(each) as Arc<SharedWork>));
                all.lock().clone()
            });
            let shared = shared.await.unwrap();
            assert!(!shared.is_empty());
            assert!(shared.iter().all(|nice| *nice == expected), "{shared:?}");
        }
    }
    assert_eq!(nice(), normal);
}

#[tokio::test]
async fn work_yields_the_processor_once_in_each_interval() {
    let pool = Pool::new(&Bounds::default());
    for took in [LONG / 2, 2 * LONG] {
        let estimate = Arc::<LatencyEstimate>::default();
        estimate.note(1, took);
        let work = |permit: &Permit| {
            let start = Instant::now();
            let at = |micros| permit.yields(start + Duration::from_micros(micros));
            [at(1000), at(1050), at(1099), at(1100), at(5000), at(5001)]
        };
        let yields = pool.run(Some(estimate), None, work).await;
        assert_eq!(yields, Ok([true, false, false, true, true, false]));
    }
}
