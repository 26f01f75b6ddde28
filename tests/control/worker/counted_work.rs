//! Work of the database for bundles that do not change, and results that cannot be recorded at once, in virtual time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use solon_control::db::{Clock, Database};
use solon_control::model::Failure;
use solon_control::secrets::Keyring;
use solon_control::worker::{
    BuildMetrics, Desired, FetchJob, Needed, Publishers, Stages, Work, Worker, WorkerOptions,
};
use tokio::time::{Instant, sleep};

use crate::databases::On;
use crate::plane::Plane;

/// Stages whose inputs never change.
#[derive(Default)]
struct Unchanging {
    fetch_time: Duration,
    fetches: AtomicUsize,
    checks: AtomicUsize,
    published: Mutex<BTreeMap<String, usize>>,
    /// Panics in the next check of the bundle `a`.
    panics: AtomicBool,
    /// `true` if the source `slow` is never fetched.
    is_slow: bool,
}

impl Stages for Unchanging {
    type Plan = Vec<Needed>;
    type Fetched = ();
    type Archive = ();

    fn plan(&self, desired: &Desired) -> Result<Self::Plan, Failure> {
        let requirements = desired.bundle.requirements.iter();
        let needed = requirements.map(|requirement| Needed {
            source: requirement.source.clone().unwrap(),
            commit: None,
        });
        Ok(needed.collect())
    }

    fn needed(&self, plan: &Self::Plan) -> Vec<Needed> {
        plan.clone()
    }

    async fn fetch(&self, job: FetchJob) -> Result<(), Failure> {
        self.fetches.fetch_add(1, Ordering::Relaxed);
        if self.is_slow && job.source.source.name == "slow" {
            std::future::pending::<()>().await;
        }
        sleep(self.fetch_time).await;
        Ok(())
    }

    fn input_digest(&self, work: &Work<Self>) -> Result<String, Failure> {
        let is_a = work.desired.bundle.name == "a";
        assert!(!is_a || !self.panics.swap(false, Ordering::Relaxed));
        self.checks.fetch_add(1, Ordering::Relaxed);
        Ok("same".to_owned())
    }

    fn build(&self, _: &Work<Self>) -> Result<(String, ()), Failure> {
        Ok(("r".to_owned(), ()))
    }

    async fn publish(&self, desired: &Desired, (): &(), _: u64) -> Result<Publishers, Failure> {
        let mut published = self.published.lock().unwrap();
        *published.entry(desired.bundle.name.clone()).or_default() += 1;
        Ok(Publishers::Any)
    }
}

impl Unchanging {
    fn published(&self, bundle: &str) -> usize {
        let published = self.published.lock().unwrap();
        published.get(bundle).copied().unwrap_or_default()
    }
}

