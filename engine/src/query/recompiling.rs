//! What is prepared for a policy, and anew when the policy has changed.

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::{EngineShared, Request};
use crate::error::Error;
use crate::snapshot::{Policy, Snapshot};

type Prepare<P> = dyn Fn(&Policy) -> Result<P, Error> + Send + Sync;

/// Something that follows the policy of an engine. It holds nothing of the policy itself, so idle ones keep no earlier
/// policy alive.
pub(crate) struct Recompiling<P> {
    pub shared: Arc<EngineShared>,
    prepare: Box<Prepare<P>>,
    latest: ArcSwap<CompileOutcome<P>>,
    /// Held while it is prepared anew, so that threads do not do so at once.
    preparing: Mutex<()>,
}

/// Something prepared, and the moment that it asks.
pub(crate) struct Pinned<P> {
    pub shared: Arc<EngineShared>,
    pub snapshot: Snapshot,
    pub prepared: Arc<P>,
}

impl<P> Clone for Pinned<P> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            snapshot: self.snapshot.clone(),
            prepared: self.prepared.clone(),
        }
    }
}

/// What came of preparing for a policy: an error is kept as well.
struct CompileOutcome<P> {
    policy: u64,
    result: Result<Arc<P>, Error>,
}

impl<P> Recompiling<P> {
    /// Prepares something for a policy; `prepare` is called again when the policy has changed.
    pub fn new(
        shared: Arc<EngineShared>,
        policy: &Policy,
        first: P,
        prepare: impl Fn(&Policy) -> Result<P, Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            shared,
            prepare: Box::new(prepare),
            latest: ArcSwap::from_pointee(CompileOutcome {
                policy: policy.version_id,
                result: Ok(Arc::new(first)),
            }),
            preparing: Mutex::new(()),
        }
    }

    /// What is prepared for a moment's policy, with that moment.
    pub fn pin_to(&self, snapshot: &Snapshot) -> Result<Pinned<P>, Error> {
        let prepared =
            self.with_prepared(&snapshot.state().policy, |prepared| Ok(prepared.clone()))?;
        Ok(Pinned {
            shared: self.shared.clone(),
            snapshot: snapshot.clone(),
            prepared,
        })
    }

    /// The same for the current moment.
    pub fn pin(&self) -> Result<Pinned<P>, Error> {
        self.pin_to(&Snapshot::new(self.shared.now.pin()))
    }

    /// The same for the moment that a request asks about.
    pub fn pin_for(&self, request: &Request<'_>) -> Result<Pinned<P>, Error> {
        match request.snapshot {
            Some(snapshot) => self.pin_to(snapshot),
            None => self.pin(),
        }
    }

    /// Runs something with what is prepared for a policy.
    pub fn with_prepared<R>(
        &self,
        policy: &Policy,
        run: impl FnOnce(&Arc<P>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let latest = self.latest.load();
        if latest.policy == policy.version_id {
            return match &latest.result {
                Ok(prepared) => run(prepared),
                Err(error) => Err(error.clone()),
            };
        }
        drop(latest);
        run(&self.recompile(policy)?)
    }

    /// Prepares for another policy than the last time. What is prepared for an earlier one, which somebody still holds,
    /// does not replace what is prepared for a later one.
    #[cold]
    fn recompile(&self, policy: &Policy) -> Result<Arc<P>, Error> {
        let _preparing = self.preparing.lock();
        let latest = self.latest.load();
        if latest.policy == policy.version_id {
            return latest.result.clone();
        }
        let result = (self.prepare)(policy).map(Arc::new);
        if latest.policy < policy.version_id {
            self.latest.store(Arc::new(CompileOutcome {
                policy: policy.version_id,
                result: result.clone(),
            }));
        }
        result
    }
}
