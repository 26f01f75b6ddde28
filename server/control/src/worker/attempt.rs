//! One attempt to build a bundle: load, plan, fetch, compare, build, publish.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::shared_sources::{Freshness, SharedSources};
use super::{Desired, FetchJob, ParsedItems, Publishers, Stages, Work, WorkerOptions};
use crate::db::{Database, Lease, Mode, PublishedInputs};
use crate::error::{ApiError, ApiErrorKind};
use crate::model::{Failure, Phase, Status, StatusRecord};
use crate::secrets::Keyring;
use crate::trace::{StageResult, TraceContext, in_span};

/// State that all attempts of a worker share.
pub struct Shared<S: Stages> {
    pub stages: Arc<S>,
    pub database: Database,
    /// The keys that decrypt secrets.
    pub keyring: Arc<Keyring>,
    pub options: WorkerOptions,
    pub parsed: ParsedItems,
    /// The fetched sources, shared by all bundles that need them.
    pub sources: SharedSources<S>,
    /// Permits for threads that build.
    pub builders: Arc<Semaphore>,
}

/// The end of an attempt, for metrics and the next build.
pub struct Ended {
    pub result: AttemptResult,
    /// The durations of fetching, building and publishing, if they ran.
    pub durations: [Option<Duration>; 3],
    /// The time until the next build, if nothing changes earlier.
    pub interval: Duration,
    /// The instances that may publish the bundle from now on.
    pub publishers: Publishers,
}

impl Ended {
    /// Creates the end of an attempt without a result.
    fn new(lease: &Lease, interval: Duration) -> Self {
        Self {
            result: AttemptResult::Abandoned,
            durations: [None; 3],
            interval,
            publishers: if lease.is_kept {
                Publishers::One
            } else {
                Publishers::Any
            },
        }
    }
}

impl StageResult for Ended {
    fn failure(&self) -> Option<&str> {
        match &self.result {
            AttemptResult::Failed(failure, _) => Some(&failure.message),
            _ => None,
        }
    }
}

pub enum AttemptResult {
    /// The archive was built and is published.
    Published(PublishedInputs),
    /// The inputs are those of the published archive.
    Unchanged(PublishedInputs),
    /// A stage failed, with the revision if it was known.
    Failed(Failure, String),
    /// The bundle was deleted, the lease was lost, or the database cannot be reached. Nothing is recorded.
    Abandoned,
}

impl AttemptResult {
    /// Returns the status record, or `None` for an attempt that was abandoned.
    pub fn record(&self) -> Option<StatusRecord> {
        match self {
            Self::Published(published) | Self::Unchanged(published) => Some(StatusRecord {
                revision: published.revision.clone(),
                phase: Phase::Push,
                status: Status::Success,
                error_message: String::new(),
            }),
            Self::Failed(failure, revision) => Some(StatusRecord {
                revision: revision.clone(),
                phase: failure.phase,
                status: failure.status,
                error_message: failure.message.clone(),
            }),
            Self::Abandoned => None,
        }
    }
}

/// Runs an attempt, in the trace of the change that caused it, or in a trace of its own. Dropping the future cancels it, except for a thread that builds,
/// whose result is then ignored.
pub async fn attempt<S: Stages>(shared: &Arc<Shared<S>>, lease: &Lease, bundle: &str) -> Ended {
    let context = TraceContext {
        tracer: shared.options.tracer.clone(),
        parent: lease.trace_parent.clone(),
    };
    let attributes = [("solon.bundle", bundle)];
    let stages = in_span(
        "build bundle",
        &attributes,
        run_stages(shared, lease, bundle),
    );
    // a panic interrupts no change of shared state
    let ended = AssertUnwindSafe(context.scope(stages)).catch_unwind().await;
    ended.unwrap_or_else(|_| {
        tracing::error!(bundle, "a build panicked");
        let mut ended = Ended::new(lease, shared.options.interval);
        // the archive may have been published
        ended.result = AttemptResult::Failed(internal_error(Phase::Push), String::new());
        ended
    })
}

