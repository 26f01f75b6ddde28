//! Instances of the worker that share one database, on each database.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use solon_control::db::{Database, Mode};
use solon_control::model::{Failure, Kind, Phase, Status};
use solon_control::worker::{Desired, FetchJob, Needed, Publishers, Stages, Work, WorkerOptions};

use crate::databases::On;
use crate::plane::{Plane, pause};
use crate::waiting::Waiting;

/// Stages whose archive is the pushed data of the sources. Publishing checks that no older archive follows a newer one.
#[derive(Default)]
struct Copying {
    published: Mutex<BTreeMap<String, (u64, Vec<i64>)>>,
    failing: Mutex<Option<Failure>>,
    stalled: Mutex<bool>,
    has_one_publisher: bool,
}

impl Stages for Copying {
    type Plan = Vec<Needed>;
    type Fetched = i64;
    type Archive = i64;

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

    async fn fetch(&self, job: FetchJob) -> Result<i64, Failure> {
        if *self.stalled.lock().unwrap() {
            std::future::pending::<()>().await;
        }
        if let Some(failure) = self.failing.lock().unwrap().clone() {
            return Err(failure);
        }
        let Some((_, content)) = job.source.pushed.files().next() else {
            return Ok(0);
        };
        let text = String::from_utf8(content.read().unwrap().to_vec()).unwrap();
        Ok(text.parse().unwrap())
    }

    fn input_digest(&self, work: &Work<Self>) -> Result<String, Failure> {
        Ok(format!("{:?}", work.fetched))
    }

    fn build(&self, work: &Work<Self>) -> Result<(String, i64), Failure> {
        let value = work
            .fetched
            .values()
            .map(|value| **value)
            .max()
            .unwrap_or(0);
        Ok((format!("r{value}"), value))
    }

    async fn publish(
        &self,
        desired: &Desired,
        archive: &i64,
        fence: u64,
    ) -> Result<Publishers, Failure> {
        let mut published = self.published.lock().unwrap();
        let (latest, values) = published.entry(desired.bundle.name.clone()).or_default();
        assert!(fence > *latest, "two attempts have one token");
        *latest = fence;
        values.push(*archive);
        Ok(if self.has_one_publisher {
            Publishers::One
        } else {
            Publishers::Any
        })
    }
}

impl Copying {
    fn newest(&self, bundle: &str) -> Option<i64> {
        let published = self.published.lock().unwrap();
        published.get(bundle)?.1.last().copied()
    }

    async fn wait_for(&self, bundle: &str, value: i64) {
        let waiting = Waiting::until("a bundle is built");
        while self.newest(bundle) != Some(value) {
            pause(&waiting).await;
        }
    }
}

async fn latest(database: &Database, bundle: &str) -> Option<(String, String, String)> {
    let mut transaction = database.begin(Mode::Read).await.unwrap();
    let head = transaction.head(Kind::Bundle, bundle).await.unwrap();
    let latest = transaction.latest_status(head.unwrap().id).await.unwrap();
    transaction.roll_back().await;
    latest.map(|latest| (latest.status, latest.revision, latest.error_message))
}

