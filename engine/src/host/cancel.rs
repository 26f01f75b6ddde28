//! Cancellation of evaluations from another thread, including those that wait for the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};

use parking_lot::Mutex;

/// A handle that cancels evaluations from another thread.
///
/// ```
/// use solon::{Cancel, Engine, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nn := sum([x | some x in numbers.range(1, 1000000)])")?;
/// let cancel = Cancel::default();
/// let elsewhere = cancel.clone();
/// std::thread::spawn(move || elsewhere.cancel()).join().ok();
/// let n = engine.prepare_document("data.p.n")?;
/// assert!(n.evaluate(&Request::new().cancel(&cancel)).is_err());
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    shared: Arc<CancelState>,
}

#[derive(Debug, Default)]
struct CancelState {
    cancelled: Arc<AtomicBool>,
    /// Threads that wait for the host and are woken by [`Self::cancel`].
    waiting: Mutex<Vec<Thread>>,
}

impl Cancel {
    /// Cancels every evaluation that uses this handle, running or later.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::SeqCst);
        for thread in &*self.shared.waiting.lock() {
            thread.unpark();
        }
    }

    /// Returns `true` if [`Self::cancel`] was called, on any thread.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the flag that [`Self::cancel`] sets, for steps that poll nothing else.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.shared.cancelled.clone()
    }

    /// Wakes this thread on cancellation until the guard is dropped.
    pub(super) fn wakes_this_thread(&self) -> Waiting<'_> {
        self.shared.waiting.lock().push(thread::current());
        Waiting { cancel: self }
    }
}

/// Guard that keeps a thread on the list of threads to wake.
pub(super) struct Waiting<'c> {
    cancel: &'c Cancel,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let this = thread::current().id();
        let mut waiting = self.cancel.shared.waiting.lock();
        if let Some(at) = waiting.iter().position(|thread| thread.id() == this) {
            waiting.swap_remove(at);
        }
    }
}
