//! A document that decides on requests.

use std::fmt;
use std::sync::Arc;

use http::request::Parts;
use solon::{Cancel, Error, PinnedDocument, PreparedDocument, Request, Value};

use crate::input::{RequestHead, request_input};
use crate::rejection::Rejection;

type InputFunction = dyn Fn(&RequestHead<'_>) -> Value + Send + Sync;

/// A document that decides on requests, and the function that makes its input. Clones share both.
#[derive(Clone)]
pub struct Policy {
    document: PreparedDocument,
    input: Arc<InputFunction>,
}

impl Policy {
    /// Creates a policy with the input of [`request_input`]. With
    /// [`must_exist`](PreparedDocument::must_exist) a misspelt path is an error.
    pub fn new(document: PreparedDocument) -> Self {
        Self {
            document,
            input: Arc::new(request_input),
        }
    }

    /// Replaces the input.
    ///
    /// ```
    /// # use solon::{Engine, value};
    /// # use solon_tower::Policy;
    /// # fn main() -> Result<(), solon::Error> {
    /// # let engine = Engine::new();
    /// # engine.set_module("a.rego", "package photos\n\nallow if input.user")?;
    /// let document = engine.prepare_document("data.photos.allow")?.must_exist()?;
    /// let policy = Policy::new(document).with_input(|head| {
    ///     value!({
    ///         // set by the proxy that authenticates users
    ///         "user": head.header("x-user").unwrap_or_default(),
    ///         "method": head.parts().method.as_str(),
    ///     })
    /// });
    /// # let _ = policy;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_input(
        mut self,
        input: impl Fn(&RequestHead<'_>) -> Value + Send + Sync + 'static,
    ) -> Self {
        self.input = Arc::new(input);
        self
    }

    /// Decides on a request: `Ok` only if the document is exactly `true`.
    ///
    /// # Errors
    /// [`Rejection::Forbidden`] if the document is not `true` or is undefined, [`Rejection::Undecided`] if the evaluation fails.
    pub async fn check(&self, parts: &Parts, params: &[(String, String)]) -> Result<(), Rejection> {
        let input = (self.input)(&RequestHead::new(parts, params));
        let allowed = evaluate(&self.document, input, |document, request| {
            document.allow(request)
        });
        if allowed.await? {
            Ok(())
        } else {
            Err(Rejection::Forbidden)
        }
    }

    /// Returns the document's value for a request.
    ///
    /// # Errors
    /// [`Rejection::Forbidden`] if the document is undefined, [`Rejection::Undecided`] if the evaluation fails.
    pub async fn evaluate(
        &self,
        parts: &Parts,
        params: &[(String, String)],
    ) -> Result<Value, Rejection> {
        let input = (self.input)(&RequestHead::new(parts, params));
        let value = evaluate(&self.document, input, |document, request| {
            document.evaluate(request)
        });
        value.await?.ok_or(Rejection::Forbidden)
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy").finish_non_exhaustive()
    }
}

/// Cancels an evaluation on a blocking thread when the request is dropped.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Evaluates on the calling thread, or on a blocking thread if the policy may wait for a host call.
async fn evaluate<R: Send + 'static>(
    document: &PreparedDocument,
    input: Value,
    run: impl FnOnce(&PinnedDocument, &Request<'_>) -> Result<R, Error> + Send + 'static,
) -> Result<R, Rejection> {
    // the check for host calls and the decision use one snapshot
    let document = document.pin();
    if !document.may_block() {
        return run(&document, &Request::new().input(&input)).map_err(Rejection::undecided);
    }
    let guard = CancelOnDrop(Cancel::default());
    let cancel = guard.0.clone();
    let evaluation = tokio::task::spawn_blocking(move || {
        run(&document, &Request::new().input(&input).cancel(&cancel))
    });
    match evaluation.await {
        Ok(result) => result.map_err(Rejection::undecided),
        Err(error) => Err(Rejection::undecided(error)),
    }
}
