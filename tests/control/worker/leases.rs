//! Leases of bundles, and the counts of their changes, on each database.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use solon_control::db::{Clock, Database, Lease, Mode, PublishedInputs, Transaction};
use solon_control::model::{Kind, Phase, Status, StatusRecord};

use crate::databases::On;
use crate::plane::Plane;

/// A database with a clock that the test moves.
struct Case {
    plane: Plane,
    database: Database,
    now: Arc<AtomicI64>,
}

fn published() -> PublishedInputs {
    PublishedInputs {
        digest: "digest".to_owned(),
        revision: "1".to_owned(),
    }
}

impl Case {
    async fn new(on: On) -> Option<Self> {
        let plane = Plane::new(on).await?;
        let mut database = plane.plane.database().clone();
        let now = Arc::new(AtomicI64::new(1_000_000_000_000_000));
        let clock = now.clone();
        database.set_clock(Clock::Function(Arc::new(move || {
            clock.load(Ordering::Relaxed)
        })));
        Some(Self {
            plane,
            database,
            now,
        })
    }

    fn pass(&self, seconds: i64) {
        self.now.fetch_add(seconds * 1_000_000, Ordering::Relaxed);
    }

    async fn write(&self) -> Transaction {
        self.database.begin(Mode::Write).await.unwrap()
    }

    async fn due(&self) -> Vec<String> {
        self.due_for("nobody").await
    }

    async fn due_for(&self, instance: &str) -> Vec<String> {
        let mut transaction = self.database.begin(Mode::Read).await.unwrap();
        let due = transaction.due_builds(instance, 100).await.unwrap();
        transaction.roll_back().await;
        due.into_iter().map(|due| due.name).collect()
    }

    async fn take(&self, bundle: &str, holder: &str) -> Option<Lease> {
        let mut transaction = self.write().await;
        let head = transaction.head(Kind::Bundle, bundle).await.unwrap()?;
        let lease = transaction.take_lease(head.id, holder).await.unwrap();
        transaction.commit().await.unwrap();
        lease
    }

    async fn succeed(&self, lease: &Lease, delay: u64) -> bool {
        let delay = Duration::from_secs(delay);
        let mut transaction = self.write().await;
        let ended = transaction
            .end_with_success(lease, &published(), delay)
            .await;
        transaction.commit().await.unwrap();
        ended.unwrap()
    }

