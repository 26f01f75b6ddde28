//! The current snapshot, which readers load without a lock and writers replace.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::SnapshotState;
use crate::limits;

/// Version ids of snapshots that never become current are below this value, all others above it.
const FIRST_VERSION_ID: u64 = 1 << 62;

/// Returns a version id that no policy and no snapshot of this process has had. Later ids are larger.
pub(crate) fn next_version_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(FIRST_VERSION_ID);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Returns a version id for a snapshot that never becomes current. It is below all ids of published snapshots, so that
/// handles that follow an engine do not treat it as newer than the current one.
pub(crate) fn next_trial_version_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

thread_local! {
    /// The snapshot that this thread used last. While it is current, finding it takes one load and a comparison.
    static THREAD_SNAPSHOT: Cell<Option<Arc<SnapshotState>>> = const { Cell::new(None) };
}

/// The snapshot of a running decision. On drop it returns to the thread's cell, if threads may keep snapshots.
struct ThreadSnapshotGuard {
    state: Option<Arc<SnapshotState>>,
    may_cache: bool,
}

impl Drop for ThreadSnapshotGuard {
    #[inline]
    fn drop(&mut self) {
        if self.may_cache
            && let Some(other) = THREAD_SNAPSHOT.replace(self.state.take())
        {
            drop_displaced(other);
        }
    }
}

/// Drops the snapshot that a nested decision has put into the thread's cell.
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
/// engine.prepare_document("data.p.allow")?.evaluate(&solon::Request::new())?;
/// solon::release_thread_snapshot();
/// # Ok::<(), solon::Error>(())
/// ```
#[cold]
pub fn release_thread_snapshot() {
    drop(THREAD_SNAPSHOT.try_with(Cell::take));
}

pub(crate) struct CurrentSnapshot {
    current: ArcSwap<SnapshotState>,
    version_id: AtomicU64,
    /// Earlier snapshots that may still be referenced. Writers free them, so that a decision never waits for that.
    retired: Mutex<Vec<Arc<SnapshotState>>>,
    /// `true` while threads may keep the snapshot that they used last. It is `false` while idle threads keep too many
    /// retired ones alive.
    may_cache: AtomicBool,
}

/// The thread that drops an engine releases its snapshot at once. Other threads release it when they use another
/// engine, or end.
impl Drop for CurrentSnapshot {
    fn drop(&mut self) {
        let version_id = *self.version_id.get_mut();
        let last = THREAD_SNAPSHOT.try_with(Cell::take).ok().flatten();
        if last
            .as_ref()
            .is_some_and(|last| last.version_id != version_id)
        {
            // A thread that ends has nothing to release.
            let _ = THREAD_SNAPSHOT.try_with(|cached| cached.set(last));
        }
    }
}

impl CurrentSnapshot {
    pub fn new(state: SnapshotState) -> Self {
        Self {
            version_id: AtomicU64::new(state.version_id),
            current: ArcSwap::from_pointee(state),
            retired: Mutex::default(),
            may_cache: AtomicBool::new(true),
        }
    }

    /// Returns the current snapshot and keeps it alive.
    pub fn pin(&self) -> Arc<SnapshotState> {
        self.current.load_full()
    }

    /// Publishes `state` as the current snapshot. `before` is the one it was derived from; it is dropped here so that
    /// it can be freed. The caller must hold the writer lock.
    pub fn publish(&self, before: Arc<SnapshotState>, state: SnapshotState) {
        let version_id = state.version_id;
        let replaced = self.current.swap(Arc::new(state));
        self.version_id.store(version_id, Ordering::Release);
        drop(before);
        self.retired.lock().push(replaced);
        self.free_retired();
    }

    /// Frees earlier retired snapshots, and keeps one that is not used again until the next change frees it.
    pub fn retire(&self, state: SnapshotState) {
        self.free_retired();
        self.retired.lock().push(Arc::new(state));
    }

    /// Frees retired snapshots that are no longer referenced.
    pub fn free_retired(&self) {
        let mut earlier = self.retired.lock();
        // A snapshot that only this list references cannot be referenced again.
        let free = earlier.extract_if(.., |state| Arc::strong_count(state) == 1);
        let free: Vec<_> = free.collect();
        let may_cache = earlier.len() <= limits::RETIRED_SNAPSHOTS;
        self.may_cache.store(may_cache, Ordering::Relaxed);
        drop(earlier);
        // Dropping large documents takes long, so the lock is released first.
        drop(free);
    }

    /// Calls `run` with the pinned snapshot, or with the current one.
    #[inline]
    pub fn with_snapshot<R>(
        &self,
        pinned: Option<&SnapshotState>,
        run: impl FnOnce(&SnapshotState) -> R,
    ) -> R {
        let mut guard = ThreadSnapshotGuard {
            state: None,
            may_cache: false,
        };
        let state = match pinned {
            Some(state) => state,
            None => {
                let version_id = self.version_id.load(Ordering::Acquire);
                let pinned;
                (pinned, guard.may_cache) = match THREAD_SNAPSHOT.take() {
                    Some(state) if state.version_id == version_id => (state, true),
                    _ => self.pin_current(),
                };
                &**guard.state.insert(pinned)
            }
        };
        run(state)
    }

    /// Returns the current snapshot if this thread used another one last, and whether the thread may keep it.
    #[cold]
    #[inline(never)]
    fn pin_current(&self) -> (Arc<SnapshotState>, bool) {
        (self.pin(), self.may_cache.load(Ordering::Relaxed))
    }
}
