//! Memory that evaluations reuse: a small amount for each thread, the rest in a shared pool.

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
    /// The memory of this thread's last evaluation, for the next one.
    static THREAD_MEMORY: Cell<Option<Box<EvalMemory>>> = const { Cell::new(None) };
    /// `true` if this thread keeps memory between evaluations.
    static SEAT: OnceCell<Seat> = const { OnceCell::new() };
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    pieces: Vec::new(),
    bytes: 0,
});

/// The memory of an evaluation: the arena and the inline caches, used again by the next one.
#[derive(Default)]
pub(crate) struct EvalMemory {
    pub arena: Arena,
    caches: InlineCaches,
}

impl EvalMemory {
    /// Returns the inline caches for a program. Those of queries are cleared, because constants of a query have other
    /// meanings in the next.
    #[inline]
    pub fn caches(&self, env: EvalEnv<'_>) -> &InlineCaches {
        let stamp = env.state.policy.version_id;
        self.caches
            .of_policy(env.constants.is_empty().then_some(stamp))
    }
}

/// Memory that any thread may take.
#[expect(
    clippy::vec_box,
    reason = "memory moves between threads and the pool as one pointer"
)]
struct Pool {
    pieces: Vec<Box<EvalMemory>>,
    bytes: usize,
}

/// Counts a thread that keeps memory, as long as it exists.
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

/// Calls `run` with memory, limited by `bounds`. Memory of an earlier evaluation is used again unless it is large in
/// comparison.
pub(crate) fn with_memory<R>(
    bounds: &limits::Limits,
    run: impl FnOnce(&EvalMemory) -> Result<R, Error>,
) -> Result<R, Error> {
    // reused memory counts towards the limit, so it must be small in comparison
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
    // memory that a panic left in an inconsistent state is not reused
    let result = result.map_err(Error::Internal)?;
    if is_own && memory.arena.bytes() <= limits::THREAD_ARENA {
        memory.arena.reset();
        THREAD_MEMORY.set(Some(memory));
    } else {
        leave(memory, is_own);
    }
    result
}

/// Returns `true` if this thread may keep memory.
#[cold]
fn has_seat() -> bool {
    SEAT.with(|seat| seat.get_or_init(Seat::take).0)
}

/// Returns memory for a thread that has none, and whether the thread may keep it.
#[cold]
fn pooled(largest: usize) -> (Box<EvalMemory>, bool) {
    let mut pool = POOL.lock();
    let found = pool
        .pieces
        .iter()
        .rposition(|one| one.arena.bytes() <= largest);
    let found = found.map(|at| pool.pieces.swap_remove(at));
    pool.bytes -= found.as_ref().map_or(0, |memory| memory.arena.bytes());
    (found.unwrap_or_default(), has_seat())
}

/// Returns memory to the pool, unless its last chunk is small enough for the thread that owns it: each chunk is twice
/// as large as the previous one. A thread that needed little of pooled memory continues with memory of its own.
#[cold]
fn leave(mut memory: Box<EvalMemory>, is_own: bool) {
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

/// Returns the size of memory in the shared pool, in bytes. In addition threads keep at most 256 KiB each.
pub fn cached_memory() -> usize {
    POOL.lock().bytes
}

/// Frees memory that evaluations left for later ones: all of the pool and that of the calling thread, including the
/// snapshot that it used last. Other threads keep theirs, at most 256 KiB each. Later evaluations allocate memory
/// again.
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
            // the first evaluation of a size finds too little, and other tests may take memory from the pool
            assert!(cold < ROUNDS / 4, "{kib} KiB: {cold} of {ROUNDS}");
        }
    }
}
