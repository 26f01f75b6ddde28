//! The current moment, which readers find without a lock and writers replace.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::SnapshotState;
use crate::limits;

/// Stamps of moments that never become current are below all others.
const FIRST_VERSION_ID: u64 = 1 << 62;

/// A number that no policy and no moment of this process has had; later ones are larger.
pub(crate) fn next_version_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(FIRST_VERSION_ID);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// The same for what never becomes current: handles that follow an engine do not take it for later than what is.
pub(crate) fn next_trial_version_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

thread_local! {
    /// The moment that this thread asked last. While it is current, finding it takes one load and a comparison.
    static THREAD_SNAPSHOT: Cell<Option<Arc<SnapshotState>>> = const { Cell::new(None) };
}

/// The moment that a decision runs within, which its thread keeps when it ends.
struct ThreadSnapshotGuard {
    state: Option<Arc<SnapshotState>>,
    is_kept: bool,
}

impl Drop for ThreadSnapshotGuard {
    #[inline]
    fn drop(&mut self) {
        if self.is_kept
            && let Some(other) = THREAD_SNAPSHOT.replace(self.state.take())
        {
            drop_displaced(other);
        }
    }
}

/// A moment that a decision within a decision left here.
#[cold]
#[inline(never)]
fn drop_displaced(other: Arc<SnapshotState>) {
    drop(other);
}

/// Releases the policy and documents of the engine that the calling thread evaluated last.
///
/// A thread keeps them so that its next evaluation finds them without synchronisation, and they stay in memory after they
/// were replaced. A host calls this on a thread that becomes idle. [`release_memory`](crate::release_memory) does it, too.
///
/// ```
/// let engine = solon::Engine::new();
/// engine.prepare_document("p/allow")?.evaluate(&solon::Request::new())?;
/// solon::release_thread_snapshot();
/// # Ok::<(), solon::Error>(())
/// ```
#[cold]
pub fn release_thread_snapshot() {
    drop(THREAD_SNAPSHOT.try_with(Cell::take));
}

/// The current moment of an engine.
pub(crate) struct CurrentSnapshot {
    current: ArcSwap<SnapshotState>,
    /// The stamp of the current moment.
    version_id: AtomicU64,
    /// Earlier moments that somebody may still hold. Writers free them: a decision never waits for that.
    retired: Mutex<Vec<Arc<SnapshotState>>>,
    /// Whether threads may keep the moment that they asked: not while idle ones keep too many earlier ones alive.
    is_kept: AtomicBool,
}

/// The thread that frees an engine keeps nothing of it; others do until they ask another one, or end.
impl Drop for CurrentSnapshot {
    fn drop(&mut self) {
        let stamp = *self.version_id.get_mut();
        let last = THREAD_SNAPSHOT.try_with(Cell::take).ok().flatten();
        if last.as_ref().is_some_and(|last| last.version_id != stamp) {
            // there is nothing to let go of where the thread ends
            let _ = THREAD_SNAPSHOT.try_with(|asked| asked.set(last));
        }
    }
}

impl CurrentSnapshot {
    pub fn new(state: SnapshotState) -> Self {
        Self {
            version_id: AtomicU64::new(state.version_id),
            current: ArcSwap::from_pointee(state),
            retired: Mutex::default(),
            is_kept: AtomicBool::new(true),
        }
    }

    /// The current moment, for as long as the caller likes.
    pub fn pin(&self) -> Arc<SnapshotState> {
        self.current.load_full()
    }

    /// Makes a moment current in the place of the one that the caller held to make it. Callers see to it that only one does so
    /// at a time.
    pub fn publish(&self, before: Arc<SnapshotState>, state: SnapshotState) {
        let stamp = state.version_id;
        let swapped = self.current.swap(Arc::new(state));
        self.version_id.store(stamp, Ordering::Release);
        drop(before);
        self.retired.lock().push(swapped);
        self.free_retired();
    }

    /// Frees the earlier moments that nobody holds any more.
    pub fn free_retired(&self) {
        let mut earlier = self.retired.lock();
        // nobody can come to hold what only this list holds
        let free = earlier.extract_if(.., |state| Arc::strong_count(state) == 1);
        let free: Vec<_> = free.collect();
        let is_kept = earlier.len() <= limits::RETIRED_SNAPSHOTS;
        self.is_kept.store(is_kept, Ordering::Relaxed);
        drop(earlier);
        // large documents take their time
        drop(free);
    }

    /// Runs something within a moment that a caller pinned, or the current one.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "what runs is inlined with it, so that its result is made where it stays"
    )]
    pub fn within<R>(
        &self,
        pinned: Option<&SnapshotState>,
        run: impl FnOnce(&SnapshotState) -> R,
    ) -> R {
        let mut taken = ThreadSnapshotGuard {
            state: None,
            is_kept: false,
        };
        let state = match pinned {
            Some(state) => state,
            None => {
                let stamp = self.version_id.load(Ordering::Acquire);
                let found;
                (found, taken.is_kept) = match THREAD_SNAPSHOT.take() {
                    Some(state) if state.version_id == stamp => (state, true),
                    _ => self.other(),
                };
                &**taken.state.insert(found)
            }
        };
        // nothing is done with the result, which so is made where the caller wants it
        run(state)
    }

    /// The current moment, where this thread asked another one last, and whether the thread keeps it.
    #[cold]
    #[inline(never)]
    fn other(&self) -> (Arc<SnapshotState>, bool) {
        (self.pin(), self.is_kept.load(Ordering::Relaxed))
    }
}
