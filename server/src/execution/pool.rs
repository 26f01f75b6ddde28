//! Thread pool for evaluations that may take long. It runs as many at the same time as there are permits of their class.
//!
//! A decision that waits for a host call releases its permit and keeps its thread. Evaluations are classified by the latency
//! estimate of their document. An evaluation that takes longer than its class allows becomes overlong. If no more overlong ones may
//! run, it waits for a permit of long work. So neither long nor unknown work delays other work.
//!
//! Work that is known to be long runs on threads with a lower priority, which the threads of short decisions preempt. A thread cannot
//! regain its priority, so work that turns out to be long keeps the priority that it began with.

mod estimate;
mod permit;
mod workers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub use self::estimate::{LatencyEstimate, Stopwatch};
pub use self::permit::{Permit, SharedWork};
use self::workers::{Priority, Workers};
use crate::config::Bounds;

/// Processor time beyond which an evaluation is long.
const LONG: Duration = Duration::from_millis(10);
/// Processor time beyond which a long evaluation lets the next long one start.
const OVERLONG: Duration = Duration::from_secs(1);

/// Reason why work did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRun {
    /// Too many requests are waiting.
    Full,
    /// The deadline passed before the work started.
    Late,
    Panicked,
    /// More decisions than this number wait for host calls.
    WaitingIo(usize),
}

/// Class of work with its own permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Estimated to end within [`LONG`].
    Short,
    /// Without an estimate.
    Unknown,
    /// Estimated to take longer than [`LONG`].
    Long,
    /// Took longer than its class allows, and is still running.
    Overlong,
}

impl Class {
    fn from_estimate(estimate: Option<&LatencyEstimate>) -> Self {
        match estimate {
            Some(estimate) if estimate.is_long() => Self::Long,
            Some(estimate) if estimate.is_measured() => Self::Short,
            _ => Self::Unknown,
        }
    }

    /// Processor time after which work of this class becomes overlong.
    fn limit(self) -> Option<Duration> {
        match self {
            Self::Short | Self::Unknown => Some(LONG),
            Self::Long => Some(OVERLONG),
            Self::Overlong => None,
        }
    }
}

/// Runs work that may take long. Clones are the same pool.
#[derive(Clone)]
pub struct Pool(Arc<PoolState>);

struct PoolState {
    /// Threads of short and unknown work.
    workers: Workers,
    /// Threads of work that is known to be long.
    long_workers: Workers,
    /// Number of permits of each class except the last.
    permits: usize,
    short: Arc<Semaphore>,
    unknown: Arc<Semaphore>,
    long: Arc<Semaphore>,
    overlong: Arc<Semaphore>,
    /// Permits of decisions that wait for a host call or for a permit of long work, or have waited before. Each of them keeps a
    /// thread until it ends.
    waiting_io: Arc<Semaphore>,
    /// Number of threads that currently wait for a host call.
    in_host_calls: AtomicUsize,
    /// Number of requests that wait for their first permit, at most `most_queued`.
    queued: AtomicUsize,
    most_queued: usize,
    rejected: AtomicU64,
    overran: AtomicU64,
}

impl Pool {
    /// Creates a pool with separate threads, which are started when they are needed.
    pub fn new(bounds: &Bounds) -> Self {
        let permits = bounds.permits.clamp(1, (bounds.threads / 4).max(1));
        let overlong = bounds.threads.saturating_sub(3 * permits).max(1);
        let waiting_io = bounds.waiting_io.min(Semaphore::MAX_PERMITS);
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        // a thread is still busy shortly after its permit was released
        let threads = 4 * permits + overlong + waiting_io;
        Self(Arc::new(PoolState {
            workers: Workers::new(threads, Priority::Normal),
            long_workers: Workers::new(threads, Priority::Low),
            permits,
            short: semaphore(permits),
            unknown: semaphore(permits),
            long: semaphore(permits),
            overlong: semaphore(overlong),
            waiting_io: semaphore(waiting_io),
            in_host_calls: AtomicUsize::new(0),
            queued: AtomicUsize::new(0),
            most_queued: bounds.waiting,
            rejected: AtomicU64::new(0),
            overran: AtomicU64::new(0),
        }))
    }

