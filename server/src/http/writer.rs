//! The thread on which policies and documents change, one change after the other.
//!
//! It takes no slot from evaluations. What one change made another one frees, on the same thread: an allocator gives back what
//! other threads free only once the thread that took it comes by.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::pool::NotRun;

/// How long after a change it is tidied up: an allocator keeps what was freed for a while, to hand it out again.
const REST: Duration = Duration::from_millis(300);
/// Stack of the thread; what needs more grows it.
const STACK: usize = 4 << 20;

enum Job {
    Change(Box<dyn FnOnce() + Send>),
    /// Nothing but what follows a change.
    Tidy,
}

/// Where changes are made. When it is dropped, its thread ends.
pub struct Writer {
    jobs: Sender<Job>,
    waiting: Arc<AtomicUsize>,
    most: usize,
}

impl Writer {
    /// Lets so many changes wait; `tidy` is called a while after the last one, and after the start.
    pub fn new(most: usize, tidy: impl Fn() + Send + 'static) -> Self {
        let (jobs, wanted) = channel();
        // no thread, no change: who asks is told that it was lost
        let _ = std::thread::Builder::new()
            .name("writer".into())
            .stack_size(STACK)
            .spawn(move || serve(&wanted, &tidy));
        Self {
            jobs,
            waiting: Arc::default(),
            most,
        }
    }

    /// Makes a change after those before it.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.most {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(NotRun::Full);
        }
        let (sender, receiver) = oneshot::channel();
        let waiting = self.waiting.clone();
        let change = move || {
            waiting.fetch_sub(1, Ordering::Relaxed);
            // who asked may have gone
            let _ = sender.send(work());
        };
        let job = Job::Change(Box::new(change));
        self.jobs.send(job).map_err(|_| NotRun::Lost)?;
        receiver.await.map_err(|_| NotRun::Lost)
    }

    /// Something large was done elsewhere, of which much is free now.
    pub fn tidy_soon(&self) {
        // without a thread nothing is tidied up
        let _ = self.jobs.send(Job::Tidy);
    }
}

fn serve(jobs: &Receiver<Job>, tidy: &dyn Fn()) {
    let mut due = Some(Instant::now() + REST);
    loop {
        let next = match due {
            None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => jobs.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        match next {
            Ok(Job::Change(change)) => {
                // whoever asked is told that it was lost
                let _ = catch_unwind(AssertUnwindSafe(change));
                due.get_or_insert_with(|| Instant::now() + REST);
            }
            Ok(Job::Tidy) => {
                due.get_or_insert_with(|| Instant::now() + REST);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if due.is_some_and(|due| due <= Instant::now()) {
            tidy();
            due = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::{NotRun, Writer};

    #[tokio::test]
    async fn changes_are_made_in_order_and_tidied_up_after() {
        let tidied = Arc::<AtomicUsize>::default();
        let count = tidied.clone();
        let writer = Writer::new(2, move || {
            count.fetch_add(1, Ordering::SeqCst);
        });
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
            // the first has begun, or waits beside the second
            while writer.waiting.load(Ordering::SeqCst) > 1 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            // both ask before the first goes on
            let go_on = async { began.send(()) };
            let (third, fourth, _) = tokio::join!(writer.run(|| ()), writer.run(|| ()), go_on);
            assert_eq!((third, fourth), (Ok(()), Err(NotRun::Full)));
        };
        let (slow, next, ()) = tokio::join!(slow, next, checked);
        assert_eq!((slow, next), (Ok(()), Ok(())));
        assert_eq!(*made.lock(), [1, 2]);
        let lost = writer.run(|| -> u32 { std::process::id().checked_sub(u32::MAX).unwrap() });
        assert_eq!(lost.await, Err(NotRun::Lost));
        let before = tidied.load(Ordering::SeqCst);
        writer.tidy_soon();
        while tidied.load(Ordering::SeqCst) == before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
