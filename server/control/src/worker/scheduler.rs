//! Polls for due bundles, takes leases, runs attempts and records their results.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, MissedTickBehavior};

use super::attempt::{AttemptResult, Shared, attempt};
use super::leasing::{DueBundles, finish};
use super::publishers::{release_idle, report_publishers};
use super::running::{AttemptEnd, Attempts, CancelReason, UnchangedBundle};
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

/// Options of a worker. [`Self::new`] returns the defaults.
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
    /// Returns the default options: 10 parallel builds, an interval of 30 seconds, and 5 minutes for each stage.
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

/// The worker of an instance. It builds the bundles whose leases it gets.
pub struct Worker<S: Stages> {
    pub(super) shared: Arc<Shared<S>>,
    metrics: BuildMetrics,
}

impl<S: Stages> Worker<S> {
    /// Creates a worker. It does nothing before it is run. At most one build for each processor runs at once.
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
        let (mut attempts, mut due) = (Attempts::default(), DueBundles::default());
        let mut polls = tokio::time::interval(POLL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut is_reachable, mut renewed, mut kept_up) = (true, Instant::now(), None);
        loop {
            let polled = tokio::select! {
                biased;
                () = &mut stop => break,
                // before ends of attempts, which may always be ready
                _ = polls.tick() => self.poll(&mut attempts, &mut due, &mut renewed).await,
                () = attempts.gathered(), if !due.is_exhausted() => {
                    self.fill(&mut attempts, &mut due).await
                }
                () = attempts.next_end() => {
                    if due.is_exhausted() || 2 * self.free(&attempts) < self.shared.options.concurrency {
                        continue;
                    }
                    self.fill(&mut attempts, &mut due).await
                }
            };
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

    /// Renews leases, cancels attempts whose inputs changed, finds due bundles and begins attempts.
    async fn poll(
        &self,
        attempts: &mut Attempts,
        due: &mut DueBundles,
        renewed: &mut Instant,
    ) -> Result<(), DbError> {
        let database = &self.shared.database;
        let is_due = renewed.elapsed() >= Lease::TERM / 4;
        if attempts.count() == 0 && !attempts.keeps_leases {
            *renewed = Instant::now();
        } else if is_due || attempts.count() > 0 {
            let asked = Instant::now();
            let shared = self.shared.clone();
            let held = async move { shared.current_leases(is_due).await };
            let held = database.on_one_thread(held).await?;
            if is_due {
                *renewed = asked;
            }
            let abandoned = attempts.compare(&held);
            if !abandoned.is_empty() {
                self.shared.abandon(abandoned).await?;
                // they are kept until they are built
                attempts.keeps_leases = true;
            }
        }
        due.is_outdated = true;
        self.fill(attempts, due).await
    }

    /// Returns the number of attempts that can be begun.
    fn free(&self, attempts: &Attempts) -> usize {
        let concurrency = self.shared.options.concurrency;
        concurrency.saturating_sub(attempts.count())
    }

    /// Records results that found nothing changed, and begins attempts for due bundles.
    async fn fill(&self, attempts: &mut Attempts, due: &mut DueBundles) -> Result<(), DbError> {
        let database = &self.shared.database;
        let free = self.free(attempts);
        // the query reads the state of each bundle, so it runs once a second, unless there are more due bundles than it returns
        if free > 0 && due.is_to_query() {
            // after an error, the next poll repeats the query
            *due = DueBundles::default();
            let shared = self.shared.clone();
            let found = async move { shared.find_due().await };
            *due = database.on_one_thread(found).await?;
        }
        let is_idle = free == 0 || due.bundles.is_empty();
        if is_idle && attempts.unrecorded.is_empty() {
            attempts.clear_results();
            return Ok(());
        }
        let work = {
            let (shared, running) = (self.shared.clone(), attempts.bundles());
            let unrecorded = attempts.unrecorded.clone();
            // after an error, the next poll finds the bundles again
            let mut rest = std::mem::take(due);
            async move {
                let taken = shared.record_and_lease(&unrecorded, &mut rest, free, &running);
                Ok::<_, DbError>((taken.await?, rest))
            }
        };
        let (taken, rest) = database.on_one_thread(work).await?;
        *due = rest;
        attempts.clear_results();
        for (lease, name) in taken {
            self.begin(attempts, lease, name);
        }
        Ok(())
    }

    fn begin(&self, attempts: &mut Attempts, mut lease: Lease, name: String) {
        let (shared, metrics) = (self.shared.clone(), self.metrics.clone());
        let held = LiveLease {
            bundle: lease.bundle,
            fence: lease.fence,
            changes: lease.changes,
        };
        attempts.spawn(held, move |cancelled| async move {
            let begun = Instant::now();
            let ended = tokio::select! {
                biased;
                reason = cancelled => Err(reason.unwrap_or(CancelReason::LeaseLost)),
                ended = attempt(&shared, &lease, &name) => Ok(ended),
            };
            let mut end = AttemptEnd {
                bundle: lease.bundle,
                is_restarted: matches!(ended, Err(CancelReason::Changed)),
                is_kept: lease.is_kept,
                unchanged: None,
            };
            if let Ok(ended) = &ended {
                lease.is_kept = ended.publishers == Publishers::One;
                end.is_kept = lease.is_kept;
                if let Some(record) = ended.result.record() {
                    let is_well = record.status == Status::Success;
                    let time = is_well.then(|| begun.elapsed());
                    metrics.count(&name, record.status.as_str(), time);
                }
                // a success after a failure is recorded in the history
                if let AttemptResult::Unchanged(published) = &ended.result
                    && lease.failures == 0
                {
                    end.unchanged = Some(UnchangedBundle {
                        lease,
                        name,
                        published: published.clone(),
                        interval: ended.interval,
                    });
                    return end;
                }
            }
            let recorded = {
                let (shared, name) = (shared.clone(), name.clone());
                async move { finish(&shared, &lease, &name, ended).await }
            };
            if let Err(error) = shared.database.on_one_thread(recorded).await {
                // the lease is abandoned, and the bundle is built again
                tracing::warn!(bundle = name, %error, "the result of a build was not recorded");
            }
            end
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

    /// Waits for running attempts, cancels those that do not end in time, and records the last results.
    async fn drain(&self, attempts: &mut Attempts) {
        let grace = self.shared.options.grace;
        if tokio::time::timeout(grace, attempts.join_all())
            .await
            .is_err()
        {
            attempts.cancel_all(CancelReason::Stopped);
            let _ = tokio::time::timeout(grace, attempts.join_all()).await;
        }
        let is_recorded = self.fill(attempts, &mut DueBundles::default()).await;
        if let Err(error) = is_recorded {
            tracing::warn!(%error, "results of builds were not recorded; their leases end by themselves");
        }
    }
}
