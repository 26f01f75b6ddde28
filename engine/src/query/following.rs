//! What is prepared for a policy, and anew when the policy has changed.

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::{Request, Shared};
use crate::error::Error;
use crate::moment::{Moment, Policy};

type Prepare<P> = dyn Fn(&Policy) -> Result<P, Error> + Send + Sync;

/// Something that follows the policy of an engine. It holds nothing of the policy itself, so idle ones keep no earlier
/// policy alive.
pub(crate) struct Following<P> {
    pub shared: Arc<Shared>,
    prepare: Box<Prepare<P>>,
    latest: ArcSwap<Outcome<P>>,
    /// Held while it is prepared anew, so that threads do not do so at once.
    preparing: Mutex<()>,
}

/// Something prepared, and the moment that it asks.
pub(crate) struct Bound<P> {
    pub shared: Arc<Shared>,
    pub moment: Moment,
    pub prepared: Arc<P>,
}

impl<P> Clone for Bound<P> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            moment: self.moment.clone(),
            prepared: self.prepared.clone(),
        }
    }
}

/// What came of preparing for a policy: an error is kept as well.
struct Outcome<P> {
    policy: u64,
    result: Result<Arc<P>, Error>,
}

impl<P> Following<P> {
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
                policy: policy.stamp,
                result: Ok(Arc::new(first)),
            }),
            preparing: Mutex::new(()),
        }
    }

    /// What is prepared for a moment's policy, with that moment.
    pub fn bind_to(&self, moment: &Moment) -> Result<Bound<P>, Error> {
        let prepared = self.within(&moment.state().policy, |prepared| Ok(prepared.clone()))?;
        Ok(Bound {
            shared: self.shared.clone(),
            moment: moment.clone(),
            prepared,
        })
    }

    /// The same for the current moment.
    pub fn bind(&self) -> Result<Bound<P>, Error> {
        self.bind_to(&Moment::new(self.shared.now.pin()))
    }

    /// The same for the moment that a request asks about.
    pub fn bind_for(&self, request: &Request<'_>) -> Result<Bound<P>, Error> {
        match request.moment {
            Some(moment) => self.bind_to(moment),
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
        if latest.policy == policy.stamp {
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
        if latest.policy == policy.stamp {
            return latest.result.clone();
        }
        let result = (self.prepare)(policy).map(Arc::new);
        if latest.policy < policy.stamp {
            self.latest.store(Arc::new(Outcome {
                policy: policy.stamp,
                result: result.clone(),
            }));
        }
        result
    }
}
