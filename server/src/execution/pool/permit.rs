//! Permits of work on threads of the pool.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;

use super::estimate::{LatencyEstimate, Overrun};
use super::{Class, LONG, PoolState, acquire_owned, until};
use crate::system::thread_time;

/// Interval at which an evaluation yields its processor. Otherwise a thread that serves connections waits until the system ends the
/// evaluation's time slice, about 3 ms on Linux even if its priority is higher.
const YIELD_INTERVAL: Duration = Duration::from_micros(100);

/// Work whose parts are processed by several threads.
pub type SharedWork = dyn Fn(&Permit) + Send + Sync;

/// Permit to run on the thread that it was created on. It is released when the work ends, and while the work waits for a host call.
pub struct Permit {
    pool: Arc<PoolState>,
    class: Cell<Class>,
    /// `None` during a host call, while the work waits for another permit, and after a wait that ended past the deadline.
    acquired: Cell<Option<OwnedSemaphorePermit>>,
    /// Permit of a decision that keeps a thread while it waits, from the first wait to the end. It limits the number of threads,
    /// even if many waits end at the same time.
    waiting_io: Cell<Option<OwnedSemaphorePermit>>,
    /// `true` if no such permit was available. It is shared by the threads of one request.
    is_rejected: Arc<AtomicBool>,
    estimate: Option<Arc<LatencyEstimate>>,
    overrun: Cell<Option<Overrun>>,
    deadline: Option<Instant>,
    /// The runtime of the caller, which drives timers.
    runtime: Handle,
    /// Processor time of the thread at the start of the work.
    began: Duration,
    next_check: Cell<Instant>,
    next_yield: Cell<Instant>,
}

impl Permit {
    pub(super) fn new(
        pool: Arc<PoolState>,
        class: Class,
        semaphore_permit: OwnedSemaphorePermit,
        estimate: Option<Arc<LatencyEstimate>>,
        deadline: Option<Instant>,
        runtime: Handle,
    ) -> Self {
        let now = Instant::now();
        Self {
            pool,
            class: Cell::new(class),
            acquired: Cell::new(Some(semaphore_permit)),
            waiting_io: Cell::default(),
            is_rejected: Arc::default(),
            estimate,
            overrun: Cell::default(),
            deadline,
            runtime,
            began: thread_time(),
            next_check: Cell::new(now + LONG),
            next_yield: Cell::new(now + YIELD_INTERVAL),
        }
    }

    /// Lets other threads run at intervals, and makes work that takes longer than its class allows overlong. If no more overlong work
    /// may run, it waits for a permit of long work, so that short and unknown work can start. Long work must call this regularly.
    pub fn poll(&self) {
        let now = Instant::now();
        if self.yields(now) {
            thread::yield_now();
        }
        if now < self.next_check.get() {
            return;
        }
        self.next_check.set(now + LONG);
        // elapsed time would include other threads' use of the processor
        let cpu_time = thread_time().saturating_sub(self.began);
        if self
            .class
            .get()
            .limit()
            .is_some_and(|limit| cpu_time > limit)
        {
            self.overruns();
        }
    }

    /// Returns `true` once in each interval: then the thread must yield.
    pub(super) fn yields(&self, now: Instant) -> bool {
        let is_due = now >= self.next_yield.get();
        if is_due {
            self.next_yield.set(now + YIELD_INTERVAL);
        }
        is_due
    }

    fn overruns(&self) {
        if let Some(estimate) = &self.estimate
            && self.class.get() != Class::Long
        {
            // new decisions of the same document are classified as long
            let overrun = self.overrun.take();
            let overrun = overrun.unwrap_or_else(|| Overrun::new(estimate.clone()));
            self.overrun.set(Some(overrun));
        }
        if let Ok(semaphore_permit) = self.pool.overlong.clone().try_acquire_owned() {
            self.pool.overran.fetch_add(1, Ordering::Relaxed);
            self.acquired.set(Some(semaphore_permit));
            self.class.set(Class::Overlong);
        } else if self.class.get() != Class::Long && self.has_waiting_permit() {
            drop(self.acquired.take());
            self.wait_for(Class::Long);
        }
    }

    /// Runs a call that may block this thread, and releases the permit meanwhile. The call is skipped, and the request rejected, if
    /// too many decisions are waiting.
    pub fn host_call(&self, call: &mut dyn FnMut()) {
        if !self.has_waiting_permit() {
            if !self.is_rejected.swap(true, Ordering::Relaxed) {
                self.pool.rejected.fetch_add(1, Ordering::Relaxed);
            }
            return;
        }
        drop(self.acquired.take());
        let in_host_call = InHostCall::new(&self.pool);
        call();
        drop(in_host_call);
        self.resume();
    }

    /// Returns `true` if this work may keep its thread while it waits. Acquires the permit for that, unless it has one.
    fn has_waiting_permit(&self) -> bool {
        let waiting_permit = self.waiting_io.take();
        let waiting_permit =
            waiting_permit.or_else(|| self.pool.waiting_io.clone().try_acquire_owned().ok());
        let has_place = waiting_permit.is_some();
        self.waiting_io.set(waiting_permit);
        has_place
    }

    /// Acquires a permit again after a host call.
    fn resume(&self) {
        self.wait_for(match self.class.get() {
            Class::Overlong => Class::Overlong,
            _ => Class::from_estimate(self.estimate.as_deref()),
        });
    }

    /// Acquires a permit of a class. After the deadline the work continues without one, until it checks the time.
    fn wait_for(&self, class: Class) {
        let semaphore = self.pool.semaphore(class);
        let semaphore_permit = semaphore.clone().try_acquire_owned().ok().or_else(|| {
            let acquired = until(self.deadline, acquire_owned(semaphore));
            self.runtime.block_on(acquired).and_then(Result::ok)
        });
        self.class.set(class);
        self.acquired.set(semaphore_permit);
    }

    /// Returns `true` if a host call of this request was skipped because too many decisions were waiting.
    pub fn is_rejected(&self) -> bool {
        self.is_rejected.load(Ordering::Relaxed)
    }

    /// Processes work of many parts on this thread, and on further ones for which there are permits. Each thread calls `work`,
    /// which processes parts until none is left. Returns when all threads have dropped it.
    pub fn share(&self, work: &Arc<SharedWork>) {
        let (sender, all_ended) = mpsc::channel::<()>();
        for _ in 1..self.pool.permits {
            let class = self.class.get();
            let Ok(semaphore_permit) = self.pool.semaphore(class).clone().try_acquire_owned()
            else {
                break;
            };
            let (pool, deadline, runtime) =
                (self.pool.clone(), self.deadline, self.runtime.clone());
            let (work, sender, is_rejected) =
                (work.clone(), sender.clone(), self.is_rejected.clone());
            self.pool.workers(class).spawn(move || {
                // dropped last, also after a panic
                let _sender = sender;
                let work = work;
                let permit = Self {
                    is_rejected,
                    ..Self::new(pool, class, semaphore_permit, None, deadline, runtime)
                };
                work(&permit);
            });
        }
        drop(sender);
        work(self);
        // no value is sent: `recv` fails when the last thread has dropped its sender
        let _ = all_ended.recv();
    }
}

/// A thread that waits for a host call.
struct InHostCall<'a>(&'a PoolState);

impl<'a> InHostCall<'a> {
    fn new(pool: &'a PoolState) -> Self {
        pool.in_host_calls.fetch_add(1, Ordering::Relaxed);
        Self(pool)
    }
}

impl Drop for InHostCall<'_> {
    fn drop(&mut self) {
        self.0.in_host_calls.fetch_sub(1, Ordering::Relaxed);
    }
}
