//! Polls for due bundles, takes leases, runs attempts and records their results.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use solon_outbound::backoff::{after_failures, between};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use super::attempt::{AttemptResult, Ended, Shared, attempt};
use super::publishers::{release_idle, report_publishers};
use super::shared_sources::SharedSources;
use super::{BuildMetrics, Publishers, Stages};
use crate::db::{Database, DbError, Due, Lease, LiveLease, Mode};
use crate::model::{Phase, Status, StatusRecord};
use crate::secrets::Keyring;
use crate::trace::Tracer;

/// Interval of polling the database for due bundles and for changes of bundles that are being built.
const POLL: Duration = Duration::from_secs(1);

/// Interval of the metrics of all bundles and of forgetting unused sources.
const UPKEEP: Duration = Duration::from_secs(15);

/// Age of fetched sources that are forgotten.
const UNUSED: Duration = Duration::from_mins(15);

/// The retry of a failed build is delayed as the fifth one of a client is: about one second.
const FIRST_FAILURES: u32 = 5;

/// Message of the record of a bundle whose first build was cancelled.
const CANCELLED: &str =
    "worker stopped due to a configuration change or shutdown before completing a build iteration";

/// Options of a worker.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The name of the instance, unique among all instances of a database.
    pub instance: String,
    /// Maximum number of bundles that are built at once.
    pub concurrency: usize,
    /// Maximum number of sources that are fetched at once.
    pub fetches: usize,
    /// Interval between builds of a bundle without `rebuild_interval`, and maximum age of a fetched source times two.
    pub interval: Duration,
    /// Time limit of fetching one source.
    pub fetch_timeout: Duration,
    /// Time limit of building a bundle.
    pub build_timeout: Duration,
    /// Time limit of publishing a bundle.
    pub publish_timeout: Duration,
    /// Time that running builds have to end when the worker stops.
    pub grace: Duration,
    /// Creates the spans of builds, if they are traced.
    pub tracer: Option<Arc<dyn Tracer>>,
}

impl WorkerOptions {
    /// Returns the default options for an instance.
    pub fn new(instance: impl Into<String>) -> Self {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        Self {
            instance: instance.into(),
            concurrency: 10,
            fetches: 16,
            interval: Duration::from_secs(30),
            fetch_timeout: minutes(5),
            build_timeout: minutes(5),
            publish_timeout: minutes(5),
            grace: Duration::from_secs(10),
            tracer: None,
        }
    }
}

/// The worker of an instance.
pub struct Worker<S: Stages> {
    pub(super) shared: Arc<Shared<S>>,
    metrics: BuildMetrics,
}

/// Why a running attempt is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Changed,
    LeaseLost,
    Stopped,
}

/// A running attempt.
struct Running {
    fence: i64,
    changes: i64,
    cancel: Option<oneshot::Sender<Reason>>,
    /// `false` if the previous attempt was cancelled by a change: a bundle that changes all the time is still built.
    may_restart: bool,
}

/// The attempts of this instance, by bundle.
#[derive(Default)]
struct Attempts {
    tasks: JoinSet<TaskEnd>,
    running: HashMap<i64, Running>,
    restarted: HashSet<i64>,
    /// `true` if this instance keeps leases between builds, or did.
    keeps_leases: bool,
    /// `true` if more bundles may be due than the last poll had places for.
    has_more: bool,
}

struct TaskEnd {
    bundle: i64,
    is_restarted: bool,
    is_kept: bool,
}

impl<S: Stages> Worker<S> {
    /// Creates a worker.
    pub fn new(
        stages: Arc<S>,
        database: Database,
        keyring: Arc<Keyring>,
        options: WorkerOptions,
        metrics: BuildMetrics,
    ) -> Self {
        let longest = options.interval;
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let shared = Shared {
            sources: SharedSources::new(options.fetches, options.fetch_timeout, longest),
            builders: Arc::new(Semaphore::new(threads)),
            stages,
            database,
            keyring,
            options,
        };
        Self {
            shared: Arc::new(shared),
            metrics,
        }
    }

