//! Fetched sources, shared by the bundles that need them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use solon_outbound::backoff::after_failures;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::{FetchJob, Stages};
use crate::model::{Failure, Phase, Status};

/// Number of fetched versions of one source, such as pinned commits.
const VERSIONS: usize = 8;

/// The retry of a failed fetch is delayed as the eighth one of a client is: about three seconds.
const FIRST_FAILURES: u32 = 7;

/// Results of fetches.
pub struct SharedSources<S: Stages> {
    sources: Mutex<HashMap<String, Arc<Versions<S>>>>,
    permits: Semaphore,
    timeout: Duration,
    longest_delay: Duration,
}

/// The versions of a source. The lock is held during a fetch, so that only one runs.
type Versions<S> = tokio::sync::Mutex<HashMap<Version, Outcome<<S as Stages>::Fetched>>>;

/// The digest of a source and the pinned commit.
type Version = (String, Option<String>);

struct Outcome<F> {
    started: Instant,
    ended: Instant,
    result: Result<Arc<F>, Failure>,
    failures: u32,
    /// After a failure, the delay until the next fetch.
    delay: Duration,
}

/// How old a result may be.
#[derive(Clone, Copy, Debug)]
pub struct Freshness {
    /// The maximum age of a result.
    pub max_age: Duration,
    /// The earliest begin of the fetch, if a build was requested.
    pub not_before: Option<Instant>,
}

impl<S: Stages> SharedSources<S> {
    /// Creates an empty cache for at most `at_once` concurrent fetches.
    pub fn new(at_once: usize, timeout: Duration, longest_delay: Duration) -> Self {
        Self {
            sources: Mutex::default(),
            permits: Semaphore::new(at_once.max(1)),
            timeout,
            longest_delay,
        }
    }

    /// Returns a sufficiently fresh result, without waiting for one.
    pub fn cached(
        &self,
        job: &FetchJob,
        fresh: Freshness,
    ) -> Option<Result<Arc<S::Fetched>, Failure>> {
        let versions = self.sources.lock().get(&job.source.source.name)?.clone();
        let versions = versions.try_lock().ok()?;
        let outcome = versions.get(&(job.source.digest.clone(), job.commit.clone()))?;
        outcome.is_fresh(fresh).then(|| outcome.result.clone())
    }

    /// Returns a fetched source: a sufficiently fresh result of another bundle, or the result of a fetch.
    pub async fn fetch(
        &self,
        stages: &S,
        job: FetchJob,
        fresh: Freshness,
    ) -> Result<Arc<S::Fetched>, Failure> {
        let name = job.source.source.name.clone();
        let versions = self.sources.lock().entry(name.clone()).or_default().clone();
        let mut versions = versions.lock().await;
        let version = (job.source.digest.clone(), job.commit.clone());
        let mut failures = 0;
        if let Some(outcome) = versions.get(&version) {
            if outcome.is_fresh(fresh) {
                return outcome.result.clone();
            }
            failures = outcome.failures;
        }
        // the semaphore is never closed
        let _permit = self.permits.acquire().await;
        let started = Instant::now();
        let result = match timeout(self.timeout, stages.fetch(job)).await {
            Ok(result) => result.map(Arc::new),
            Err(_) => Err(Failure {
                phase: Phase::Sync,
                status: Status::SyncFailed,
                message: format!(
                    "source {name:?}: not fetched within {} s",
                    self.timeout.as_secs()
                ),
            }),
        };
        let failures = if result.is_ok() { 0 } else { failures + 1 };
        let outcome = Outcome {
            started,
            ended: Instant::now(),
            result: result.clone(),
            failures,
            delay: after_failures(failures.saturating_add(FIRST_FAILURES), self.longest_delay),
        };
        versions.insert(version, outcome);
        if versions.len() > VERSIONS {
            let oldest = versions.iter().min_by_key(|(_, outcome)| outcome.ended);
            if let Some(oldest) = oldest.map(|(version, _)| version.clone()) {
                versions.remove(&oldest);
            }
        }
        result
    }

    /// Forgets sources that no bundle has fetched for `age`.
    pub fn forget(&self, age: Duration) {
        self.sources.lock().retain(|_, versions| {
            let Ok(versions) = versions.try_lock() else {
                return true;
            };
            versions
                .values()
                .any(|outcome| outcome.ended.elapsed() < age)
        });
    }
}

impl<F> Outcome<F> {
    fn is_fresh(&self, fresh: Freshness) -> bool {
        if fresh
            .not_before
            .is_some_and(|earliest| self.started < earliest)
        {
            return false;
        }
        let age = self.ended.elapsed();
        match self.result {
            Ok(_) => age < fresh.max_age,
            Err(_) => age < self.delay,
        }
    }
}
