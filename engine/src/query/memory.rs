//! Memory that evaluations leave to later ones: a little with each thread, more in a pool for all of them.

use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::EvalEnv;
use crate::bug;
use crate::error::Error;
use crate::eval::InlineCaches;
use crate::value::Arena;
use crate::{limits, snapshot};

thread_local! {
    /// The memory of this thread's last evaluation, ready for the next.
    static THREAD_MEMORY: Cell<Option<Box<Memory>>> = const { Cell::new(None) };
    /// Whether this thread is one of those that keep memory of their own.
    static SEAT: OnceCell<Seat> = const { OnceCell::new() };
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    pieces: Vec::new(),
    bytes: 0,
});

/// What an evaluation works in.
#[derive(Default)]
pub(crate) struct Memory {
    pub arena: Arena,
    caches: InlineCaches,
}

impl Memory {
    /// The inline caches for what is asked. The constants of a query mean something else in each.
    #[inline]
    pub fn caches(&self, basis: EvalEnv<'_>) -> &InlineCaches {
        let stamp = basis.state.policy.version_id;
        self.caches.of(basis.constants.is_empty().then_some(stamp))
    }
}

/// Memory that any thread may take.
#[expect(
    clippy::vec_box,
    reason = "memory moves between threads and the pool as one pointer"
)]
struct Pool {
    pieces: Vec<Box<Memory>>,
    bytes: usize,
}

/// Counts a thread that keeps memory of its own, as long as it lives.
struct Seat(bool);

static SEATS: AtomicUsize = AtomicUsize::new(0);

impl Seat {
    fn take() -> Self {
        let is_free = SEATS.fetch_add(1, Ordering::Relaxed) < limits::THREAD_ARENAS;
        if !is_free {
            SEATS.fetch_sub(1, Ordering::Relaxed);
        }
        Self(is_free)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.0 {
            SEATS.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Runs something with memory, of which it may take as much as `bounds` say.
pub(crate) fn with_memory<R>(
    bounds: &limits::Limits,
    run: impl FnOnce(&Memory) -> Result<R, Error>,
) -> Result<R, Error> {
    // what is kept counts, so it has to be small beside what is allowed
    let largest = bounds.memory.unwrap_or(usize::MAX) / 4;
    let (mut memory, is_own) = match THREAD_MEMORY.take() {
        Some(own) if own.arena.bytes() <= largest => (own, true),
        Some(_) => (Box::default(), has_seat()),
        None => pooled(largest),
    };
    let result = bug::catch(|| {
        stacker::maybe_grow(limits::VALUE_STACK, 2 * limits::VALUE_STACK, || {
            run(&memory)
        })
    });
    // memory that a panic left half written is not used again
    let result = result.map_err(Error::Internal)?;
    if is_own && memory.arena.bytes() <= limits::THREAD_ARENA {
        memory.arena.reset();
        THREAD_MEMORY.set(Some(memory));
    } else {
        leave(memory, is_own);
    }
    result
}

/// Whether this thread may keep memory of its own.
#[cold]
fn has_seat() -> bool {
    SEAT.with(|seat| seat.get_or_init(Seat::take).0)
}

/// Memory for a thread that has none of its own, and whether the thread may keep it.
#[cold]
fn pooled(largest: usize) -> (Box<Memory>, bool) {
    let mut pool = POOL.lock();
    let found = pool
        .pieces
        .iter()
        .rposition(|one| one.arena.bytes() <= largest);
    let found = found.map(|at| pool.pieces.swap_remove(at));
    pool.bytes -= found.as_ref().map_or(0, |memory| memory.arena.bytes());
    (found.unwrap_or_default(), has_seat())
}

/// Leaves memory to all threads, unless the last piece of it is small enough for the thread that owns it: with each piece
/// what is taken doubles. A thread that needed little of what others left goes on with memory of its own.
#[cold]
fn leave(mut memory: Box<Memory>, is_own: bool) {
    let needed_much = memory.arena.used() > limits::THREAD_ARENA / 2;
    memory.arena.reset();
    if is_own && memory.arena.bytes() <= limits::THREAD_ARENA {
        THREAD_MEMORY.set(Some(memory));
        return;
    }
    let bytes = memory.arena.bytes();
    let mut pool = POOL.lock();
    if pool.bytes.saturating_add(bytes) <= limits::POOLED_ARENAS {
        pool.bytes += bytes;
        pool.pieces.push(memory);
    }
    drop(pool);
    if !needed_much && has_seat() {
        THREAD_MEMORY.set(Some(Box::default()));
    }
}

/// Memory that evaluations left to later ones, in bytes: that of the pool. Threads keep at most 256 KiB each beside it.
pub fn cached_memory() -> usize {
    POOL.lock().bytes
}

/// Gives back the memory that evaluations left to later ones: all of the pool and what the calling thread has of its own,
/// the moment that it asked last among it. Other threads keep theirs, at most 256 KiB each; the next evaluations take what
/// they need anew.
///
/// ```
/// solon::release_memory();
/// assert_eq!(solon::cached_memory(), 0);
/// ```
pub fn release_memory() {
    THREAD_MEMORY.set(None);
    snapshot::release_thread_snapshot();
    let mut pool = POOL.lock();
    pool.bytes = 0;
    let pieces = std::mem::take(&mut pool.pieces);
    drop(pool);
    drop(pieces);
}

#[cfg(test)]
mod tests {
    use super::with_memory;
    use crate::limits::Limits;

    #[test]
    fn memory_of_a_similar_evaluation_is_reused() {
        const ROUNDS: usize = 40;
        let bounds = Limits::default();
        for kib in [
            1, 10, 60, 100, 120, 130, 140, 200, 250, 300, 400, 3000, 200, 10,
        ] {
            let mut cold = 0;
            for _ in 0..ROUNDS {
                let run = with_memory(&bounds, |memory| {
                    cold += usize::from(memory.arena.bytes() < kib << 9);
                    for _ in 0..kib {
                        memory.arena.bytes_text(&[b'x'; 1 << 10]);
                    }
                    Ok(())
                });
                assert!(run.is_ok());
            }
            // the first of a size finds too little, and other tests may take what lies in the pool
            assert!(cold < ROUNDS / 4, "{kib} KiB: {cold} of {ROUNDS}");
        }
    }
}
