//! Permits, deadlines and host calls of the pool.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::estimate::{LatencyEstimate, Stopwatch};
use super::{Class, LONG, NotRun, Permit, Pool, SharedWork};
use crate::config::Bounds;

/// Time-out of tests that hang.
const HANG: Duration = Duration::from_mins(2);

fn pool(permits: usize, threads: usize, waiting: usize, waiting_io: usize) -> Pool {
    Pool::new(&Bounds {
        permits,
        threads,
        waiting,
        waiting_io,
        ..Bounds::default()
    })
}

async fn wait_until(holds: impl Fn() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(HANG, wait).await.unwrap();
}

/// Returns an estimate after a decision with this duration.
fn estimate(took: Duration) -> Arc<LatencyEstimate> {
    let estimate = Arc::<LatencyEstimate>::default();
    estimate.note(1, took);
    estimate
}

fn short() -> Arc<LatencyEstimate> {
    estimate(LONG / 2)
}

fn long() -> Arc<LatencyEstimate> {
    estimate(2 * LONG)
}

/// A switch that ends work.
#[derive(Clone, Default)]
struct Switch(Arc<AtomicBool>);

impl Switch {
    fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Uses the processor until the switch is set, as an evaluation does.
    fn work(&self, permit: &Permit) {
        while !self.0.load(Ordering::SeqCst) {
            permit.poll();
        }
    }
}

/// Starts work that uses the processor until the switch is set, and counts the started ones.
fn busy(
    pool: &Pool,
    estimate: Option<Arc<LatencyEstimate>>,
    end: &Switch,
    begun: &Arc<AtomicUsize>,
) -> tokio::task::JoinHandle<Result<(), NotRun>> {
    let (pool, end, begun) = (pool.clone(), end.clone(), begun.clone());
    tokio::spawn(async move {
        let work = move |permit: &Permit| {
            begun.fetch_add(1, Ordering::SeqCst);
            end.work(permit);
        };
        pool.run(estimate, None, work).await
    })
}

