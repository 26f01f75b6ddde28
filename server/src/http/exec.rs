//! Where handlers run: on the thread that serves connections if they are short, else on blocking threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::pool::{Pace, Pool, Turn, Work};
use super::rejection::Rejection;
use super::writer::Writer;
use crate::config::Bounds;

/// A handler takes longer than a thread that serves connections may wait. It is called again in the pool; the latency estimate, if there is
/// one, says when.
#[derive(Debug)]
pub struct Longer(pub Option<Arc<Pace>>);

/// Where a handler runs.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    /// On a thread that serves connections: it must return at once.
    Reactor,
    /// In the pool.
    Pool(&'a Turn),
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
            Self::Pool(turn) => {
                let work: Arc<Work> = Arc::new(move |turn: &Turn| work(Place::Pool(turn)));
                turn.share(&work);
            }
            here => work(here),
        }
    }

    /// Lets others have their turn. Long evaluations call it regularly.
    pub fn look(self) {
        if let Self::Pool(turn) = self {
            turn.look();
        }
    }
}

/// Runs handlers.
pub struct Executor {
    /// Evaluations.
    pub pool: Pool,
    /// Changes.
    writer: Writer,
}

impl Executor {
    /// An executor within these bounds.
    pub fn new(bounds: &Bounds) -> Self {
        Self {
            pool: Pool::new(bounds),
            writer: Writer::new(bounds.waiting),
        }
    }

    /// Calls a handler on this thread.
    ///
    /// # Errors
    /// It panicked. What handlers share is consistent then: a change becomes visible as a whole, at its end.
    pub fn run_here<T>(work: impl FnOnce(Place<'_>) -> T) -> Result<T, Rejection> {
        catch_unwind(AssertUnwindSafe(|| work(Place::Reactor))).map_err(|_| Rejection::Panicked)
    }

    /// Calls a handler in the pool.
    ///
    /// # Errors
    /// Too much waits, or the handler panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        pace: Option<Arc<Pace>>,
        work: impl FnOnce(Place<'_>) -> T + Send + 'static,
    ) -> Result<T, Rejection> {
        let done = self.pool.run(pace, |turn| work(Place::Pool(turn)));
        done.await.map_err(Rejection::from)
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