async fn run_stages<S: Stages>(shared: &Arc<Shared<S>>, lease: &Lease, bundle: &str) -> Ended {
    let mut ended = Ended::new(lease, shared.options.interval);
    let begun = Instant::now();
    let loading = {
        let (shared, bundle) = (shared.clone(), bundle.to_owned());
        async move {
            let Shared {
                database,
                keyring,
                parsed,
                ..
            } = &*shared;
            Desired::load(database, keyring, parsed, &bundle).await
        }
    };
    let desired = match shared.database.on_one_thread(loading).await {
        Ok(Some(desired)) => Arc::new(desired),
        Ok(None) => return ended,
        Err(error) => {
            ended.result = not_loaded(&error);
            return ended;
        }
    };
    ended.interval = interval(&desired, shared.options.interval);
    let failed = |failure| AttemptResult::Failed(failure, String::new());
    let fresh = Freshness {
        // half of the interval, so that a bundle is never older than one and a half
        max_age: ended.interval.min(shared.options.interval) / 2,
        not_before: earliest_fetch(lease, begun),
    };
    let work = match fetch_all(shared, desired, fresh).await {
        Ok(work) => Arc::new(work),
        Err(failure) => {
            ended.durations[0] = Some(begun.elapsed());
            ended.result = failed(failure);
            return ended;
        }
    };
    ended.durations[0] = Some(begun.elapsed());
    let digest = match shared.stages.input_digest(&work) {
        // another storage needs the archive again
        Ok(digest) => format!("{digest}:{}", work.desired.storage_digest),
        Err(failure) => {
            ended.result = failed(failure);
            return ended;
        }
    };
    if let Some(published) = &lease.published
        && published.digest == digest
        && !lease.is_requested
    {
        ended.result = AttemptResult::Unchanged(published.clone());
        return ended;
    }
    let begun = Instant::now();
    let built = blocking(shared, Phase::Build, {
        let (stages, work) = (shared.stages.clone(), work.clone());
        move || stages.build(&work)
    });
    let built = in_span("build", &[], built).await;
    ended.durations[1] = Some(begun.elapsed());
    let (revision, archive) = match built {
        Ok(built) => built,
        Err(failure) => {
            ended.result = failed(failure);
            return ended;
        }
    };
    if !is_leased(&shared.database, lease).await {
        return ended;
    }
    let begun = Instant::now();
    let fence = lease.fence.unsigned_abs();
    let limit = shared.options.publish_timeout;
    let publishing = shared.stages.publish(&work.desired, &archive, fence);
    let publishing = async {
        let published = timeout(limit, publishing).await;
        published.unwrap_or_else(|_| Err(late(Phase::Push, limit)))
    };
    let attributes = [("solon.revision", revision.as_str())];
    let published = in_span("push", &attributes, publishing).await;
    ended.durations[2] = Some(begun.elapsed());
    ended.result = match published {
        Ok(publishers) => {
            ended.publishers = publishers;
            AttemptResult::Published(PublishedInputs { digest, revision })
        }
        Err(failure) => AttemptResult::Failed(failure, revision),
    };
    ended
}

/// Returns the earliest begin of a fetch whose result may be used. Invariant: a build never uses a result that is older than
/// what an earlier build of the bundle, perhaps by another instance, has used. Otherwise the bundle would go back.
fn earliest_fetch(lease: &Lease, now: Instant) -> Option<Instant> {
    if lease.is_requested || lease.is_takeover {
        return Some(now);
    }
    // clocks of the database and of this process agree about durations
    let since = lease.since_attempt?;
    Some(now.checked_sub(since).unwrap_or(now))
}