/// Starts work that has a permit and is idle until the switch is set. It never polls, and so stays in its class.
fn hold(
    pool: &Pool,
    estimate: Option<Arc<LatencyEstimate>>,
    end: &Switch,
    begun: &Arc<AtomicUsize>,
) -> tokio::task::JoinHandle<Result<(), NotRun>> {
    let (pool, end, begun) = (pool.clone(), end.clone(), begun.clone());
    tokio::spawn(async move {
        let work = move |_: &Permit| {
            begun.fetch_add(1, Ordering::SeqCst);
            while !end.0.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        pool.run(estimate, None, work).await
    })
}

/// A backend: host calls wait until it responds.
#[derive(Clone)]
struct Backend {
    waiting: Arc<AtomicUsize>,
    responds: Switch,
}

impl Backend {
    fn new() -> Self {
        Self {
            waiting: Arc::default(),
            responds: Switch::default(),
        }
    }

    fn call(&self, permit: &Permit) {
        permit.host_call(&mut || {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            while !self.responds.0.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
    }

    /// Starts work that makes a host call. Returns `true` if the call was rejected.
    fn start(&self, pool: &Pool) -> tokio::task::JoinHandle<Result<bool, NotRun>> {
        let (pool, backend) = (pool.clone(), self.clone());
        tokio::spawn(async move {
            let work = move |permit: &Permit| {
                backend.call(permit);
                permit.is_rejected()
            };
            pool.run(Some(short()), None, work).await
        })
    }

    fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn results_come_back_and_panics_are_lost() {
    let pool = pool(2, 8, 8, 1);
    assert_eq!(pool.run(None, None, |_| 7).await, Ok(7));
    let none = pool.run(None, None, |_| -> u32 {
        std::process::id().checked_sub(u32::MAX).unwrap()
    });
    assert_eq!(none.await, Err(NotRun::Panicked));
    assert_eq!(pool.run(None, None, |_| 8).await, Ok(8));
    wait_until(|| pool.0.unknown.available_permits() == 2).await;
}

#[tokio::test]
async fn work_of_a_class_leaves_the_permits_of_the_others() {
    for (permits, threads) in [(1, 1), (1, 4), (2, 8)] {
        for class in [None, Some(short()), Some(long())] {
            let pool = pool(permits, threads, 64, 1);
            let (end, begun) = (Switch::default(), Arc::<AtomicUsize>::default());
            let taken: Vec<_> = (0..2 * permits)
                .map(|_| hold(&pool, class.clone(), &end, &begun))
                .collect();
            wait_until(|| begun.load(Ordering::SeqCst) == permits).await;
            let own = Class::from_estimate(class.as_deref());
            for other in [None, Some(short()), Some(long())] {
                if Class::from_estimate(other.as_deref()) != own {
                    let done = tokio::time::timeout(HANG, pool.run(other, None, |_| ()));
                    assert_eq!(done.await, Ok(Ok(())), "{own:?}");
                }
            }
            assert_eq!(begun.load(Ordering::SeqCst), permits);
            end.set();
            for one in taken {
                assert_eq!(one.await.unwrap(), Ok(()));
            }
        }
    }
}

/// The first requests for documents arrive before there are any estimates.
#[tokio::test]
async fn long_work_without_an_estimate_lets_other_work_begin() {
    let pool = pool(1, 8, 64, 1);
    let (end, begun) = (Switch::default(), Arc::<AtomicUsize>::default());
    let document = Arc::<LatencyEstimate>::default();
    let unknown: Vec<_> = (0..20)
        .map(|_| busy(&pool, Some(document.clone()), &end, &begun))
        .collect();
    wait_until(|| document.is_long()).await;
    wait_until(|| pool.overran() > 0).await;
    // the others of the document wait for the long permit, not for the unknown one.
    let other = tokio::time::timeout(HANG, pool.run(None, None, |_| ()));
    assert_eq!(other.await, Ok(Ok(())));
    for _ in 0..5 {
        let short = tokio::time::timeout(HANG, pool.run(Some(short()), None, |_| ()));
        assert_eq!(short.await, Ok(Ok(())));
    }
    end.set();
    for one in unknown {
        assert_eq!(one.await.unwrap(), Ok(()));
    }
    assert_eq!(begun.load(Ordering::SeqCst), 20);
    // no duration was recorded: only running decisions classified it as long.
    assert!(!document.is_long());
}

/// First decisions of documents have no estimate that classifies the next ones as long.
#[tokio::test]
async fn more_endless_work_than_may_be_overlong_lets_other_work_begin() {
    for endless in [None, Some(short as fn() -> _)] {
        let pool = pool(1, 8, 64, 20);
        let (end, begun) = (Switch::default(), Arc::<AtomicUsize>::default());
        let endless: Vec<_> = (0..20)
            .map(|_| busy(&pool, endless.map(|one| one()), &end, &begun))
            .collect();
        wait_until(|| begun.load(Ordering::SeqCst) == 20).await;
        assert_eq!(pool.0.overlong.available_permits(), 0);
        for other in [None, Some(short())] {
            let other = tokio::time::timeout(HANG, pool.run(other, None, |_| ()));
            assert_eq!(other.await, Ok(Ok(())));
        }
        end.set();
        for one in endless {
            assert_eq!(one.await.unwrap(), Ok(()));
        }
    }
}

/// Estimates may be wrong: the decisions of a document can depend on the input.
#[tokio::test]
async fn overlong_work_lets_other_work_of_its_class_begin() {
    for (estimates, count) in [(Some(short as fn() -> _), 4), (Some(long), 2), (None, 4)] {
        let pool = pool(1, 8, 64, 1);
        let (end, begun) = (Switch::default(), Arc::<AtomicUsize>::default());
        let overlong: Vec<_> = (0..count)
            .map(|_| busy(&pool, estimates.map(|one| one()), &end, &begun))
            .collect();
        wait_until(|| begun.load(Ordering::SeqCst) == count).await;
        end.set();
        for one in overlong {
            assert_eq!(one.await.unwrap(), Ok(()));
        }
        let overlong = pool.0.overlong.clone();
        wait_until(|| overlong.available_permits() == 5).await;
    }
}

#[tokio::test]
async fn waiting_work_gives_its_permit_back() {
    let pool = pool(1, 4, 4, 100);
    let backend = Backend::new();
    let mut waiting = Vec::new();
    for count in 1..=100 {
        waiting.push(backend.start(&pool));
        wait_until(|| backend.waiting() == count).await;
    }
    assert_eq!(pool.in_host_calls(), 100);
    let done = tokio::time::timeout(HANG, pool.run(Some(short()), None, |_| ()));
    assert_eq!(done.await, Ok(Ok(())));
    backend.responds.set();
    for one in waiting {
        assert_eq!(one.await.unwrap(), Ok(false));
    }
    assert_eq!(pool.in_host_calls(), 0);
    wait_until(|| pool.0.waiting_io.available_permits() == 100).await;
    assert_eq!(pool.0.short.available_permits(), 1);
}

#[tokio::test]
async fn waiting_decisions_are_bounded() {
    for bound in [0, 1, 5] {
        let pool = pool(2, 8, 64, bound);
        let backend = Backend::new();
        let waiting: Vec<_> = (0..bound).map(|_| backend.start(&pool)).collect();
        wait_until(|| backend.waiting() == bound).await;
        assert_eq!(pool.rejected(), 0);
        assert_eq!(backend.start(&pool).await.unwrap(), Ok(true));
        assert_eq!(pool.rejected(), 1);
        // its call was skipped
        assert_eq!(backend.waiting(), bound);
        // work that does not wait is not subject to this limit
        assert_eq!(pool.run(Some(short()), None, |_| 1).await, Ok(1));
        backend.responds.set();
        for one in waiting {
            assert_eq!(one.await.unwrap(), Ok(false));
        }
        if bound > 0 {
            wait_until(|| pool.0.waiting_io.available_permits() == bound).await;
            assert_eq!(backend.start(&pool).await.unwrap(), Ok(false));
        }
    }
}

/// Otherwise the number of threads would be unlimited because many calls can end at the same time.
#[tokio::test]
async fn work_that_has_waited_keeps_its_permit_until_it_ends() {
    let pool = pool(1, 4, 4, 1);
    let (backend, end) = (Backend::new(), Switch::default());
    backend.responds.set();
    let (in_work, in_end) = (backend.clone(), end.clone());
    let other = pool.clone();
    let first = tokio::spawn(async move {
        let work = move |permit: &Permit| {
            in_work.call(permit);
            in_end.work(permit);
            // it already has a permit, so it is not rejected midway.
            in_work.call(permit);
            permit.is_rejected()
        };
        other.run(None, None, work).await
    });
    wait_until(|| backend.waiting() == 1).await;
    wait_until(|| pool.in_host_calls() == 0).await;
    assert_eq!(backend.start(&pool).await.unwrap(), Ok(true));
    end.set();
    assert_eq!(first.await.unwrap(), Ok(false));
    assert_eq!(backend.waiting(), 2);
}

#[tokio::test]
async fn after_a_host_call_work_takes_a_permit_again() {
    let pool = pool(1, 4, 4, 4);
    let (backend, end, begun) = (
        Backend::new(),
        Switch::default(),
        Arc::<AtomicUsize>::default(),
    );
    let waiting = backend.start(&pool);
    wait_until(|| backend.waiting() == 1).await;
    let short_work = hold(&pool, Some(short()), &end, &begun);
    wait_until(|| begun.load(Ordering::SeqCst) == 1).await;
    backend.responds.set();
    wait_until(|| pool.in_host_calls() == 0).await;
    assert!(!waiting.is_finished());
    end.set();
    assert_eq!(waiting.await.unwrap(), Ok(false));
    assert_eq!(short_work.await.unwrap(), Ok(()));
}

#[tokio::test]
async fn deadlines_end_the_wait_for_a_permit() {
    let pool = pool(1, 4, 4, 4);
    let (end, begun) = (Switch::default(), Arc::<AtomicUsize>::default());
    let other = pool.clone();
    let soon = Instant::now() + Duration::from_millis(50);
    // the permit that it gives back is taken while it waits.
    let (goes_on, may_go_on) = mpsc::channel::<()>();
    let waiting = tokio::spawn(async move {
        let work = move |permit: &Permit| {
            permit.host_call(&mut || may_go_on.recv().unwrap());
            permit.is_rejected()
        };
        other.run(Some(short()), Some(soon), work).await
    });
    wait_until(|| pool.in_host_calls() == 1).await;
    let holder = hold(&pool, Some(short()), &end, &begun);
    wait_until(|| begun.load(Ordering::SeqCst) == 1).await;
    goes_on.send(()).unwrap();
    // it ends without a permit, since its evaluation would end at the next check.
    assert_eq!(waiting.await.unwrap(), Ok(false));
    let late = pool.run(Some(short()), Some(soon), |_| ());
    assert_eq!(late.await, Err(NotRun::Late));
    assert_eq!(pool.0.queued.load(Ordering::SeqCst), 0);
    end.set();
    assert_eq!(holder.await.unwrap(), Ok(()));
}

#[tokio::test]
async fn requests_that_wait_for_a_permit_are_bounded() {
    // at most one permit per thread is given out
    for permits in [1, 8] {
        let pool = pool(permits, 1, 1, 1);
        let (end, begun) = (Switch::default(), Arc::<AtomicUsize>::default());
        let run = |pool: &Pool| hold(pool, Some(short()), &end, &begun);
        let first = run(&pool);
        wait_until(|| begun.load(Ordering::SeqCst) == 1).await;
        let second = run(&pool);
        wait_until(|| pool.0.queued.load(Ordering::SeqCst) == 1).await;
        assert_eq!(
            pool.run(Some(short()), None, |_| ()).await,
            Err(NotRun::Full)
        );
        assert_eq!(pool.rejected(), 1);
        // a disconnected client stops waiting
        second.abort();
        wait_until(|| pool.0.queued.load(Ordering::SeqCst) == 0).await;
        let third = run(&pool);
        wait_until(|| pool.0.queued.load(Ordering::SeqCst) == 1).await;
        end.set();
        assert_eq!(first.await.unwrap(), Ok(()));
        assert_eq!(third.await.unwrap(), Ok(()));
        assert_eq!(begun.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test]
async fn shared_work_is_done_whole_on_all_permits() {
    for (permits, threads) in [(1, 1), (1, 4), (2, 8), (3, 16)] {
        let pool = pool(permits, threads, 64, 1);
        let works: Vec<_> = (0..6)
            .map(|_| {
                let pool = pool.clone();
                tokio::spawn(async move {
                    let parts = Arc::new((AtomicUsize::new(0), Mutex::new(Vec::new())));
                    let shared = parts.clone();
                    let each = move |permit: &Permit| {
                        loop {
                            let part = shared.0.fetch_add(1, Ordering::SeqCst);
                            if part >= 8 {
                                return;
                            }
                            permit.poll();
                            std::thread::sleep(Duration::from_millis(2));
                            shared.1.lock().push(part);
                        }
                    };
                    let share =
                        move |permit: &Permit| permit.share(&(Arc::new(each) as Arc<SharedWork>));
                    pool.run(None, None, share).await.unwrap();
                    // no thread references the parts any more
                    let (_, done) = Arc::into_inner(parts).unwrap();
                    let mut done = done.into_inner();
                    done.sort_unstable();
                    done
                })
            })
            .collect();
        for work in works {
            assert_eq!(work.await.unwrap(), (0..8).collect::<Vec<_>>());
        }
        let unknown = &pool.0.unknown;
        wait_until(|| unknown.available_permits() == permits).await;
    }
}

#[tokio::test]
async fn a_rejected_part_rejects_the_whole_request() {
    let pool = pool(2, 8, 64, 0);
    let begun = Arc::<AtomicUsize>::default();
    let share = move |permit: &Permit| {
        let main = std::thread::current().id();
        let each = move |permit: &Permit| {
            begun.fetch_add(1, Ordering::SeqCst);
            let other_began = Instant::now();
            while begun.load(Ordering::SeqCst) < 2 && other_began.elapsed() < HANG {
                std::thread::yield_now();
            }
            if std::thread::current().id() != main {
                permit.host_call(&mut || ());
            }
        };
        permit.share(&(Arc::new(each) as Arc<SharedWork>));
        permit.is_rejected()
    };
    assert_eq!(pool.run(None, None, share).await, Ok(true));
}

/// The server may stop while decisions wait.
#[test]
fn a_pool_ends_without_waiting_for_its_work() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (backend, dropped) = (Backend::new(), Switch::default());
    runtime.block_on(async {
        let pool = pool(1, 4, 4, 1);
        drop(backend.start(&pool));
        wait_until(|| backend.waiting() == 1).await;
        drop(pool);
        dropped.set();
    });
    drop(runtime);
    assert!(dropped.0.load(Ordering::SeqCst));
    backend.responds.set();
}

/// A thread that waits, for a processor or for a host call, does not use processor time.
#[test]
fn decisions_on_a_loaded_machine_are_short() {
    let noted = |stopwatch: Stopwatch| {
        std::thread::sleep(2 * LONG);
        let estimate = LatencyEstimate::default();
        estimate.note(1, stopwatch.took());
        Class::from_estimate(Some(&estimate))
    };
    assert_eq!(noted(Stopwatch::of_thread()), Class::Short);
    let limited = Stopwatch::limited(Instant::now(), LONG / 2);
    assert_eq!(noted(limited), Class::Short);
    // work counts
    let stopwatch = Stopwatch::of_thread();
    while stopwatch.took() <= LONG {
        std::hint::black_box(0);
    }
    let class = Class::from_estimate(Some(&estimate(stopwatch.took())));
    assert_eq!(class, Class::Long);
}
