//! Polls for due bundles, takes leases, runs attempts and records their results.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use super::attempt::{Shared, attempt};
use super::leasing::{CancelReason, finish};
use super::publishers::{release_idle, report_publishers};
use super::shared_sources::SharedSources;
use super::{BuildMetrics, ParsedItems, Publishers, Stages};
use crate::db::{Database, DbError, Lease, LiveLease, Mode};
use crate::model::Status;
use crate::secrets::Keyring;
use crate::trace::Tracer;

/// Interval of polling the database for due bundles and for changes of bundles that are being built.
const POLL: Duration = Duration::from_secs(1);

/// Interval of the metrics of all bundles and of forgetting unused sources and items.
const UPKEEP: Duration = Duration::from_secs(15);

/// Age of fetched sources and parsed items that are forgotten.
const UNUSED: Duration = Duration::from_mins(15);

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

/// A running attempt.
struct Running {
    fence: i64,
    changes: i64,
    cancel: Option<oneshot::Sender<CancelReason>>,
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
            parsed: ParsedItems::default(),
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
                attempts.cancel_all(CancelReason::LeaseLost);
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
            let shared = self.shared.clone();
            let held = async move { shared.current_leases(is_due).await };
            let held = database.on_one_thread(held).await?;
            if is_due {
                *renewed = asked;
            }
            attempts.compare(&held);
        }
        let free = options.concurrency.saturating_sub(attempts.running.len());
        if free == 0 {
            return Ok(());
        }
        let running: HashSet<i64> = attempts.running.keys().copied().collect();
        let shared = self.shared.clone();
        let taken = async move { shared.take_due(free, &running).await };
        let (taken, has_more) = database.on_one_thread(taken).await?;
        attempts.has_more = has_more;
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
                reason = cancelled => Err(reason.unwrap_or(CancelReason::LeaseLost)),
                ended = attempt(&shared, &lease, &name) => Ok(ended),
            };
            let is_restarted = matches!(ended, Err(CancelReason::Changed));
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
            let (bundle, is_kept) = (lease.bundle, lease.is_kept);
            let recorded = {
                let (shared, name) = (shared.clone(), name.clone());
                async move { finish(&shared, &lease, &name, ended).await }
            };
            if let Err(error) = shared.database.on_one_thread(recorded).await {
                // the lease ends by itself, and the bundle is built again
                tracing::warn!(bundle = name, %error, "the result of a build was not recorded");
            }
            TaskEnd {
                bundle,
                is_restarted,
                is_kept,
            }
        });
    }

    async fn keep_up(&self) {
        self.shared.sources.forget(UNUSED);
        self.shared.parsed.forget(UNUSED);
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
        attempts.cancel_all(CancelReason::Stopped);
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
                    CancelReason::Changed
                }
                _ => CancelReason::LeaseLost,
            };
            running.cancel(reason);
        }
    }

    fn cancel_all(&mut self, reason: CancelReason) {
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
