//! Changes of policies and documents, one after another.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Mutex;

use super::pool::NotRun;

/// Runs changes on blocking threads, one at a time and in the order of their arrival. They need no permit of the pool.
pub struct Writer {
    turn: Arc<Mutex<()>>,
    waiting: AtomicUsize,
    most: usize,
}

/// A change that waits for those before it.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Writer {
    /// A writer that lets at most `most` changes wait.
    pub fn new(most: usize) -> Self {
        Self {
            turn: Arc::default(),
            waiting: AtomicUsize::new(0),
            most,
        }
    }

    /// Runs a change after those before it. Once begun it runs to its end, even if the caller goes away.
    ///
    /// # Errors
    /// Too many changes wait, or the change panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(&self.waiting);
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
        change.await.map_err(|_| NotRun::Lost)
    }
}

#[cfg(test)]
#[path = "../../../tests/server/unit/writer.rs"]
mod tests;
