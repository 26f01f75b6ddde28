//! Documents pinned to one snapshot of policy and data.

use super::PreparedDocument;
use crate::error::Error;
use crate::query::Request;
use crate::snapshot::Snapshot;
use crate::value::{Value, ValueRef};

/// A document pinned to a snapshot, which takes precedence over that of a request. So [`Self::may_block`] and a later
/// evaluation use the same policy.
///
/// ```
/// use solon::{Engine, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow := input.n > data.least")?;
/// engine.put("data.least", 1.into())?;
/// let pinned = engine.prepare_document("data.p.allow")?.pin();
/// engine.put("data.least", 5.into())?;
/// assert!(!pinned.may_block());
/// let request = Request::new().input_json(br#"{"n": 3}"#);
/// assert_eq!(pinned.evaluate(&request)?, Some(true.into()));
/// assert_eq!(engine.prepare_document("data.p.allow")?.evaluate(&request)?, Some(false.into()));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct PinnedDocument {
    pub(super) document: PreparedDocument,
    pub(super) snapshot: Snapshot,
}

impl PinnedDocument {
    /// Returns the snapshot that all evaluations of this document use.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Calls [`PreparedDocument::evaluate`] with the pinned snapshot.
    ///
    /// # Errors
    /// Errors of [`PreparedDocument::evaluate`].
    pub fn evaluate(&self, request: &Request<'_>) -> Result<Option<Value>, Error> {
        self.document.evaluate(&request.snapshot(&self.snapshot))
    }

    /// Calls [`PreparedDocument::evaluate_json`] with the pinned snapshot.
    ///
    /// # Errors
    /// Errors of [`PreparedDocument::evaluate`].
    pub fn evaluate_json(&self, request: &Request<'_>) -> Result<Option<Vec<u8>>, Error> {
        let request = request.snapshot(&self.snapshot);
        self.document.evaluate_json(&request)
    }

    /// Calls [`PreparedDocument::allow`] with the pinned snapshot.
    ///
    /// # Errors
    /// Errors of [`PreparedDocument::evaluate`]. Treat an error as a denial.
    pub fn allow(&self, request: &Request<'_>) -> Result<bool, Error> {
        self.document.allow(&request.snapshot(&self.snapshot))
    }

    /// Calls [`PreparedDocument::evaluate_with`] with the pinned snapshot.
    ///
    /// # Errors
    /// Errors of [`PreparedDocument::evaluate`].
    pub fn evaluate_with<R>(
        &self,
        request: &Request<'_>,
        read: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        let request = request.snapshot(&self.snapshot);
        self.document.evaluate_with(&request, read)
    }

    /// Calls [`PreparedDocument::may_block`] with the pinned snapshot.
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

    /// Calls [`PreparedDocument::exists`] with the pinned snapshot.
    pub fn exists(&self) -> bool {
        self.document.handle.exists(self.snapshot.state())
    }

    /// Calls [`PreparedDocument::has_rules`] with the pinned snapshot.
    pub fn has_rules(&self) -> bool {
        self.document
            .handle
            .has_rules(&self.snapshot.state().policy)
    }
}