    /// Runs work on a thread of the pool once it has a permit of the class that `estimate` implies. Work that has not started at
    /// the deadline is not run.
    pub async fn run<T: Send + 'static>(
        &self,
        estimate: Option<Arc<LatencyEstimate>>,
        deadline: Option<Instant>,
        work: impl FnOnce(&Permit) -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        let shared = self.0.clone();
        let (class, semaphore_permit) = shared.acquire(estimate.as_deref(), deadline).await?;
        let runtime = Handle::current();
        let handle = self.0.workers(class).spawn(move || {
            let permit = Permit::new(shared, class, semaphore_permit, estimate, deadline, runtime);
            work(&permit)
        });
        handle.await.map_err(|_| NotRun::Panicked)
    }

    /// Returns the number of requests that were rejected because too many waited, for a permit or for host calls.
    pub fn rejected(&self) -> u64 {
        self.0.rejected.load(Ordering::Relaxed)
    }

    /// Returns the number of evaluations that took longer than their class allows.
    pub fn overran(&self) -> u64 {
        self.0.overran.load(Ordering::Relaxed)
    }

    /// Returns the number of decisions that currently wait for a host call.
    pub fn in_host_calls(&self) -> usize {
        self.0.in_host_calls.load(Ordering::Relaxed)
    }
}

impl PoolState {
    /// Returns the threads of new work of a class: short and unknown work shares threads, long work has its own.
    fn workers(&self, class: Class) -> &Workers {
        match class {
            Class::Short | Class::Unknown => &self.workers,
            Class::Long | Class::Overlong => &self.long_workers,
        }
    }

    fn semaphore(&self, class: Class) -> &Arc<Semaphore> {
        match class {
            Class::Short => &self.short,
            Class::Unknown => &self.unknown,
            Class::Long => &self.long,
            Class::Overlong => &self.overlong,
        }
    }

    /// Acquires a permit for new work. Waiting requests are served in order.
    async fn acquire(
        &self,
        estimate: Option<&LatencyEstimate>,
        deadline: Option<Instant>,
    ) -> Result<(Class, OwnedSemaphorePermit), NotRun> {
        let class = Class::from_estimate(estimate);
        if let Ok(semaphore_permit) = self.semaphore(class).clone().try_acquire_owned() {
            return Ok((class, semaphore_permit));
        }
        let Some(_queued) = Queued::add(self) else {
            self.rejected.fetch_add(1, Ordering::Relaxed);
            return Err(NotRun::Full);
        };
        let acquired = async {
            loop {
                let class = Class::from_estimate(estimate);
                let semaphore_permit = acquire_owned(self.semaphore(class)).await?;
                // decisions of the same document may have shown meanwhile that it is long
                if class == Class::Long || Class::from_estimate(estimate) != Class::Long {
                    return Ok((class, semaphore_permit));
                }
            }
        };
        until(deadline, acquired).await.unwrap_or(Err(NotRun::Late))
    }
}

async fn acquire_owned(semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, NotRun> {
    let result = semaphore.clone().acquire_owned().await;
    // the semaphores of the pool are never closed
    result.map_err(|_| NotRun::Panicked)
}

/// Waits for a future until the deadline, if there is one.
async fn until<T>(deadline: Option<Instant>, future: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline.into(), future).await.ok(),
        None => Some(future.await),
    }
}

/// A request that waits for its first permit.
struct Queued<'a>(&'a PoolState);

impl<'a> Queued<'a> {
    /// Adds a request, unless too many are waiting.
    fn add(shared: &'a PoolState) -> Option<Self> {
        let queued = Self(shared);
        let before = shared.queued.fetch_add(1, Ordering::Relaxed);
        (before < shared.most_queued).then_some(queued)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.queued.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "../../../tests/server/unit/pool.rs"]
mod tests;
