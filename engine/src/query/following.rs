//! What is prepared for a policy, and anew when the policy has changed.

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::{Request, Shared};
use crate::error::Error;
use crate::snapshot::{Policy, Snapshot};

type Prepare<P> = dyn Fn(&Policy) -> Result<P, Error> + Send + Sync;

/// Something that follows the policy of an engine. It holds nothing of the policy itself, so idle ones keep no earlier
/// policy alive.
pub(crate) struct Recompiling<P> {
    pub shared: Arc<Shared>,
    prepare: Box<Prepare<P>>,
    latest: ArcSwap<Outcome<P>>,
    /// Held while it is prepared anew, so that threads do not do so at once.
    preparing: Mutex<()>,
}

/// Something prepared, and the moment that it asks.
pub(crate) struct Pinned<P> {
    pub shared: Arc<Shared>,
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
struct Outcome<P> {
    policy: u64,
    result: Result<Arc<P>, Error>,
}

impl<P> Recompiling<P> {
    /// Prepares something for a policy; `prepare` is called again when the policy has changed.
    pub fn new(
        shared: Arc<Shared>,
        policy: &Policy,
        first: P,
        prepare: impl Fn(&Policy) -> Result<P, Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            shared,
            prepare: Box::new(prepare),
            latest: ArcSwap::from_pointee(Outcome {
                policy: policy.version_id,
                result: Ok(Arc::new(first)),
            }),
            preparing: Mutex::new(()),
        }
    }

    /// What is prepared for a moment's policy, with that moment.
    pub fn bind_to(&self, snapshot: &Snapshot) -> Result<Pinned<P>, Error> {
        let prepared = self.within(&snapshot.state().policy, |prepared| Ok(prepared.clone()))?;
        Ok(Pinned {
            shared: self.shared.clone(),
            snapshot: snapshot.clone(),
            prepared,
        })
    }

    /// The same for the current moment.
    pub fn bind(&self) -> Result<Pinned<P>, Error> {
        self.bind_to(&Snapshot::new(self.shared.now.pin()))
    }

    /// The same for the moment that a request asks about.
    pub fn bind_for(&self, request: &Request<'_>) -> Result<Pinned<P>, Error> {
        match request.snapshot {
            Some(snapshot) => self.bind_to(snapshot),
            None => self.bind(),
        }
    }

    /// Runs something with what is prepared for a policy.
    pub fn within<R>(
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
        run(&self.anew(policy)?)
    }

    /// Prepares for another policy than the last time. What is prepared for an earlier one, which somebody still holds,
    /// does not replace what is prepared for a later one.
    #[cold]
    fn anew(&self, policy: &Policy) -> Result<Arc<P>, Error> {
        let _preparing = self.preparing.lock();
        let latest = self.latest.load();
        if latest.policy == policy.version_id {
            return latest.result.clone();
        }
        let result = (self.prepare)(policy).map(Arc::new);
        if latest.policy < policy.version_id {
            self.latest.store(Arc::new(Outcome {
                policy: policy.version_id,
                result: result.clone(),
            }));
        }
        result
    }
}