    /// Builds due bundles until `stop` completes. Then running builds get the time of `grace`, and the leases of the others
    /// are released. Dropping the future ends everything at once: the leases end by themselves.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        report_publishers(&self.shared.database).await;
        let mut stop = pin!(stop);
        let mut attempts = Attempts::default();
        let mut polls = tokio::time::interval(POLL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut is_reachable, mut renewed, mut kept_up) = (true, Instant::now(), None);
        // Attempts that ended since the last poll, and those that it started.
        let (mut ended, mut filled) = (0, 0);
        loop {
            tokio::select! {
                biased;
                () = &mut stop => break,
                Some(joined) = attempts.tasks.join_next(), if !attempts.tasks.is_empty() => {
                    attempts.end(joined.ok());
                    ended += 1;
                    // Finding due bundles costs a query over all bundles, so places are filled again when half of those that the
                    // last poll filled are free. Attempts that take long do not count.
                    if 2 * ended < filled || !attempts.has_more {
                        continue;
                    }
                }
                _ = polls.tick() => {}
            }
            let before = attempts.running.len();
            let polled = self.poll(&mut attempts, &mut renewed).await;
            (ended, filled) = (0, attempts.running.len().saturating_sub(before));
            match &polled {
                Ok(()) if !is_reachable => tracing::info!("the database can be reached again"),
                Err(error) if is_reachable => {
                    tracing::warn!(%error, "bundles are not built while the database cannot be used");
                }
                _ => {}
            }
            is_reachable = polled.is_ok();
            // other instances take over leases that are not renewed
            if renewed.elapsed() >= Lease::TERM {
                attempts.cancel_all(Reason::LeaseLost);
            }
            if kept_up.is_none_or(|at: Instant| at.elapsed() >= UPKEEP) {
                kept_up = Some(Instant::now());
                self.keep_up().await;
            }
        }
        self.drain(&mut attempts).await;
        if attempts.keeps_leases {
            release_idle(&self.shared.database, &self.shared.options.instance).await;
        }
    }

    /// Renews leases, cancels attempts whose inputs changed, and begins attempts for due bundles.
    async fn poll(&self, attempts: &mut Attempts, renewed: &mut Instant) -> Result<(), DbError> {
        let Shared {
            database, options, ..
        } = &*self.shared;
        let is_due = renewed.elapsed() >= Lease::TERM / 4;
        if attempts.running.is_empty() && !attempts.keeps_leases {
            *renewed = Instant::now();
        } else if is_due || !attempts.running.is_empty() {
            let asked = Instant::now();
            let mode = if is_due { Mode::Write } else { Mode::Read };
            let mut transaction = database.begin(mode).await?;
            let held = if is_due {
                transaction.renew_leases(&options.instance).await
            } else {
                transaction.live_leases(&options.instance).await
            };
            let held = transaction.settle(held).await?;
            if is_due {
                *renewed = asked;
            }
            attempts.compare(&held);
        }
        let free = options.concurrency.saturating_sub(attempts.running.len());
        if free == 0 {
            return Ok(());
        }
        let mut transaction = database.begin(Mode::Read).await?;
        let triggers = transaction.due_triggers().await;
        let due = transaction
            .due_builds(&options.instance, i64::try_from(free).unwrap_or(i64::MAX))
            .await;
        transaction.roll_back().await;
        if !triggers?.is_empty() {
            let mut transaction = database.begin(Mode::Write).await?;
            let run = transaction.run_due_triggers().await;
            transaction.settle(run).await?;
        }
        let due = due?;
        attempts.has_more = due.len() >= free;
        if due.is_empty() {
            return Ok(());
        }
        let mut transaction = database.begin(Mode::Write).await?;
        let mut taken = Vec::new();
        for Due { bundle, name } in due {
            if attempts.running.contains_key(&bundle) {
                continue;
            }
            if let Some(lease) = transaction.take_lease(bundle, &options.instance).await? {
                taken.push((lease, name));
            }
        }
        transaction.commit().await?;
        for (lease, name) in taken {
            self.begin(attempts, lease, name);
        }
        Ok(())
    }

    fn begin(&self, attempts: &mut Attempts, lease: Lease, name: String) {
        let (cancel, cancelled) = oneshot::channel();
        let running = Running {
            fence: lease.fence,
            changes: lease.changes,
            cancel: Some(cancel),
            may_restart: !attempts.restarted.contains(&lease.bundle),
        };
        attempts.running.insert(lease.bundle, running);
        let (shared, metrics) = (self.shared.clone(), self.metrics.clone());
        attempts.tasks.spawn(async move {
            let begun = Instant::now();
            let ended = tokio::select! {
                biased;
                reason = cancelled => Err(reason.unwrap_or(Reason::LeaseLost)),
                ended = attempt(&shared, &lease, &name) => Ok(ended),
            };
            let is_restarted = matches!(ended, Err(Reason::Changed));
            if let Ok(ended) = &ended
                && let Some(record) = ended.result.record()
            {
                let is_well = record.status == Status::Success;
                let time = is_well.then(|| begun.elapsed());
                metrics.count(&name, record.status.as_str(), time);
            }
            let mut lease = lease;
            if let Ok(ended) = &ended {
                lease.is_kept = ended.publishers == Publishers::One;
            }
            if let Err(error) = finish(&shared, &lease, &name, ended).await {
                // the lease ends by itself, and the bundle is built again
                tracing::warn!(bundle = name, %error, "the result of a build was not recorded");
            }
            TaskEnd {
                bundle: lease.bundle,
                is_restarted,
                is_kept: lease.is_kept,
            }
        });
    }

    async fn keep_up(&self) {
        self.shared.sources.forget(UNUSED);
        let Ok(mut transaction) = self.shared.database.begin(Mode::Read).await else {
            return;
        };
        let states = transaction.build_states().await;
        transaction.roll_back().await;
        if let Ok(states) = states {
            self.metrics.set_successes(&states);
        }
    }

    /// Waits for running attempts, and cancels those that do not end in time.
    async fn drain(&self, attempts: &mut Attempts) {
        let Attempts {
            tasks,
            keeps_leases,
            ..
        } = &mut *attempts;
        let all = async {
            while let Some(joined) = tasks.join_next().await {
                *keeps_leases |= joined.is_ok_and(|ended| ended.is_kept);
            }
        };
        if tokio::time::timeout(self.shared.options.grace, all)
            .await
            .is_ok()
        {
            return;
        }
        attempts.cancel_all(Reason::Stopped);
        let all = async { while attempts.tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(self.shared.options.grace, all).await;
    }
}