/// Number of statements and transactions by their first word.
#[derive(Clone, Default)]
struct Counts(Arc<Mutex<BTreeMap<&'static str, usize>>>);

impl Counts {
    fn take(&self) -> BTreeMap<&'static str, usize> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Returns a plane with bundles that need one source each, and its database with the virtual clock.
async fn plane(on: On, bundles: &[(String, &str)]) -> (Plane, Database, Counts) {
    let plane = Plane::new(on).await.unwrap();
    for (bundle, source) in bundles {
        let request = format!("PUT /v1/sources/{source}");
        plane.done("admin", &request, "{}").await;
        let body = format!(r#"{{"requirements": [{{"source": "{source}"}}]}}"#);
        let request = format!("PUT /v1/bundles/{bundle}");
        plane.done("admin", &request, &body).await;
    }
    let mut database = plane.plane.database().clone();
    let begun = Instant::now();
    database.set_clock(Clock::Function(Arc::new(move || {
        let elapsed = begun.elapsed().as_micros();
        1_000_000_000_000_000 + i64::try_from(elapsed).unwrap()
    })));
    let counts = Counts::default();
    let counter = counts.clone();
    database.observe(Arc::new(move |operation, _, _| {
        *counter.0.lock().unwrap().entry(operation).or_default() += 1;
    }));
    (plane, database, counts)
}

fn start(stages: &Arc<Unchanging>, database: &Database) -> tokio::task::JoinHandle<()> {
    let worker = Worker::new(
        stages.clone(),
        database.clone(),
        Arc::new(Keyring::random().unwrap()),
        WorkerOptions::new("one"),
        BuildMetrics::default(),
    );
    tokio::spawn(async move { worker.run(std::future::pending()).await })
}

#[tokio::test(start_paused = true)]
async fn a_check_of_unchanged_bundles_takes_few_transactions() {
    const BUNDLES: usize = 200;
    let bundles: Vec<_> = (0..BUNDLES)
        .map(|number| (format!("b{number}"), "s"))
        .collect();
    let (_plane, database, counts) = plane(On::Memory, &bundles).await;
    let stages = Arc::new(Unchanging::default());
    let worker = start(&stages, &database);
    while stages.published.lock().unwrap().len() < BUNDLES {
        sleep(Duration::from_secs(1)).await;
    }
    sleep(Duration::from_secs(2)).await;
    stages.checks.store(0, Ordering::Relaxed);
    counts.take();
    // Longer than the interval between two checks, and shorter than two.
    let seconds = 40;
    sleep(Duration::from_secs(seconds)).await;
    assert_eq!(stages.checks.load(Ordering::Relaxed), BUNDLES);
    assert_eq!(stages.published("b0"), 1);
    let seconds = usize::try_from(seconds).unwrap();
    let counts = counts.take();
    let count = |operation| counts.get(operation).copied().unwrap_or_default();
    // Attempts are begun five at once or more, and results are recorded with them.
    let fills = BUNDLES / 5;
    assert!(count("commit") < fills + seconds, "{counts:?}");
    // One statement for the lease and one for the result of each bundle.
    assert!(count("update") < 2 * BUNDLES + seconds, "{counts:?}");
    // Each bundle is loaded by one transaction.
    assert!(count("begin") < BUNDLES + fills + 3 * seconds, "{counts:?}");
    // Due bundles are found by one query a second, which is not repeated for the attempts that are begun together.
    let of_bundle = 7;
    assert!(
        count("select") < of_bundle * BUNDLES + fills + 4 * seconds,
        "{counts:?}"
    );
    worker.abort();
}

#[tokio::test(start_paused = true)]
async fn a_bundle_is_built_again_after_a_panic() {
    let bundles = [("a".to_owned(), "s"), ("b".to_owned(), "slow")];
    let (_plane, database, _) = plane(On::Memory, &bundles).await;
    let stages = Arc::new(Unchanging {
        panics: AtomicBool::new(true),
        is_slow: true,
        ..Unchanging::default()
    });
    let worker = start(&stages, &database);
    // The attempt of the other bundle goes on, so that leases are renewed.
    sleep(Duration::from_mins(1)).await;
    assert!(!stages.panics.load(Ordering::Relaxed));
    assert_eq!((stages.published("a"), stages.published("b")), (1, 0));
    assert!(stages.fetches.load(Ordering::Relaxed) <= 4);
    worker.abort();
}

#[tokio::test(start_paused = true)]
async fn a_result_is_recorded_once_the_database_can_be_used_again() {
    let (plane, database, counts) = plane(On::Sqlite, &[("a".to_owned(), "s")]).await;
    let file = plane.folder.0.join("sqlite.db");
    let file = rusqlite::Connection::open(file).unwrap();
    let stages = Arc::new(Unchanging {
        fetch_time: Duration::from_secs(5),
        ..Unchanging::default()
    });
    let worker = start(&stages, &database);
    while stages.published("a") == 0 {
        sleep(Duration::from_secs(1)).await;
    }
    let faults = [
        (
            "CREATE TRIGGER full BEFORE UPDATE OF attempted_at ON bundle_builds BEGIN SELECT RAISE(ABORT, 'full'); END",
            "DROP TRIGGER full",
        ),
        (
            "ALTER TABLE bundle_builds RENAME TO gone",
            "ALTER TABLE gone RENAME TO bundle_builds",
        ),
    ];
    for (fault, repair) in faults {
        let before = stages.fetches.load(Ordering::Relaxed);
        while stages.fetches.load(Ordering::Relaxed) == before {
            sleep(Duration::from_millis(100)).await;
        }
        file.execute_batch(fault).unwrap();
        let checks = stages.checks.load(Ordering::Relaxed);
        counts.take();
        // longer than a lease
        sleep(Duration::from_mins(1)).await;
        assert_eq!(stages.checks.load(Ordering::Relaxed), checks + 1);
        // the database is not called more often than otherwise
        let begun = counts.take()["begin"];
        assert!((30..240).contains(&begun), "{fault}: {begun}");
        file.execute_batch(repair).unwrap();
        sleep(Duration::from_mins(1)).await;
        assert!(stages.checks.load(Ordering::Relaxed) > checks + 1);
        // a bundle whose last result is unknown would be published again
        assert_eq!(stages.published("a"), 1, "{fault}");
    }
    worker.abort();
}
