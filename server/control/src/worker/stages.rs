//! The interface of the stages of a build: plan, fetch, build, publish.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use super::{Desired, DesiredSource};
use crate::model::Failure;

/// A source that a bundle needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// The name of the source. It appears once in a plan.
    pub source: String,
    /// The commit that a requirement pins. `None` uses the reference of the source.
    pub commit: Option<String>,
}

/// A source to fetch, at one commit.
#[derive(Clone)]
pub struct FetchJob {
    /// The source with its secrets and pushed data.
    pub source: Arc<DesiredSource>,
    /// The commit that a requirement pins. `None` uses the reference of the source.
    pub commit: Option<String>,
}

/// Inputs of a build: the plan and every source of it.
pub struct Work<S: Stages + ?Sized> {
    /// The bundle and what it depends on.
    pub desired: Arc<Desired>,
    /// The plan, made from `desired`.
    pub plan: S::Plan,
    /// The fetched sources of the plan, by name.
    pub fetched: BTreeMap<String, Arc<S::Fetched>>,
}

/// The instances that may publish a bundle after an archive was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publishers {
    /// The storage rejects late writes of other instances.
    Any,
    /// Only the instance that has published, for as long as it lives.
    One,
}

/// The stages of a build. Each may be called for several bundles in parallel.
pub trait Stages: Send + Sync + 'static {
    /// A plan of a bundle: which sources are needed, and where they are mounted.
    type Plan: Send + Sync + 'static;
    /// A fetched source. It must stay readable while it is referenced, even if the source is fetched again.
    type Fetched: Send + Sync + 'static;
    /// A built archive, ready to be published.
    type Archive: Send + Sync + 'static;

    /// Plans a bundle.
    ///
    /// # Errors
    /// The bundle cannot be built as it is described.
    fn plan(&self, desired: &Desired) -> Result<Self::Plan, Failure>;

    /// Returns the sources of a plan, each once, in the order in which they are reported.
    fn needed(&self, plan: &Self::Plan) -> Vec<Needed>;

    /// Fetches a source. Two calls for the same source never overlap within a process. Dropping the future cancels it.
    fn fetch(&self, job: FetchJob) -> impl Future<Output = Result<Self::Fetched, Failure>> + Send;

    /// Returns the digest of everything that the archive depends on. Does not block: it is compared at each check of a bundle.
    ///
    /// # Errors
    /// The bundle cannot be built as it is described.
    fn input_digest(&self, work: &Work<Self>) -> Result<String, Failure>;

    /// Builds the archive, and returns it with its revision. Blocks.
    ///
    /// # Errors
    /// The bundle cannot be built.
    fn build(&self, work: &Work<Self>) -> Result<(String, Self::Archive), Failure>;

    /// Publishes an archive, and returns which instances may publish the bundle from now on. Must reject a `fence` that is smaller than that of an earlier call for the bundle.
    fn publish(
        &self,
        desired: &Desired,
        archive: &Self::Archive,
        fence: u64,
    ) -> impl Future<Output = Result<Publishers, Failure>> + Send;
}
