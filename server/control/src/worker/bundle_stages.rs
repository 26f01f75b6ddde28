//! The stages of the service: `sync` fetches, `builder` builds, `storage` publishes.

use std::collections::BTreeMap;
use std::time::Instant;

use zeroize::Zeroizing;

use super::{Desired, FetchJob, GitMetrics, Needed, Publishers, Stages, Work};
use crate::builder::{self, Built, Input, Plan, Signing};
use crate::model::{BundleSigning, Compat, Failure, Source};
use crate::storage::{Artefact, StorageOptions, StorageTarget};
use crate::sync::{Fetcher, Job};
use crate::tree::Fetched;

/// The stages of the service: fetching, the builder and the storages.
pub struct BundleStages {
    /// Fetches sources into folders of this process.
    pub fetcher: Fetcher,
    /// The storages of archives.
    pub storage: StorageOptions,
    /// Decides about the version of Rego of sources that do not have one.
    pub compat: Compat,
    /// The environment variables that revision expressions can read.
    pub environment: BTreeMap<String, String>,
    /// Counts and durations of fetching repositories.
    pub metrics: GitMetrics,
}

impl BundleStages {
    fn with_input<T>(
        &self,
        work: &Work<Self>,
        run: impl FnOnce(&Input<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let bundle = &work.desired.bundle;
        let signing = bundle
            .signing
            .as_ref()
            .map(|signing| signing_key(signing, &work.desired));
        run(&Input {
            bundle,
            plan: &work.plan,
            sources: &work.fetched,
            compat: self.compat,
            environment: self.environment.clone(),
            signing: signing.transpose()?,
        })
    }
}

impl Stages for BundleStages {
    type Plan = Plan;
    type Fetched = Fetched;
    type Archive = Built;

    fn plan(&self, desired: &Desired) -> Result<Plan, Failure> {
        let sources: BTreeMap<String, &Source> = desired
            .sources
            .iter()
            .map(|(name, source)| (name.clone(), source.source.as_ref()))
            .collect();
        Plan::new(&desired.bundle, &sources, &desired.stacks)
    }

    fn needed(&self, plan: &Plan) -> Vec<Needed> {
        let sources = plan.sources();
        sources
            .map(|(source, commit)| Needed {
                source: source.to_owned(),
                commit: commit.map(str::to_owned),
            })
            .collect()
    }

    async fn fetch(&self, job: FetchJob) -> Result<Fetched, Failure> {
        let source = &job.source;
        let job = Job {
            source: &source.source,
            commit: job.commit.as_deref(),
            secrets: &source.secrets,
            pushed: source.pushed.clone(),
        };
        let begun = Instant::now();
        let result = self.fetcher.fetch(job).await;
        self.metrics.count(&source.source, &result, begun.elapsed());
        result
    }

    fn input_digest(&self, work: &Work<Self>) -> Result<String, Failure> {
        self.with_input(work, |input| Ok(builder::input_digest(input)))
    }

    fn build(&self, work: &Work<Self>) -> Result<(String, Built), Failure> {
        let built = self.with_input(work, builder::build)?;
        for note in &built.notes {
            tracing::info!(bundle = work.desired.bundle.name, note, "Bundle built.");
        }
        Ok((built.revision.clone(), built))
    }

    async fn publish(
        &self,
        desired: &Desired,
        built: &Built,
        fence: u64,
    ) -> Result<Publishers, Failure> {
        let target = StorageTarget::open(&desired.bundle, &desired.secrets, &self.storage)?;
        let artefact = Artefact {
            archive: &built.archive,
            revision: &built.revision,
            digest: &built.digest,
        };
        target.publish(&artefact, fence).await?;
        Ok(if target.has_one_publisher() {
            Publishers::One
        } else {
            Publishers::Any
        })
    }
}

fn signing_key(signing: &BundleSigning, desired: &Desired) -> Result<Signing, Failure> {
    let key = signing.key(desired.secrets.get(&signing.key))?;
    Ok(Signing {
        key: Zeroizing::new(key.as_bytes().to_vec()),
        algorithm: signing.algorithm.clone(),
        keyid: signing.keyid.clone(),
        scope: signing.scope.clone(),
    })
}
