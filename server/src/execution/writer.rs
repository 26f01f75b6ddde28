//! Serial execution of changes of policies and documents.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Mutex;

use super::pool::NotRun;

/// Runs changes on blocking threads, one at a time and in the order of their arrival. They need no permit of the pool.
pub struct ChangeWriter {
    turn: Arc<Mutex<()>>,
    waiting: AtomicUsize,
    most: usize,
}

/// A change that waits for earlier ones.
struct QueuedChange<'a>(&'a AtomicUsize);

impl Drop for QueuedChange<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ChangeWriter {
    /// Creates a writer with at most `max` waiting changes.
    pub fn new(max: usize) -> Self {
        Self {
            turn: Arc::default(),
            waiting: AtomicUsize::new(0),
            most: max,
        }
    }

    /// Runs a change after all earlier ones. A change that has started runs to its end, even if the caller goes away.
    ///
    /// # Errors
    /// Fails if too many changes wait, or the change panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let queued = QueuedChange(&self.waiting);
        if before >= self.most {
            return Err(NotRun::Full);
        }
        let guard = self.turn.clone().lock_owned().await;
        drop(queued);
        let change = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(guard);
            result
        });
        change.await.map_err(|_| NotRun::Panicked)
    }
}

#[cfg(test)]
#[path = "../../../tests/server/unit/writer.rs"]
mod tests;
