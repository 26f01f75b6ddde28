//! A fleet in virtual time: instances of the worker that share a database, a storage that checks fencing tokens, and policy
//! servers that poll it. Random pushes, rollbacks of repositories, failures, slow writes and killed instances. A checker
//! verifies that no server ever goes back, and that every server gets the newest contents in the end.
//!
//! `SOLON_FLEET_MINUTES` sets the simulated time (default 10), `SOLON_FLEET_SEED` the seed.

mod world;

use std::sync::Arc;
use std::time::Duration;

use solon_control::db::Clock;
use solon_control::secrets::Keyring;
use solon_control::worker::{BuildMetrics, Worker, WorkerOptions};
use tokio::time::{Instant, sleep};

use crate::databases::On;
use crate::plane::Plane;
use world::World;

/// Number of instances, bundles, sources and policy servers.
const INSTANCES: usize = 3;
const BUNDLES: usize = 12;
const SOURCES: usize = 8;
const SERVERS: usize = 100;

fn setting(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::test(start_paused = true)]
async fn every_server_converges_and_none_goes_back() {
    let seed = setting("SOLON_FLEET_SEED", 1);
    let minutes = setting("SOLON_FLEET_MINUTES", 10);
    let plane = Plane::new(On::Memory).await.unwrap();
    for source in 0..SOURCES {
        let request = format!("PUT /v1/sources/s{source}");
        plane.done("admin", &request, "{}").await;
    }
    let world = Arc::new(World::new(seed, BUNDLES, SOURCES, SERVERS));
    for (bundle, sources) in world.requirements().iter().enumerate() {
        let requirements: Vec<_> = sources
            .iter()
            .map(|source| serde_json::json!({ "source": format!("s{source}") }))
            .collect();
        let interval = if bundle % 2 == 0 { "5s" } else { "30s" };
        let body =
            serde_json::json!({ "requirements": requirements, "rebuild_interval": interval });
        let request = format!("PUT /v1/bundles/b{bundle}");
        plane.done("admin", &request, &body.to_string()).await;
    }
    let mut database = plane.plane.database().clone();
    let begun = Instant::now();
    database.set_clock(Clock::Function(Arc::new(move || {
        let elapsed = begun.elapsed().as_micros();
        1_000_000_000_000_000 + i64::try_from(elapsed).unwrap()
    })));
    let mut instances = Vec::new();
    for number in 0..INSTANCES {
        let (world, database) = (world.clone(), database.clone());
        instances.push(tokio::spawn(async move {
            // killed and started again, until the faults end
            for life in 0_u64.. {
                let options = WorkerOptions {
                    concurrency: 4,
                    fetch_timeout: Duration::from_secs(20),
                    publish_timeout: Duration::from_secs(20),
                    ..WorkerOptions::new(format!("instance {number}.{life}"))
                };
                let keys = Arc::new(Keyring::random().unwrap());
                let metrics = BuildMetrics::default();
                let worker = Worker::new(world.clone(), database.clone(), keys, options, metrics);
                let lifetime = world.lifetime();
                if world.is_calm() {
                    worker.run(std::future::pending()).await;
                } else if life % 3 == 2 {
                    worker.run(sleep(lifetime)).await;
                } else {
                    // as `kill -9` does, except for writes that are on their way
                    let _ =
                        tokio::time::timeout(lifetime, worker.run(std::future::pending())).await;
                }
            }
        }));
    }
    let end = begun + Duration::from_secs(60 * minutes);
    while Instant::now() < end {
        world.disturb();
        world.poll_servers();
        if world.has_change_of_configuration() {
            let request = format!("PUT /v1/sources/s0/data/x{}", world.random(3));
            let body = world.random(1_000_000).to_string();
            plane.done("admin", &request, &body).await;
        }
        sleep(Duration::from_millis(500)).await;
    }
    world.calm();
    // longer than a life, a lease, an interval and the longest back-off together
    let end = Instant::now() + Duration::from_secs(400);
    while Instant::now() < end {
        world.poll_servers();
        sleep(Duration::from_millis(500)).await;
    }
    for instance in instances {
        instance.abort();
    }
    world.check_convergence();
    eprintln!("fleet: {}", world.report());
}
