//! Work on many modules on all processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

/// Minimum number of bytes for which threads are started.
const MIN_BYTES: usize = 64 << 10;

/// Calls `work` with each item, on several threads if the items have many bytes. The results are in the order of the items.
pub fn map<T: Sync, R: Send>(
    items: &[T],
    bytes: impl Fn(&T) -> usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let is_large = items.len() > 1 && items.iter().map(bytes).sum::<usize>() >= MIN_BYTES;
    let workers = if is_large {
        thread::available_parallelism().map_or(1, |all| all.get().min(items.len()))
    } else {
        1
    };
    if workers <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let each = || {
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else {
                return results;
            };
            results.push((index, work(item)));
        }
    };
    let mut results = thread::scope(|scope| {
        // if the system cannot create another thread, the existing ones do the work
        let helpers = (1..workers).map_while(|_| Builder::new().spawn_scoped(scope, each).ok());
        let helpers: Vec<_> = helpers.collect();
        let mut results = each();
        for other in helpers {
            match other.join() {
                Ok(results_of_helper) => results.extend(results_of_helper),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::{MIN_BYTES, map};

    #[test]
    fn results_are_in_order() {
        for bytes in [0, MIN_BYTES] {
            let items: Vec<usize> = (0..1000).collect();
            let doubled = map(&items, |_| bytes, |item| item * 2);
            let expected: Vec<usize> = (0..1000).map(|item| item * 2).collect();
            assert_eq!(doubled, expected);
            assert!(map(&[] as &[u8], |_| bytes, |item| *item).is_empty());
        }
    }
}
