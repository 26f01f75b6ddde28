//! Execution of handlers: on the thread that serves connections if they are short, otherwise on blocking threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::pool::{LatencyEstimate, NotRun, Permit, Pool, SharedWork};
use super::writer::ChangeWriter;
use crate::config::Bounds;

/// A handler takes longer than a thread that serves connections may block. It is called again in the pool, which classifies it by
/// the estimate.
#[derive(Debug)]
pub struct Longer(pub Option<Arc<LatencyEstimate>>);

/// Kind of thread that a handler runs on.
#[derive(Clone, Copy)]
pub enum ExecContext<'a> {
    /// A thread that serves connections: the handler must return at once.
    Reactor,
    /// A thread of the pool, which may block.
    Pool(&'a Permit),
    /// The writer thread.
    Apart,
}

impl ExecContext<'_> {
    /// Returns `true` if the handler must return at once.
    pub fn is_reactor(self) -> bool {
        matches!(self, Self::Reactor)
    }

    /// Calls `work` on this thread, and in a pool with free permits on other threads at the same time. Each call processes parts
    /// until none is left.
    pub fn share(self, work: impl Fn(ExecContext<'_>) + Send + Sync + 'static) {
        match self {
            Self::Pool(permit) => {
                let work: Arc<SharedWork> =
                    Arc::new(move |permit: &Permit| work(ExecContext::Pool(permit)));
                permit.share(&work);
            }
            inline => work(inline),
        }
    }

    /// Checks how long the work takes. Work that may be long must call this regularly.
    pub fn poll(self) {
        if let Self::Pool(permit) = self {
            permit.poll();
        }
    }

    /// Runs a call that may block the thread, or skips it if too many requests wait for such calls.
    pub fn host_call(self, call: &mut dyn FnMut()) {
        match self {
            Self::Pool(permit) => permit.host_call(call),
            Self::Reactor | Self::Apart => call(),
        }
    }
}

/// Runs handlers.
pub struct Executor {
    /// Pool of threads that evaluate.
    pub pool: Pool,
    /// Thread that makes all changes, one at a time.
    writer: ChangeWriter,
    /// Maximum number of decisions that wait for host calls.
    waiting_io: usize,
}

impl Executor {
    /// Creates an executor with these limits.
    pub fn new(bounds: &Bounds) -> Self {
        Self {
            pool: Pool::new(bounds),
            writer: ChangeWriter::new(bounds.waiting),
            waiting_io: bounds.waiting_io,
        }
    }

    /// Calls a handler on this thread.
    ///
    /// # Errors
    /// Fails if the handler panicked. The shared state is consistent after that, because a change is published as a whole, at its
    /// end.
    pub fn run_here<T>(work: impl FnOnce(ExecContext<'_>) -> T) -> Result<T, NotRun> {
        catch_unwind(AssertUnwindSafe(|| work(ExecContext::Reactor))).map_err(|_| NotRun::Panicked)
    }

    /// Calls a handler in the pool, if it can start before the deadline.
    ///
    /// # Errors
    /// Fails if too many requests wait, the deadline has passed, or the handler panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        estimate: Option<Arc<LatencyEstimate>>,
        deadline: Option<Instant>,
        work: impl FnOnce(ExecContext<'_>) -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        let result = self.pool.run(estimate, deadline, |permit| {
            let output = work(ExecContext::Pool(permit));
            // without its host call a decision has no result
            (!permit.is_rejected()).then_some(output)
        });
        result.await?.ok_or(NotRun::WaitingIo(self.waiting_io))
    }

    /// Calls a handler that changes policies or documents, after all earlier ones.
    ///
    /// # Errors
    /// Fails as [`Self::run`] does.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(ExecContext<'_>) -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        let result = self.writer.run(|| work(ExecContext::Apart));
        result.await
    }
}
