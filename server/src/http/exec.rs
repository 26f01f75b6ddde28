//! Where handlers run: on the thread that serves connections if they are short, else on blocking threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::pool::{LatencyEstimate, Permit, Pool, SharedWork};
use super::rejection::Rejection;
use super::writer::Writer;
use crate::config::Bounds;

/// A handler takes longer than a thread that serves connections may wait. It is called again in the pool, which classes it by the
/// estimate.
#[derive(Debug)]
pub struct Longer(pub Option<Arc<LatencyEstimate>>);

/// Where a handler runs.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    /// On a thread that serves connections: it must return at once.
    Reactor,
    /// On a thread of the pool, which may take its time and wait.
    Pool(&'a Permit),
    /// On the thread of changes.
    Apart,
}

impl Place<'_> {
    /// Returns `true` if the handler must return at once.
    pub fn is_reactor(self) -> bool {
        matches!(self, Self::Reactor)
    }

    /// Calls `work` here, and in a pool with room on other threads at the same time. Each call does part after part until none is left.
    pub fn share(self, work: impl Fn(Place<'_>) + Send + Sync + 'static) {
        match self {
            Self::Pool(permit) => {
                let work: Arc<SharedWork> =
                    Arc::new(move |permit: &Permit| work(Place::Pool(permit)));
                permit.share(&work);
            }
            here => work(here),
        }
    }

    /// Checks how long the work takes. Work that may be long calls this now and then.
    pub fn poll(self) {
        if let Self::Pool(permit) = self {
            permit.poll();
        }
    }

    /// Runs a call that may block the thread, or leaves it out if too many requests wait for such calls.
    pub fn host_call(self, call: &mut dyn FnMut()) {
        match self {
            Self::Pool(permit) => permit.host_call(call),
            Self::Reactor | Self::Apart => call(),
        }
    }
}

/// Runs handlers.
pub struct Executor {
    /// Evaluations.
    pub pool: Pool,
    /// Changes.
    writer: Writer,
    /// Most decisions that wait for host calls.
    waiting_io: usize,
}

impl Executor {
    /// An executor within these bounds.
    pub fn new(bounds: &Bounds) -> Self {
        Self {
            pool: Pool::new(bounds),
            writer: Writer::new(bounds.waiting),
            waiting_io: bounds.waiting_io,
        }
    }

    /// Calls a handler on this thread.
    ///
    /// # Errors
    /// It panicked. What handlers share is consistent then: a change becomes visible as a whole, at its end.
    pub fn run_here<T>(work: impl FnOnce(Place<'_>) -> T) -> Result<T, Rejection> {
        catch_unwind(AssertUnwindSafe(|| work(Place::Reactor))).map_err(|_| Rejection::Panicked)
    }

    /// Calls a handler in the pool, if it can begin before the deadline.
    ///
    /// # Errors
    /// Too much waits, the deadline has passed, or the handler panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        estimate: Option<Arc<LatencyEstimate>>,
        deadline: Option<Instant>,
        work: impl FnOnce(Place<'_>) -> T + Send + 'static,
    ) -> Result<T, Rejection> {
        let done = self.pool.run(estimate, deadline, |permit| {
            let done = work(Place::Pool(permit));
            // without its host call a decision has no result
            (!permit.is_rejected()).then_some(done)
        });
        done.await?.ok_or(Rejection::WaitingIo(self.waiting_io))
    }

    /// Calls a handler that changes policies or documents, after those before it.
    ///
    /// # Errors
    /// As for [`Self::run`].
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(Place<'_>) -> T + Send + 'static,
    ) -> Result<T, Rejection> {
        let done = self.writer.run(|| work(Place::Apart));
        done.await.map_err(Rejection::from)
    }
}
