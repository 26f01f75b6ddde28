//! Decisions about requests by their heads: the body of a rejected request is neither read nor decompressed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::connection::{App, Longer, Refusal, Service};
use super::message::{Message, Place, Response};
use crate::config::Bounds;

/// Decision about a request by its head.
pub enum Admission {
    /// Its body is read within these limits, and the request is answered.
    Admitted(BodyLimits),
    /// The client gets this response, and its body is not read.
    Rejected(Response),
}

/// Limits of one body, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimits {
    /// As it is sent.
    pub sent: usize,
    /// After decompression.
    pub decompressed: usize,
    /// `true` if the body is read to decide about the request: the limits are those of a client without permissions.
    pub is_for_authorization: bool,
}

impl BodyLimits {
    /// The limits of a request that the client may send.
    pub fn new(sent: usize, decompressed: usize) -> Self {
        Self {
            sent,
            decompressed,
            is_for_authorization: false,
        }
    }

    /// The same, and both at most `limit`.
    #[must_use]
    pub fn at_most(self, limit: usize) -> Self {
        Self {
            sent: self.sent.min(limit),
            decompressed: self.decompressed.min(limit),
            ..self
        }
    }

    /// The limits of a request whose body the authorization policy needs.
    #[must_use]
    pub fn for_authorization(self, bounds: &Bounds) -> Self {
        Self {
            is_for_authorization: true,
            ..self.at_most(bounds.authorization_body)
        }
    }

    /// The rejection of a body that is larger as it is sent; `length` is the declared one.
    pub fn too_large(self, length: Option<u64>) -> Refusal {
        if self.is_for_authorization {
            return Refusal::TooLargeToAuthorize(self.sent);
        }
        Refusal::TooLarge(length)
    }

    /// The rejection of a body that decompresses to more.
    pub fn decompressed_too_large(self) -> Refusal {
        if self.is_for_authorization {
            return Refusal::TooLargeToAuthorize(self.decompressed);
        }
        Refusal::UnpackedTooLarge
    }
}

impl<A: App> Service<A> {
    /// Decides about a request whose body is yet to be read, in the pool if that takes long.
    ///
    /// # Errors
    /// The response to a request that is rejected. Its connection is closed: the body would have to be read to find the
    /// next request.
    pub(super) async fn admit(
        self: &Arc<Self>,
        plan: A::Plan,
        mut message: Message,
    ) -> Result<(Message, BodyLimits), Response> {
        let pace = match admission(&*self.app, &plan, &mut message, Place::Reactor) {
            Ok(Admission::Admitted(limits)) => return Ok((message, limits)),
            Ok(Admission::Rejected(response)) => return Err(response.closing()),
            Err(Longer(pace)) => pace,
        };
        // from here on another thread evaluates, and stops when the client is gone
        message.cancel();
        let service = self.clone();
        let decided = self.pool.run(pace, move |turn| {
            let rejected = |refusal| Admission::Rejected(service.app.refuse(&refusal));
            if message.time_left().is_some_and(|left| left.is_zero()) {
                return (message, rejected(Refusal::Late));
            }
            let admission = admission(&*service.app, &plan, &mut message, Place::Pool(turn));
            // in the pool there is nowhere else to go
            let admission = admission.unwrap_or_else(|Longer(_)| rejected(Refusal::Panicked));
            (message, admission)
        });
        match decided.await {
            Ok((message, Admission::Admitted(limits))) => Ok((message, limits)),
            Ok((_, Admission::Rejected(response))) => Err(response.closing()),
            Err(why) => Err(self.not_run(why).closing()),
        }
    }
}

/// Calls the app. A panic rejects the request.
fn admission<A: App>(
    app: &A,
    plan: &A::Plan,
    message: &mut Message,
    place: Place<'_>,
) -> Result<Admission, Longer> {
    let decided = catch_unwind(AssertUnwindSafe(|| app.admit(plan, message, place)));
    decided.unwrap_or_else(|_| Ok(Admission::Rejected(app.refuse(&Refusal::Panicked))))
}