#[tokio::test(flavor = "multi_thread")]
async fn two_instances_build_each_change_once() {
    const BUNDLES: i64 = 12;
    const CHANGES: i64 = 5;
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        let stages = Arc::new(Copying::default());
        let mut stops = Vec::new();
        let mut workers = Vec::new();
        for instance in ["one", "two"] {
            let worker = plane
                .plane
                .worker(stages.clone(), WorkerOptions::new(instance));
            let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
            stops.push(stop);
            workers.push(tokio::spawn(async move {
                worker.run(async move { drop(stopped.await) }).await;
            }));
        }
        for number in 0..BUNDLES {
            let source = format!("PUT /v1/sources/s{number}");
            plane.done("admin", &source, "{}").await;
            let bundle = format!("PUT /v1/bundles/b{number}");
            let body = format!(r#"{{"requirements": [{{"source": "s{number}"}}]}}"#);
            plane.done("admin", &bundle, &body).await;
        }
        for change in 1..=CHANGES {
            for number in 0..BUNDLES {
                let push = format!("PUT /v1/sources/s{number}/data/x");
                plane.done("admin", &push, &change.to_string()).await;
            }
            for number in 0..BUNDLES {
                stages.wait_for(&format!("b{number}"), change).await;
            }
        }
        for stop in stops {
            let _ = stop.send(());
        }
        for worker in workers {
            worker.await.unwrap();
        }
        let published = stages.published.lock().unwrap().clone();
        for (bundle, (_, values)) in &published {
            assert!(values.is_sorted(), "{on:?}: {bundle} went back: {values:?}");
            let mut once = values.clone();
            once.dedup();
            // a build that began before a change and ended after it is repeated at most once
            assert!(values.len() <= once.len() + 1, "{on:?}: {values:?}");
        }
        let database = plane.plane.database();
        let record = latest(database, "b0").await.unwrap();
        assert_eq!((record.0.as_str(), record.1.as_str()), ("SUCCESS", "r5"));
        let metrics = plane.send("admin", "GET /metrics", "").await;
        let metrics = String::from_utf8_lossy(metrics.body()).into_owned();
        let name = "ocp_bundle_build_count_total{bundle=\"b0\",state=\"SUCCESS\"}";
        assert!(metrics.contains(name), "{metrics}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_recorded_and_repaired() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let stages = Arc::new(Copying::default());
    *stages.failing.lock().unwrap() = Some(Failure {
        phase: Phase::Sync,
        status: Status::SyncFailed,
        message: "no such host".to_owned(),
    });
    plane.done("admin", "PUT /v1/sources/s", "{}").await;
    let body = r#"{"requirements": [{"source": "s"}], "rebuild_interval": "1s"}"#;
    plane.done("admin", "PUT /v1/bundles/b", body).await;
    let worker = plane
        .plane
        .worker(stages.clone(), WorkerOptions::new("one"));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move { worker.run(async move { drop(stopped.await) }).await });
    let database = plane.plane.database();
    let waiting = Waiting::until("the failure is recorded");
    while latest(database, "b").await.is_none() {
        pause(&waiting).await;
    }
    let record = latest(database, "b").await.unwrap();
    assert_eq!(record.0, "SYNC_FAILED");
    assert_eq!(record.2, "no such host");
    *stages.failing.lock().unwrap() = None;
    stages.wait_for("b", 0).await;
    let waiting = Waiting::until("the success is recorded");
    while latest(database, "b").await.unwrap().0 != "SUCCESS" {
        pause(&waiting).await;
    }
    // unchanged inputs are not built again
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(stages.published.lock().unwrap()["b"].1.len(), 1);
    let _ = stop.send(());
    running.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_worker_records_a_cancelled_first_build() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let stages = Arc::new(Copying::default());
    *stages.stalled.lock().unwrap() = true;
    plane.done("admin", "PUT /v1/sources/s", "{}").await;
    let body = r#"{"requirements": [{"source": "s"}]}"#;
    plane.done("admin", "PUT /v1/bundles/b", body).await;
    let options = WorkerOptions {
        grace: Duration::from_millis(200),
        ..WorkerOptions::new("one")
    };
    let worker = plane.plane.worker(stages.clone(), options);
    worker.run(tokio::time::sleep(Duration::from_secs(1))).await;
    let record = latest(plane.plane.database(), "b").await.unwrap();
    assert_eq!(record.0, "CANCELLED");
    assert_eq!(
        record.2,
        "worker stopped due to a configuration change or shutdown before completing a build iteration"
    );
    // the lease is released: another instance builds at once
    *stages.stalled.lock().unwrap() = false;
    let worker = plane
        .plane
        .worker(stages.clone(), WorkerOptions::new("two"));
    worker.run(tokio::time::sleep(Duration::from_secs(2))).await;
    assert_eq!(stages.newest("b"), Some(0));
}

/// A running worker with stages of its own, as an instance on a machine of its own has them.
struct Instance {
    stages: Arc<Copying>,
    stop: tokio::sync::oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
}

impl Instance {
    fn start(plane: &Plane, name: &str) -> Self {
        let stages = Arc::new(Copying {
            has_one_publisher: true,
            ..Copying::default()
        });
        let worker = plane.plane.worker(stages.clone(), WorkerOptions::new(name));
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let task =
            tokio::spawn(async move { worker.run(async move { drop(stopped.await) }).await });
        Self { stages, stop, task }
    }

    async fn stop(self) -> Arc<Copying> {
        let _ = self.stop.send(());
        self.task.await.unwrap();
        self.stages
    }

    fn published(&self, bundle: &str) -> Vec<i64> {
        let published = self.stages.published.lock().unwrap();
        published
            .get(bundle)
            .map(|of| of.1.clone())
            .unwrap_or_default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_instance_publishes_a_bundle_for_as_long_as_it_lives() {
    const CHANGES: i64 = 6;
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        let names: Vec<String> = (0..4).map(|number| format!("b{number}")).collect();
        plane.done("admin", "PUT /v1/sources/s", "{}").await;
        for name in &names {
            let body = r#"{"requirements": [{"source": "s"}]}"#;
            plane
                .done("admin", &format!("PUT /v1/bundles/{name}"), body)
                .await;
        }
        let instances = ["one", "two"].map(|name| Instance::start(&plane, name));
        for change in 1..=CHANGES {
            plane
                .done("admin", "PUT /v1/sources/s/data/x", &change.to_string())
                .await;
            for name in &names {
                let waiting = Waiting::until("a bundle is published");
                let newest = |instance: &Instance| instance.published(name).last().copied();
                while !instances
                    .iter()
                    .any(|instance| newest(instance) == Some(change))
                {
                    pause(&waiting).await;
                }
            }
        }
        for name in &names {
            let published = instances
                .each_ref()
                .map(|instance| instance.published(name));
            let publishers = published.iter().filter(|values| !values.is_empty()).count();
            assert_eq!(publishers, 1, "{on:?}: {name}: {published:?}");
        }
        // the other one publishes at once where the first one stops, though nothing has changed
        let [one, two] = instances;
        let of_one: Vec<&String> = names
            .iter()
            .filter(|name| !one.published(name).is_empty())
            .collect();
        one.stop().await;
        for name in of_one {
            two.stages.wait_for(name, CHANGES).await;
        }
        for name in &names {
            assert_eq!(two.published(name).last(), Some(&CHANGES));
        }
        two.stop().await;
        let mut transaction = plane.plane.database().begin(Mode::Read).await.unwrap();
        let states = transaction.build_states().await.unwrap();
        transaction.roll_back().await;
        assert!(
            states.iter().all(|state| state.publisher.is_none()),
            "{states:?}"
        );
    }
}
