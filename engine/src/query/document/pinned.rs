//! Documents bound to one snapshot of policy and data.

use super::PreparedDocument;
use crate::error::Error;
use crate::query::Request;
use crate::snapshot::Snapshot;
use crate::value::json::Style;
use crate::value::{Value, ValueRef};

/// A document and the moment that it asks, whatever a request names. Whoever asks whether it may block and evaluates it then
/// speaks of one policy.
///
/// ```
/// use solon::{Engine, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow := input.n > data.least")?;
/// engine.put("/least", 1.into())?;
/// let pinned = engine.prepare_document("p/allow")?.pin();
/// engine.put("/least", 5.into())?;
/// assert!(!pinned.may_block());
/// let request = Request::new().input_json(br#"{"n": 3}"#);
/// assert_eq!(pinned.evaluate(&request)?, Some(true.into()));
/// assert_eq!(engine.prepare_document("p/allow")?.evaluate(&request)?, Some(false.into()));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct PinnedDocument {
    pub(super) document: PreparedDocument,
    pub(super) snapshot: Snapshot,
}

impl PinnedDocument {
    /// The policy and the documents that it asks.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// As [`PreparedDocument::evaluate`].
    ///
    /// # Errors
    /// As for [`PreparedDocument::evaluate`].
    pub fn evaluate(&self, request: &Request<'_>) -> Result<Option<Value>, Error> {
        self.document.evaluate(&request.snapshot(&self.snapshot))
    }

    /// As [`PreparedDocument::evaluate_text`].
    ///
    /// # Errors
    /// As for [`PreparedDocument::evaluate`].
    pub fn evaluate_text(
        &self,
        request: &Request<'_>,
        style: Style<'_>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let request = request.snapshot(&self.snapshot);
        self.document.evaluate_text(&request, style)
    }

    /// As [`PreparedDocument::allow`].
    ///
    /// # Errors
    /// As for [`PreparedDocument::evaluate`]. An error is not a permission.
    pub fn allow(&self, request: &Request<'_>) -> Result<bool, Error> {
        self.document.allow(&request.snapshot(&self.snapshot))
    }

    /// As [`PreparedDocument::evaluate_with`].
    ///
    /// # Errors
    /// As for [`PreparedDocument::evaluate`].
    pub fn evaluate_with<R>(
        &self,
        request: &Request<'_>,
        read: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        let request = request.snapshot(&self.snapshot);
        self.document.evaluate_with(&request, read)
    }

    /// As [`PreparedDocument::may_block`].
    pub fn may_block(&self) -> bool {
        self.document
            .handle
            .resolve(self.snapshot.state())
            .may_block()
    }

    /// Returns `false` if the document is the same whatever `input[key]` is: no rule that it needs names that key, `input`
    /// as a whole, or a key of `input` that is known only when the rule is evaluated.
    ///
    /// The first call for a policy and a key visits every module; its result is cached until the next change of the policy.
    pub fn may_read_input(&self, key: &str) -> bool {
        self.document
            .handle
            .may_read_input(self.snapshot.state(), key)
    }

    /// As [`PreparedDocument::has_rules`].
    pub fn has_rules(&self) -> bool {
        self.document.handle.has_rules(self.snapshot.state())
    }
}
