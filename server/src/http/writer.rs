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
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::{NotRun, Writer};

    #[tokio::test]
    async fn changes_run_in_order_and_are_bounded() {
        let writer = Writer::new(2);
        let (began, begin) = std::sync::mpsc::channel::<()>();
        let made = Arc::<parking_lot::Mutex<Vec<u32>>>::default();
        let first = made.clone();
        let slow = writer.run(move || {
            let _ = begin.recv();
            first.lock().push(1);
        });
        let second = made.clone();
        let next = writer.run(move || second.lock().push(2));
        let checked = async {
            // the first one has begun, the second one waits
            while writer.waiting.load(Ordering::SeqCst) != 1 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            // both arrive before the first one ends
            let go_on = async { began.send(()) };
            let (third, fourth, _) = tokio::join!(writer.run(|| ()), writer.run(|| ()), go_on);
            assert_eq!((third, fourth), (Ok(()), Err(NotRun::Full)));
        };
        let (slow, next, ()) = tokio::join!(slow, next, checked);
        assert_eq!((slow, next), (Ok(()), Ok(())));
        assert_eq!(*made.lock(), [1, 2]);
    }

    #[tokio::test]
    async fn a_panic_is_lost_and_frees_the_turn() {
        let writer = Writer::new(2);
        let lost = writer.run(|| -> u32 { std::process::id().checked_sub(u32::MAX).unwrap() });
        assert_eq!(lost.await, Err(NotRun::Lost));
        assert_eq!(writer.run(|| 7).await, Ok(7));
        assert_eq!(writer.waiting.load(Ordering::SeqCst), 0);
    }
}
