//! Work on many modules on all processors.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

/// Minimum number of bytes for which threads are started.
const MIN_BYTES: usize = 64 << 10;

/// Number of bytes whose processing takes as long as opening and reading a small file.
pub const FILE_BYTES: usize = 4 << 10;

/// Stack size of the threads, in bytes: enough for the passes of a compiler over deeply nested text. Untouched pages of a stack cost
/// nothing.
const STACK: usize = 32 << 20;

/// Calls `work` with each item, on several threads if the items have many bytes. The results are in the order of the items.
pub fn map<T: Sync, R: Send>(
    items: &[T],
    bytes: impl Fn(&T) -> usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let workers = workers(items, bytes);
    each(items.iter(), workers, work)
}

/// Mutable version of [`map`].
pub fn map_mut<T: Send, R: Send>(
    items: &mut [T],
    bytes: impl Fn(&T) -> usize,
    work: impl Fn(&mut T) -> R + Sync,
) -> Vec<R> {
    let workers = workers(items, bytes);
    each(items.iter_mut(), workers, work)
}

/// Calls two functions, at the same time if they have work on many bytes. If `first` fails, the result of `second` is dropped, even if
/// that panicked.
///
/// # Errors
/// The error of `first`.
pub fn both<A, B: Send, E>(
    bytes: usize,
    first: impl FnOnce() -> Result<A, E>,
    second: impl Fn() -> B + Sync,
) -> Result<(A, B), E> {
    if processors(bytes) <= 1 {
        return Ok((first()?, second()));
    }
    thread::scope(|scope| {
        let thread = Builder::new().stack_size(STACK);
        let Ok(other) = thread.spawn_scoped(scope, &second) else {
            return Ok((first()?, second()));
        };
        let first = first();
        match (first, other.join()) {
            (Err(error), _) => Err(error),
            (Ok(first), Ok(second)) => Ok((first, second)),
            (Ok(_), Err(panic)) => resume_unwind(panic),
        }
    })
}

/// Returns the number of threads for items.
fn workers<T>(items: &[T], bytes: impl Fn(&T) -> usize) -> usize {
    processors(items.iter().map(bytes).sum()).min(items.len())
}

/// Returns the number of threads for work on some bytes.
fn processors(bytes: usize) -> usize {
    if bytes < MIN_BYTES {
        return 1;
    }
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Calls `work` with each item on `workers` threads, one of which is the calling thread. A panic of `work` is passed on.
fn each<T: Send, R: Send>(
    items: impl Iterator<Item = T> + Send,
    workers: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    if workers <= 1 {
        return items.map(work).collect();
    }
    let items = Mutex::new(items.enumerate());
    // only the iterator itself runs under the lock
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let mut results = Vec::new();
        while let Some((index, item)) = next() {
            results.push((index, work(item)));
        }
        results
    };
    let mut results = thread::scope(|scope| {
        // if the system cannot create another thread, the existing ones do the work
        let helpers = (1..workers).map_while(|_| {
            let thread = Builder::new().stack_size(STACK);
            thread.spawn_scoped(scope, run).ok()
        });
        let helpers: Vec<_> = helpers.collect();
        let mut results = run();
        for other in helpers {
            match other.join() {
                Ok(results_of_helper) => results.extend(results_of_helper),
                Err(panic) => resume_unwind(panic),
            }
        }
        results
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::{MIN_BYTES, both, map, map_mut};

    #[test]
    fn a_failure_of_the_first_function_hides_the_second() {
        for bytes in [0, MIN_BYTES] {
            let sum = both(bytes, || Ok::<_, ()>(1), || 2);
            assert_eq!(sum, Ok((1, 2)));
            let failed = both(bytes, || Err::<(), _>("failed"), || panic!("ignored"));
            assert_eq!(failed, Err::<((), ()), _>("failed"));
        }
    }

    #[test]
    fn results_are_in_order() {
        for bytes in [0, MIN_BYTES] {
            let mut items: Vec<usize> = (0..1000).collect();
            let expected: Vec<usize> = (0..1000).map(|item| item * 2).collect();
            assert_eq!(map(&items, |_| bytes, |item| item * 2), expected);
            let before = map_mut(
                &mut items,
                |_| bytes,
                |item| std::mem::replace(item, *item * 2),
            );
            assert_eq!(before, (0..1000).collect::<Vec<_>>());
            assert_eq!(items, expected);
            assert!(map(&[] as &[u8], |_| bytes, |item| *item).is_empty());
        }
    }
}
