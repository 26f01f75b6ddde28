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
    /// Creates a writer with at most `most` waiting changes.
    pub fn new(most: usize) -> Self {
        Self {
            turn: Arc::default(),
            waiting: AtomicUsize::new(0),
            most,
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
        let waiting = QueuedChange(&self.waiting);
        if before >= self.most {
            return Err(NotRun::Full);
        }
        let turn = self.turn.clone().lock_owned().await;
        drop(waiting);
        let change = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        });
        change.await.map_err(|_| NotRun::Panicked)
    }
}

#[cfg(test)]
#[path = "../../../tests/server/unit/writer.rs"]
mod tests;