/// Plans a bundle and fetches its sources concurrently. If several fail, the first one of the plan is reported.
async fn fetch_all<S: Stages>(
    shared: &Arc<Shared<S>>,
    desired: Arc<Desired>,
    fresh: Freshness,
) -> Result<Work<S>, Failure> {
    let plan = shared.stages.plan(&desired)?;
    let needed = shared.stages.needed(&plan);
    // dropping the set cancels the fetches
    let mut fetches = JoinSet::new();
    let mut results = BTreeMap::new();
    for (at, needed) in needed.iter().enumerate() {
        let Some(source) = desired.sources.get(&needed.source).cloned() else {
            return Err(Failure {
                phase: Phase::Build,
                status: Status::BuildFailed,
                message: format!("missing source {:?}", needed.source),
            });
        };
        let job = FetchJob {
            source,
            commit: needed.commit.clone(),
        };
        // without a task: for most bundles, another one has fetched the sources
        if let Some(result) = shared.sources.cached(&job, fresh) {
            let attributes = [("solon.source", needed.source.as_str())];
            results.insert(at, in_span("sync", &attributes, async { result }).await);
            continue;
        }
        let shared = shared.clone();
        let context = TraceContext::current();
        fetches.spawn(context.scope(async move {
            let name = job.source.source.name.clone();
            let attributes = [("solon.source", name.as_str())];
            let fetch = shared.sources.fetch(&shared.stages, job, fresh);
            (at, in_span("sync", &attributes, fetch).await)
        }));
    }
    while let Some(joined) = fetches.join_next().await {
        let (at, result) = joined.map_err(|error| crashed(Phase::Sync, &error))?;
        results.insert(at, result);
    }
    let mut fetched = BTreeMap::new();
    for (needed, (_, result)) in needed.into_iter().zip(results) {
        fetched.insert(needed.source, result?);
    }
    Ok(Work {
        desired,
        plan,
        fetched,
    })
}

/// Runs blocking work on a thread, with the time-out of builds. The thread keeps its permit until it has ended.
async fn blocking<S: Stages, T: Send + 'static>(
    shared: &Shared<S>,
    phase: Phase,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let limit = shared.options.build_timeout;
    let running = async {
        let permit = shared.builders.clone().acquire_owned().await;
        let thread = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        thread
            .await
            .unwrap_or_else(|error| Err(crashed(phase, &error)))
    };
    let ended = timeout(limit, running).await;
    ended.unwrap_or_else(|_| Err(late(phase, limit)))
}

async fn is_leased(database: &Database, lease: &Lease) -> bool {
    let Ok(mut transaction) = database.begin(Mode::Read).await else {
        return false;
    };
    let held = transaction.has_lease(lease).await;
    transaction.roll_back().await;
    held.unwrap_or(false)
}

fn interval(desired: &Desired, default: Duration) -> Duration {
    let text = desired.bundle.rebuild_interval.as_str();
    let nanoseconds = solon_common::duration::parse(text).ok();
    let interval = nanoseconds.and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
    match interval {
        Some(nanoseconds) if nanoseconds > 0 => Duration::from_nanos(nanoseconds),
        _ => default,
    }
}

fn not_loaded(error: &ApiError) -> AttemptResult {
    let status = match error.kind {
        ApiErrorKind::Unavailable | ApiErrorKind::Busy => {
            tracing::warn!(%error, "a bundle was not loaded");
            return AttemptResult::Abandoned;
        }
        ApiErrorKind::Invalid => Status::ConfigError,
        _ => Status::InternalError,
    };
    let failure = Failure {
        phase: Phase::Sync,
        status,
        message: error.message.clone(),
    };
    AttemptResult::Failed(failure, String::new())
}

fn late(phase: Phase, limit: Duration) -> Failure {
    let status = match phase {
        Phase::Push => Status::PushFailed,
        _ => Status::BuildFailed,
    };
    Failure {
        phase,
        status,
        message: format!("not finished within {} s", limit.as_secs()),
    }
}

fn crashed(phase: Phase, error: &tokio::task::JoinError) -> Failure {
    tracing::error!(%error, "a stage of a build panicked");
    internal_error(phase)
}

/// The message contains no panic message, which may contain values of sources.
fn internal_error(phase: Phase) -> Failure {
    Failure {
        phase,
        status: Status::InternalError,
        message: "internal error: the log of the service has the details".to_owned(),
    }
}
