//! The attempts of an instance: which ones run, and results that wait to be recorded.

use std::collections::{HashMap, HashSet};
use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};

use crate::db::{Lease, LiveLease, PublishedInputs};

/// Maximum time that the end of an attempt waits for other ends. A transaction costs more than its statements, so several
/// results are recorded, and several attempts are begun, in one.
const GATHERING: Duration = Duration::from_millis(10);

/// Why a running attempt is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelReason {
    Changed,
    LeaseLost,
    Stopped,
}

/// The attempts of this instance.
#[derive(Default)]
pub struct Attempts {
    tasks: JoinSet<AttemptEnd>,
    running: HashMap<i64, Running>,
    restarted: HashSet<i64>,
    /// `true` if this instance keeps leases between builds, or did.
    pub keeps_leases: bool,
    /// Results that are recorded together in the next transaction. Their leases are held until then.
    pub unrecorded: Arc<Vec<UnchangedBundle>>,
    /// The time of the first end of an attempt since the last transaction.
    first_end: Option<Instant>,
}

/// A running attempt.
struct Running {
    task: Id,
    fence: i64,
    changes: i64,
    cancel: Option<oneshot::Sender<CancelReason>>,
    /// `false` if the previous attempt was cancelled by a change: a bundle that changes all the time is still built.
    may_restart: bool,
}

/// The end of the task of an attempt.
pub struct AttemptEnd {
    pub bundle: i64,
    pub is_restarted: bool,
    pub is_kept: bool,
    /// The result, if the task has not recorded it.
    pub unchanged: Option<UnchangedBundle>,
}

/// The result of an attempt that found the inputs of the published archive.
#[derive(Clone)]
pub struct UnchangedBundle {
    pub lease: Lease,
    pub name: String,
    pub published: PublishedInputs,
    /// The interval between builds.
    pub interval: Duration,
}

impl Attempts {
    /// Starts the task of an attempt, which receives its cancellation.
    pub fn spawn<F>(
        &mut self,
        lease: LiveLease,
        attempt: impl FnOnce(oneshot::Receiver<CancelReason>) -> F,
    ) where
        F: Future<Output = AttemptEnd> + Send + 'static,
    {
        let (cancel, cancelled) = oneshot::channel();
        let running = Running {
            task: self.tasks.spawn(attempt(cancelled)).id(),
            fence: lease.fence,
            changes: lease.changes,
            cancel: Some(cancel),
            may_restart: !self.restarted.contains(&lease.bundle),
        };
        self.running.insert(lease.bundle, running);
    }

    /// Waits until an attempt ends. Never completes if none runs.
    pub async fn next_end(&mut self) {
        match self.tasks.join_next().await {
            Some(joined) => self.end(joined),
            None => pending().await,
        }
    }

    fn end(&mut self, joined: Result<AttemptEnd, JoinError>) {
        self.first_end.get_or_insert_with(Instant::now);
        let ended = match joined {
            Ok(ended) => ended,
            Err(error) => {
                tracing::error!(%error, "a build panicked");
                self.running.retain(|_, running| running.task != error.id());
                return;
            }
        };
        self.keeps_leases |= ended.is_kept;
        self.running.remove(&ended.bundle);
        if ended.is_restarted {
            self.restarted.insert(ended.bundle);
        } else {
            self.restarted.remove(&ended.bundle);
        }
        if let Some(unchanged) = ended.unchanged {
            Arc::make_mut(&mut self.unrecorded).push(unchanged);
        }
    }

    /// Returns the bundles with a running attempt.
    pub fn bundles(&self) -> HashSet<i64> {
        self.running.keys().copied().collect()
    }

    pub fn count(&self) -> usize {
        self.running.len()
    }

    /// Waits until [`GATHERING`] has passed since the first end of an attempt. Never completes before one has ended.
    pub fn gathered(&self) -> impl Future<Output = ()> + use<> {
        let end = self.first_end.map(|first| first + GATHERING);
        async move {
            match end {
                Some(end) => sleep_until(end).await,
                None => pending().await,
            }
        }
    }

    /// Removes the results after they were recorded, or if there were none.
    pub fn clear_results(&mut self) {
        self.unrecorded = Arc::default();
        self.first_end = None;
    }

    /// Cancels the attempts whose leases were lost or whose inputs changed. Returns held leases without an attempt and a result.
    pub fn compare(&mut self, held: &[LiveLease]) -> Vec<LiveLease> {
        let by_bundle: HashMap<i64, &LiveLease> =
            held.iter().map(|held| (held.bundle, held)).collect();
        for (bundle, running) in &mut self.running {
            let reason = match by_bundle.get(bundle) {
                Some(held) if held.fence == running.fence => {
                    if held.changes == running.changes || !running.may_restart {
                        continue;
                    }
                    CancelReason::Changed
                }
                _ => CancelReason::LeaseLost,
            };
            running.cancel(reason);
        }
        let has_result = |bundle| {
            let mut unrecorded = self.unrecorded.iter();
            unrecorded.any(|unchanged| unchanged.lease.bundle == bundle)
        };
        let is_abandoned = |held: &&LiveLease| {
            !self.running.contains_key(&held.bundle) && !has_result(held.bundle)
        };
        held.iter().filter(is_abandoned).copied().collect()
    }

    /// Waits until each attempt has ended.
    pub async fn join_all(&mut self) {
        while let Some(joined) = self.tasks.join_next().await {
            self.end(joined);
        }
    }

    pub fn cancel_all(&mut self, reason: CancelReason) {
        for running in self.running.values_mut() {
            running.cancel(reason);
        }
    }
}

impl Running {
    fn cancel(&mut self, reason: CancelReason) {
        if let Some(cancel) = self.cancel.take() {
            // an attempt that has just ended needs no signal
            let _ = cancel.send(reason);
        }
    }
}
