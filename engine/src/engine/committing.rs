//! Committing a change to the store and publishing it.

use std::sync::Arc;

use super::Inner;
use super::change::Edit;
use crate::error::Error;
use crate::snapshot::{Policy, SnapshotState, next_version_id};
use crate::store::{
    Commit, ModuleOrigins, OriginChanges, OriginRecord, StoreError, StoredModule, Transaction,
};

impl Inner {
    /// Commits the change of a client to the store, then publishes it.
    pub(super) fn commit_of_client(
        &self,
        before: Arc<SnapshotState>,
        next: PendingCommit,
        record: &mut OriginRecord,
    ) -> Result<(), Error> {
        let text_before = |name: &str| {
            let module = before.policy.modules.get(name)?;
            Some(module.source.text.to_string())
        };
        let origins = match &before.module_origins {
            Some(origins) => record.of_client(
                origins,
                next.transaction.writes(),
                (before.documents.root(), next.transaction.root()),
                next.modules.iter().map(|(name, _)| name.as_str()),
                &text_before,
            ),
            None => OriginChanges::default(),
        };
        self.commit(before, next, &origins, record)
    }

    /// Commits a change to the store, then publishes it.
    pub(super) fn commit(
        &self,
        before: Arc<SnapshotState>,
        next: PendingCommit,
        origins: &OriginChanges,
        record: &mut OriginRecord,
    ) -> Result<(), Error> {
        let is_same =
            next.modules.is_empty() && next.transaction.writes().is_empty() && origins.is_empty();
        if let (Some(store), false) = (self.store.get(), is_same) {
            store.commit(&Commit {
                writes: next.transaction.writes(),
                documents: next.transaction.root(),
                modules: &next.modules,
                origins,
            })?;
        }
        record.origins.change(origins);
        let state = next.state(&before, next_version_id());
        self.shared.now.publish(before, state);
        Ok(())
    }
}

/// Applies the changes of documents in order.
pub(super) fn make(edits: Vec<Edit>, transaction: &mut Transaction) -> Result<(), StoreError> {
    let mut edits = edits.into_iter();
    edits.try_for_each(|edit| edit.make(transaction))
}

/// The result of a change before it is committed.
pub(super) struct PendingCommit {
    /// The policy, if modules changed.
    pub policy: Option<Policy>,
    pub transaction: Transaction,
    pub modules: Vec<(String, Option<StoredModule>)>,
    /// Origins of modules before the change, if they are recorded.
    pub origins: Option<Arc<ModuleOrigins>>,
}

impl PendingCommit {
    /// Returns `true` if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.modules.is_empty() && self.transaction.writes().is_empty()
    }

    /// Returns the state after the change.
    pub fn state(mut self, before: &SnapshotState, version_id: u64) -> SnapshotState {
        let documents = if self.transaction.writes().is_empty() {
            before.documents.clone()
        } else {
            Arc::new(self.transaction.into_snapshot())
        };
        if let (Some(origins), false) = (&mut self.origins, self.modules.is_empty()) {
            let origins = Arc::make_mut(origins);
            for (name, module) in self.modules {
                match module {
                    Some(module) => origins.insert(name, module.origin),
                    None => origins.remove(&name),
                };
            }
        }
        SnapshotState {
            version_id,
            generation: before.generation + 1,
            policy: self.policy.map_or_else(|| before.policy.clone(), Arc::new),
            documents,
            module_origins: self.origins,
        }
    }
}