impl Attempts {
    fn end(&mut self, ended: Option<TaskEnd>) {
        let Some(ended) = ended else {
            // which attempt panicked is unknown: a cancelled sender has no receiver
            self.running.retain(|_, running| {
                running
                    .cancel
                    .as_ref()
                    .is_none_or(|cancel| !cancel.is_closed())
            });
            return;
        };
        self.keeps_leases |= ended.is_kept;
        self.running.remove(&ended.bundle);
        if ended.is_restarted {
            self.restarted.insert(ended.bundle);
        } else {
            self.restarted.remove(&ended.bundle);
        }
    }

    /// Cancels the attempts whose leases were lost or whose inputs changed.
    fn compare(&mut self, held: &[LiveLease]) {
        let held: HashMap<i64, &LiveLease> = held.iter().map(|held| (held.bundle, held)).collect();
        for (bundle, running) in &mut self.running {
            let reason = match held.get(bundle) {
                Some(held) if held.fence == running.fence => {
                    if held.changes == running.changes || !running.may_restart {
                        continue;
                    }
                    Reason::Changed
                }
                _ => Reason::LeaseLost,
            };
            running.cancel(reason);
        }
    }

    fn cancel_all(&mut self, reason: Reason) {
        for running in self.running.values_mut() {
            running.cancel(reason);
        }
    }
}

impl Running {
    fn cancel(&mut self, reason: Reason) {
        if let Some(cancel) = self.cancel.take() {
            // an attempt that has just ended needs no signal
            let _ = cancel.send(reason);
        }
    }
}

/// Records the result of an attempt and ends its lease in one transaction.
async fn finish<S: Stages>(
    shared: &Shared<S>,
    lease: &Lease,
    name: &str,
    ended: Result<Ended, Reason>,
) -> Result<(), DbError> {
    let mut transaction = shared.database.begin(Mode::Write).await?;
    // An unchanged bundle is recorded only if its last result was a failure.
    let is_new = match &ended {
        Ok(ended) => !matches!(ended.result, AttemptResult::Unchanged(_)) || lease.failures > 0,
        Err(_) => true,
    };
    // the statement that ends the lease compares the token itself, so nothing needs to be checked before it if it is the only one
    if is_new && !transaction.has_lease(lease).await? {
        transaction.roll_back().await;
        tracing::warn!(
            bundle = name,
            "the lease of a bundle was lost; its result is not recorded"
        );
        return Ok(());
    }
    let Ok(ended) = ended else {
        if transaction.latest_status(lease.bundle).await?.is_none() {
            let record = StatusRecord {
                revision: String::new(),
                phase: Phase::Sync,
                status: Status::Cancelled,
                error_message: CANCELLED.to_owned(),
            };
            transaction.record_status(lease.bundle, &record).await?;
        }
        transaction.release_lease(lease).await?;
        return transaction.commit().await;
    };
    let record = ended.result.record();
    match &ended.result {
        AttemptResult::Published(published) | AttemptResult::Unchanged(published) => {
            // instances that start at the same time do not stay in step
            let delay = between(ended.interval.mul_f64(0.95), ended.interval);
            let is_held = transaction
                .end_with_success(lease, published, delay)
                .await?;
            if !is_held {
                tracing::warn!(bundle = name, "the lease of a bundle was lost");
            }
        }
        AttemptResult::Failed(failure, _) => {
            let failures = u32::try_from(lease.failures).unwrap_or(u32::MAX);
            let keeps = failure.phase != Phase::Push;
            let longest = ended.interval.max(shared.options.interval);
            let delay = after_failures(failures.saturating_add(FIRST_FAILURES), longest);
            tracing::warn!(
                bundle = name,
                phase = failure.phase.as_str(),
                status = failure.status.as_str(),
                message = failure.message,
                "a bundle was not built"
            );
            transaction.end_with_failure(lease, keeps, delay).await?;
        }
        AttemptResult::Abandoned => transaction.release_lease(lease).await?,
    }
    if let Some(record) = record.filter(|_| is_new) {
        let recorded = transaction.record_attempt(lease, &record, ended.durations);
        recorded.await?;
    }
    transaction.commit().await
}
