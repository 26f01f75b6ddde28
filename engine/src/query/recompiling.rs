//! Handles that compile again when the policy has changed.

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::{EngineShared, Request};
use crate::error::Error;
use crate::snapshot::{Policy, Snapshot};

type Prepare<P> = dyn Fn(&Policy) -> Result<P, Error> + Send + Sync;

/// A value that is compiled for the policy of an engine, and again after each change of it. It does not reference the
/// policy, so idle handles keep no earlier policy alive.
pub(crate) struct Recompiling<P> {
    pub shared: Arc<EngineShared>,
    prepare: Box<Prepare<P>>,
    latest: ArcSwap<CompileOutcome<P>>,
    /// Held during compilation, so that only one thread compiles.
    preparing: Mutex<()>,
}

/// A compiled value and the snapshot that it belongs to.
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

/// The result of a compilation. Errors are cached, too.
struct CompileOutcome<P> {
    policy: u64,
    result: Result<Arc<P>, Error>,
}

impl<P> Recompiling<P> {
    /// Wraps a value compiled for a policy. `prepare` is called again after the policy has changed.
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

    /// Returns the value compiled for a snapshot, with that snapshot.
    ///
    /// # Errors
    /// It does not compile with the policy of the snapshot.
    pub fn pin_to(&self, snapshot: &Snapshot) -> Result<Pinned<P>, Error> {
        let prepared =
            self.with_prepared(&snapshot.state().policy, |prepared| Ok(prepared.clone()))?;
        Ok(Pinned {
            shared: self.shared.clone(),
            snapshot: snapshot.clone(),
            prepared,
        })
    }

    /// Returns the value compiled for the current snapshot, or the error of the compilation.
    pub fn pin(&self) -> Result<Pinned<P>, Error> {
        self.pin_to(&Snapshot::new(self.shared.now.pin()))
    }

    /// Returns the value compiled for the snapshot of a request, or the error of the compilation.
    pub fn pin_for(&self, request: &Request<'_>) -> Result<Pinned<P>, Error> {
        match request.snapshot {
            Some(snapshot) => self.pin_to(snapshot),
            None => self.pin(),
        }
    }

    /// Calls `run` with the value compiled for a policy. If it does not compile, returns that error, which is cached.
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

    /// Compiles for a policy other than the latest. The result for an earlier policy, which a pinned snapshot may have,
    /// does not replace that for a later one.
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
