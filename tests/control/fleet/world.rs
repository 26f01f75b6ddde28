//! The model of the world around the workers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use solon_control::model::{Failure, Phase, Status};
use solon_control::worker::{Desired, FetchJob, Needed, Publishers, Stages, Work};
use tokio::time::sleep;

/// Versions of the sources of a bundle. The number of a version grows with each push, also with one that restores earlier
/// contents.
type Contents = BTreeMap<String, u64>;

pub struct World {
    requirements: Vec<Vec<usize>>,
    state: Arc<Mutex<State>>,
    is_calm: AtomicBool,
}

struct State {
    random: u64,
    versions: Contents,
    /// The object of each bundle: the fencing token of its writer, and its contents.
    storage: BTreeMap<String, (u64, Contents)>,
    servers: Vec<(String, Contents)>,
    pushes: usize,
    published: usize,
    rejected: usize,
    observed: usize,
}

impl State {
    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn less_than(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn millis(&mut self, most: u64) -> Duration {
        Duration::from_millis(self.less_than(most))
    }

    /// Stores an object as a storage with conditional writes does.
    fn store(&mut self, bundle: &str, fence: u64, contents: &Contents) -> bool {
        let (latest, _) = self.storage.entry(bundle.to_owned()).or_default();
        if fence < *latest {
            self.rejected += 1;
            return false;
        }
        self.storage
            .insert(bundle.to_owned(), (fence, contents.clone()));
        self.published += 1;
        true
    }
}

fn failure(phase: Phase, status: Status) -> Failure {
    Failure {
        phase,
        status,
        message: "by chance".to_owned(),
    }
}

impl World {
    pub fn new(seed: u64, bundles: usize, sources: usize, servers: usize) -> Self {
        let versions = (0..sources).map(|source| (format!("s{source}"), 1));
        let servers =
            (0..servers).map(|server| (format!("b{}", server % bundles), Contents::new()));
        let mut state = State {
            random: seed,
            versions: versions.collect(),
            storage: BTreeMap::new(),
            servers: servers.collect(),
            pushes: 0,
            published: 0,
            rejected: 0,
            observed: 0,
        };
        let requirements = (0..bundles).map(|bundle| {
            let other = usize::try_from(state.less_than(sources as u64)).unwrap();
            let mut needed = vec![bundle % sources, other, 0];
            needed.sort_unstable();
            needed.dedup();
            needed
        });
        Self {
            requirements: requirements.collect(),
            state: Arc::new(Mutex::new(state)),
            is_calm: AtomicBool::new(false),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub fn requirements(&self) -> &[Vec<usize>] {
        &self.requirements
    }

    pub fn random(&self, end: u64) -> u64 {
        self.state().less_than(end)
    }

    pub fn lifetime(&self) -> Duration {
        Duration::from_secs(5 + self.random(120))
    }

    pub fn has_change_of_configuration(&self) -> bool {
        self.random(40) == 0
    }

    /// Ends all faults and pushes.
    pub fn calm(&self) {
        self.is_calm.store(true, Ordering::Relaxed);
    }

    pub fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::Relaxed)
    }

    /// Pushes to a source from time to time.
    pub fn disturb(&self) {
        let mut state = self.state();
        if state.less_than(4) == 0 {
            let count = state.versions.len() as u64;
            let source = format!("s{}", state.less_than(count));
            *state.versions.get_mut(&source).unwrap() += 1;
            state.pushes += 1;
        }
    }

    /// Lets each server read its bundle, and checks that it does not go back.
    pub fn poll_servers(&self) {
        let mut state = self.state();
        let mut servers = std::mem::take(&mut state.servers);
        for (bundle, current) in &mut servers {
            let Some((_, stored)) = state.storage.get(bundle) else {
                continue;
            };
            for (source, version) in &*current {
                let next = stored[source];
                assert!(
                    next >= *version,
                    "{bundle} goes back from {version} to {next} of {source}"
                );
            }
            if current != stored {
                *current = stored.clone();
                state.observed += 1;
            }
        }
        state.servers = servers;
    }

    pub fn check_convergence(&self) {
        let state = self.state();
        for (number, (bundle, current)) in state.servers.iter().enumerate() {
            for (source, version) in current {
                let newest = state.versions[source];
                assert_eq!(*version, newest, "server {number}: {source} of {bundle}");
            }
            assert!(!current.is_empty(), "server {number} has no {bundle}");
        }
        // the simulation exercised what it is for
        assert!(state.pushes > 10 && state.observed > 100 && state.published > 10);
    }

    pub fn report(&self) -> String {
        let state = self.state();
        format!(
            "{} pushes, {} published, {} rejected writes, {} activations",
            state.pushes, state.published, state.rejected, state.observed
        )
    }

    /// Returns `true` with a probability of one to `count` while there are faults.
    fn fails(&self, count: u64) -> bool {
        !self.is_calm() && self.random(count) == 0
    }
}

impl Stages for World {
    type Plan = Vec<Needed>;
    type Fetched = u64;
    type Archive = Contents;

    fn plan(&self, desired: &Desired) -> Result<Self::Plan, Failure> {
        let sources = desired.bundle.requirements.iter();
        let needed = sources.filter_map(|requirement| {
            Some(Needed {
                source: requirement.source.clone()?,
                commit: None,
            })
        });
        Ok(needed.collect())
    }

    fn needed(&self, plan: &Self::Plan) -> Vec<Needed> {
        plan.clone()
    }

    async fn fetch(&self, job: FetchJob) -> Result<u64, Failure> {
        let before = self.state().millis(1500);
        sleep(before).await;
        if self.fails(50) {
            // until it is cancelled by the time-out
            sleep(Duration::from_secs(1000)).await;
        }
        if self.fails(10) {
            return Err(failure(Phase::Sync, Status::SyncFailed));
        }
        let version = self.state().versions[&job.source.source.name];
        let after = self.state().millis(1500);
        sleep(after).await;
        Ok(version)
    }

    fn input_digest(&self, work: &Work<Self>) -> Result<String, Failure> {
        Ok(format!("{:?}", contents(work)))
    }

    fn build(&self, work: &Work<Self>) -> Result<(String, Contents), Failure> {
        if self.fails(20) {
            return Err(failure(Phase::Build, Status::BuildFailed));
        }
        Ok((String::new(), contents(work)))
    }

    async fn publish(
        &self,
        desired: &Desired,
        archive: &Contents,
        fence: u64,
    ) -> Result<Publishers, Failure> {
        let latency = if self.fails(10) { 90_000 } else { 2000 };
        let latency = self.state().millis(latency);
        // the write arrives even if the writer is killed meanwhile
        let (state, bundle, archive) = (
            self.state.clone(),
            desired.bundle.name.clone(),
            archive.clone(),
        );
        let write = tokio::spawn(async move {
            sleep(latency).await;
            state.lock().unwrap().store(&bundle, fence, &archive)
        });
        let is_stored = write.await.unwrap();
        // the response may be lost
        if !is_stored || self.fails(20) {
            return Err(failure(Phase::Push, Status::PushFailed));
        }
        // some bundles are pinned to their publisher
        Ok(if desired.bundle.name.ends_with('0') {
            Publishers::One
        } else {
            Publishers::Any
        })
    }
}

fn contents(work: &Work<World>) -> Contents {
    let fetched = work.fetched.iter();
    fetched
        .map(|(source, version)| (source.clone(), **version))
        .collect()
}