    /// Builds every due bundle. The next build is due after an hour.
    async fn build_all(&self) {
        for bundle in self.due().await {
            let lease = self.take(&bundle, "x").await.unwrap();
            assert!(self.succeed(&lease, 3600).await);
        }
        assert!(self.due().await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_instance_leases_a_bundle_and_tokens_grow() {
    for on in On::ALL {
        let Some(case) = Case::new(on).await else {
            continue;
        };
        assert!(case.due().await.is_empty());
        case.plane.done("admin", "PUT /v1/bundles/b", "{}").await;
        assert_eq!(case.due().await, ["b"], "{on:?}");
        let first = case.take("b", "one").await.unwrap();
        assert_eq!((first.fence, first.changes, first.failures), (1, 1, 0));
        assert!(case.take("b", "two").await.is_none());
        assert!(case.take("b", "one").await.is_none(), "not even its holder");
        assert!(case.due().await.is_empty());

        // renewed in time
        for _ in 0..3 {
            case.pass(25);
            let mut transaction = case.write().await;
            let held = transaction.renew_leases("one").await.unwrap();
            transaction.commit().await.unwrap();
            assert_eq!(held.len(), 1);
            assert_eq!((held[0].fence, held[0].changes), (1, 1));
        }
        assert!(case.take("b", "two").await.is_none());

        // not renewed: another instance takes it, and the first one can no longer write
        case.pass(30);
        assert_eq!(case.due().await, ["b"]);
        let second = case.take("b", "two").await.unwrap();
        assert_eq!(second.fence, 2);
        let mut transaction = case.write().await;
        assert!(transaction.renew_leases("one").await.unwrap().is_empty());
        assert!(!transaction.has_lease(&first).await.unwrap());
        assert!(transaction.has_lease(&second).await.unwrap());
        transaction.release_lease(&first).await.unwrap();
        assert!(
            !transaction
                .end_with_failure(&first, true, Duration::ZERO)
                .await
                .unwrap()
        );
        assert!(transaction.has_lease(&second).await.unwrap());
        transaction.commit().await.unwrap();
        assert!(!case.succeed(&first, 30).await);

        // an instance of the same name that takes an ended lease has a new token
        case.pass(30);
        let third = case.take("b", "two").await.unwrap();
        assert!(!case.succeed(&second, 30).await);
        assert!(case.succeed(&third, 30).await);
        assert!(case.due().await.is_empty());
        case.pass(30);
        assert_eq!(case.due().await, ["b"]);
        let next = case.take("b", "one").await.unwrap();
        assert_eq!(next.fence, 4);
        assert_eq!(next.published, Some(published()));

        // a bundle that is deleted meanwhile
        case.plane.done("admin", "DELETE /v1/bundles/b", "").await;
        assert!(!case.succeed(&next, 30).await);
        assert!(case.take("b", "one").await.is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_back_stops_nothing() {
    for on in On::ALL {
        let Some(case) = Case::new(on).await else {
            continue;
        };
        case.plane.done("admin", "PUT /v1/bundles/b", "{}").await;
        let lease = case.take("b", "one").await.unwrap();
        case.pass(-3600);
        let other = case.take("b", "two").await.unwrap();
        assert!(!case.succeed(&lease, 30).await);
        assert!(case.succeed(&other, 30).await);
        assert!(case.due().await.is_empty());
        case.pass(-3600);
        assert_eq!(case.due().await, ["b"], "{on:?}");
        case.pass(7200);
        assert_eq!(case.due().await, ["b"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_make_dependent_bundles_due() {
    let steps: &[(&str, &str, &[&str])] = &[
        ("PUT /v1/bundles/a", "{}", &["a"]),
        ("PUT /v1/sources/leaf", "{}", &[]),
        (
            "PUT /v1/secrets/k",
            r#"{"value": {"type": "token_auth", "token": "1"}}"#,
            &[],
        ),
        (
            "PUT /v1/sources/git",
            r#"{"git": {"repo": "https://h/r", "credentials": "k"}, "requirements": [{"source": "leaf"}]}"#,
            &[],
        ),
        (
            "PUT /v1/bundles/b",
            r#"{"requirements": [{"source": "git"}]}"#,
            &["b"],
        ),
        (
            "PUT /v1/bundles/c",
            r#"{"requirements": [{"source": "leaf"}]}"#,
            &["c"],
        ),
        // a new value of a secret
        (
            "PUT /v1/secrets/k",
            r#"{"value": {"type": "token_auth", "token": "2"}}"#,
            &["b"],
        ),
        // another repository
        (
            "PUT /v1/sources/git",
            r#"{"git": {"repo": "https://h/other", "credentials": "k"}, "requirements": [{"source": "leaf"}]}"#,
            &["b"],
        ),
        // pushed data
        ("PUT /v1/sources/leaf/data/x", "1", &["b", "c"]),
        ("DELETE /v1/sources/leaf/data/x", "", &["b", "c"]),
        (
            "PUT /v1/sources/leaf",
            r#"{"files": {"a.rego": ""}}"#,
            &["b", "c"],
        ),
        // options of a bundle
        (
            "PUT /v1/bundles/a",
            r#"{"options": {"optimization": {"level": 1}}}"#,
            &["a"],
        ),
        ("PUT /v1/sources/unused", "{}", &[]),
        // a stack may select every bundle
        (
            "PUT /v1/stacks/s",
            r#"{"selector": {"x": []}, "requirements": [{"source": "unused"}]}"#,
            &["a", "b", "c"],
        ),
        (
            "PUT /v1/sources/unused",
            r#"{"files": {"b.rego": ""}}"#,
            &["a", "b", "c"],
        ),
        ("DELETE /v1/stacks/s", "", &["a", "b", "c"]),
        ("DELETE /v1/sources/unused", "", &[]),
        ("DELETE /v1/bundles/c", "", &[]),
    ];
    for on in On::ALL {
        let Some(case) = Case::new(on).await else {
            continue;
        };
        for (request, body, due) in steps {
            case.plane.done("admin", request, body).await;
            assert_eq!(case.due().await, *due, "{on:?}: {request}");
            case.build_all().await;
        }
        // a request
        let mut transaction = case.write().await;
        let head = transaction.head(Kind::Bundle, "a").await.unwrap().unwrap();
        transaction.request_build(head.id).await.unwrap();
        transaction.request_build(head.id).await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(case.due().await, ["a"]);
        let lease = case.take("a", "x").await.unwrap();
        assert!(lease.is_requested);
        // a change during the build is not lost
        case.plane.done("admin", "PUT /v1/bundles/a", "{}").await;
        assert!(case.succeed(&lease, 3600).await);
        assert_eq!(case.due().await, ["a"], "{on:?}");
        case.build_all().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_are_recorded() {
    for on in On::ALL {
        let Some(case) = Case::new(on).await else {
            continue;
        };
        case.plane.done("admin", "PUT /v1/bundles/b", "{}").await;
        let mut head = 0;
        for number in 0..103_i64 {
            let lease = case.take("b", "one").await.unwrap();
            head = lease.bundle;
            assert_eq!(lease.failures, number);
            let record = StatusRecord {
                revision: String::new(),
                phase: Phase::Sync,
                status: Status::SyncFailed,
                error_message: format!("failure {number}"),
            };
            let durations = [Some(Duration::from_micros(7)), None, None];
            let mut transaction = case.write().await;
            let ended = transaction
                .end_with_failure(&lease, true, Duration::ZERO)
                .await;
            assert!(ended.unwrap());
            let recorded = transaction.record_attempt(&lease, &record, durations).await;
            recorded.unwrap();
            transaction.commit().await.unwrap();
        }
        let mut transaction = case.database.begin(Mode::Read).await.unwrap();
        let attempts = transaction
            .build_attempts(head, i64::MAX, 1000)
            .await
            .unwrap();
        assert_eq!(attempts.len(), 100, "{on:?}");
        assert_eq!(attempts[0].error_message, "failure 102");
        assert_eq!(attempts[0].fence, 103);
        assert_eq!(
            attempts[0].durations,
            [Some(Duration::from_micros(7)), None, None]
        );
        let states = transaction.build_states().await.unwrap();
        assert_eq!((states[0].failures, states[0].succeeded_at), (103, None));
        assert_eq!(
            transaction
                .latest_status(head)
                .await
                .unwrap()
                .unwrap()
                .error_message,
            "failure 102"
        );
        transaction.roll_back().await;
    }
}

/// Differences between two clocks that are read one after another on the same machine.
const NEAR: i64 = 120_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn times_are_those_of_the_database() {
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        plane.done("admin", "PUT /v1/bundles/b", "{}").await;
        let database = plane.plane.database();
        let mut transaction = database.begin(Mode::Write).await.unwrap();
        let head = transaction.head(Kind::Bundle, "b").await.unwrap().unwrap();
        let lease = transaction
            .take_lease(head.id, "one")
            .await
            .unwrap()
            .unwrap();
        let ended = transaction
            .end_with_success(&lease, &published(), Duration::from_secs(1))
            .await;
        assert!(ended.unwrap());
        let states = transaction.build_states().await.unwrap();
        transaction.commit().await.unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = i64::try_from(now.unwrap().as_micros()).unwrap();
        let at = states[0].succeeded_at.unwrap();
        assert!((now - at).abs() < NEAR, "{on:?}: {at} is not near {now}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_lease_is_taken_by_its_instance_alone() {
    for on in On::ALL {
        let Some(case) = Case::new(on).await else {
            continue;
        };
        case.plane.done("admin", "PUT /v1/bundles/b", "{}").await;
        let first = case.take("b", "one").await.unwrap();
        assert!(!first.is_kept);
        let kept = Lease {
            is_kept: true,
            ..first
        };
        assert!(case.succeed(&kept, 0).await);
        assert_eq!(case.due_for("one").await, ["b"], "{on:?}");
        assert!(case.due_for("two").await.is_empty(), "{on:?}");
        assert!(case.take("b", "two").await.is_none());

        // renewed between builds, it stays; its attempts are not running ones
        for _ in 0..3 {
            case.pass(25);
            let mut transaction = case.write().await;
            let running = transaction.renew_leases("one").await.unwrap();
            let states = transaction.build_states().await.unwrap();
            transaction.commit().await.unwrap();
            assert!(running.is_empty());
            assert_eq!(states[0].builder, None);
            assert_eq!(states[0].publisher.as_deref(), Some("one"));
            assert!(case.take("b", "two").await.is_none());
        }

        // its instance knows what is published
        let second = case.take("b", "one").await.unwrap();
        assert_eq!(second.fence, 2);
        assert!(second.is_kept && !second.is_takeover);
        assert_eq!(second.published, Some(published()));
        assert!(case.take("b", "one").await.is_none(), "not even its holder");

        // a failure and a cancelled attempt keep it
        let mut transaction = case.write().await;
        let ended = transaction.end_with_failure(&second, true, Duration::ZERO);
        assert!(ended.await.unwrap());
        transaction.commit().await.unwrap();
        assert!(case.take("b", "two").await.is_none());
        let third = case.take("b", "one").await.unwrap();
        assert!(third.is_kept);
        let mut transaction = case.write().await;
        transaction.release_lease(&third).await.unwrap();
        transaction.commit().await.unwrap();
        assert!(case.take("b", "two").await.is_none());

        // an instance that lives no longer: another one takes it over, and does not know what is published where it runs
        case.pass(30);
        assert_eq!(case.due_for("two").await, ["b"]);
        let taken = case.take("b", "two").await.unwrap();
        assert!(taken.is_takeover && !taken.is_kept);
        assert_eq!(taken.published, None);
        assert!(case.take("b", "one").await.is_none());
        assert!(
            case.succeed(
                &Lease {
                    is_kept: true,
                    ..taken
                },
                3600
            )
            .await
        );
        assert!(case.due_for("one").await.is_empty());

        // an instance that stops: another one builds at once, again without knowing what is published
        let mut transaction = case.write().await;
        transaction.release_idle("one").await.unwrap();
        assert_eq!(
            transaction.build_states().await.unwrap()[0]
                .publisher
                .as_deref(),
            Some("two")
        );
        transaction.release_idle("two").await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(case.due_for("one").await, ["b"]);
        let last = case.take("b", "one").await.unwrap();
        assert!(!last.is_takeover && !last.is_kept);
        assert_eq!(last.published, None);

        // a storage that any instance may write ends it
        assert!(case.succeed(&last, 0).await);
        assert_eq!(case.due_for("two").await, ["b"]);
    }
}
