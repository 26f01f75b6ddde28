//! Runs tests on several threads and reports their results in order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use solon::testing::{PolicyTest, TestResult};

/// Stack size of a thread that runs tests, in bytes.
const STACK: usize = 8 << 20;

/// Calls `run` with each test, on at most the given number of threads, and `report` with each result. Results are reported in the
/// order of the tests, as soon as all earlier ones are available. Stops early if `report` does. `order` contains the position of
/// each test once.
pub fn run_all<'t>(
    tests: &'t [PolicyTest],
    order: &[usize],
    threads: usize,
    run: impl Fn(&PolicyTest) -> TestResult + Sync,
    mut report: impl FnMut(&'t PolicyTest, TestResult) -> ControlFlow<()>,
) {
    if threads < 2 || tests.len() < 2 {
        // shuffled results wait for those of earlier tests
        let mut pending = InOrder::default();
        for index in order {
            let Some(test) = tests.get(*index) else {
                continue;
            };
            if pending
                .add(*index, run(test), tests, &mut report)
                .is_break()
            {
                return;
            }
        }
        return;
    }
    let (next, is_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, results) = mpsc::channel();
    let work = |sender: mpsc::Sender<(usize, TestResult)>| {
        while !is_stopped.load(Ordering::Relaxed) {
            let index = order.get(next.fetch_add(1, Ordering::Relaxed));
            let Some((index, test)) = index.and_then(|index| Some((*index, tests.get(*index)?)))
            else {
                break;
            };
            if sender.send((index, run(test))).is_err() {
                break;
            }
        }
    };
    std::thread::scope(|scope| {
        let work = &work;
        let mut started = 0;
        for _ in 0..threads.min(tests.len()) {
            let thread = std::thread::Builder::new().stack_size(STACK);
            let sender_of_thread = sender.clone();
            started += usize::from(
                thread
                    .spawn_scoped(scope, || work(sender_of_thread))
                    .is_ok(),
            );
        }
        if started == 0 {
            // no thread could be started, so the tests run on this one
            work(sender);
        } else {
            drop(sender);
        }
        let mut pending = InOrder::default();
        for _ in 0..tests.len() {
            let Ok((index, result)) = results.recv() else {
                break;
            };
            if pending.add(index, result, tests, &mut report).is_break() {
                is_stopped.store(true, Ordering::Relaxed);
                break;
            }
        }
    });
}

/// Results that wait for those of earlier tests.
#[derive(Default)]
struct InOrder {
    next: usize,
    waiting: BTreeMap<usize, TestResult>,
}

impl InOrder {
    fn add<'t>(
        &mut self,
        index: usize,
        result: TestResult,
        tests: &'t [PolicyTest],
        report: &mut impl FnMut(&'t PolicyTest, TestResult) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.waiting.insert(index, result);
        while let Some(result) = self.waiting.remove(&self.next) {
            if let Some(test) = tests.get(self.next) {
                report(test, result)?;
            }
            self.next += 1;
        }
        ControlFlow::Continue(())
    }
}

/// Returns the positions `0..count`, in random order if `is_shuffled` is set.
pub fn order(count: usize, is_shuffled: bool) -> Vec<usize> {
    use std::hash::{BuildHasher as _, RandomState};
    let mut order: Vec<usize> = (0..count).collect();
    if is_shuffled {
        // the keys of the hasher are random
        let hasher = RandomState::new();
        order.sort_by_cached_key(|index| hasher.hash_one(index));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn shuffling_keeps_all_positions() {
        let mut shuffled = order(100, true);
        assert_ne!(shuffled, order(100, false));
        shuffled.sort_unstable();
        assert_eq!(shuffled, order(100, false));
    }
}
