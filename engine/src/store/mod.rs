//! Base documents: snapshots that readers keep, transactions that writers make.
//!
//! A snapshot never changes. A transaction works on a copy that shares everything it does not touch, so a
//! change of one key in an object of a million copies one run of keys and the list of runs.

mod error;
mod memory;
mod path;
mod write;

pub use error::StoreError;
pub use memory::MemoryStore;
pub use path::Path;
pub use write::Operation;

use std::sync::Arc;

use crate::limits;
use crate::value::Value;

/// The base documents at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    root: Value,
    revision: u64,
}

impl Snapshot {
    /// Documents with a revision.
    pub fn new(root: Value, revision: u64) -> Self {
        Self { root, revision }
    }

    /// All documents, an object.
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// How many transactions led here.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The document at a path.
    pub fn read(&self, path: &Path) -> Result<&Value, StoreError> {
        path.read(&self.root)
    }
}

/// Changes that become visible together, or not at all.
#[derive(Clone, Debug)]
pub struct Transaction {
    base: u64,
    root: Value,
    /// Parts of documents that may still be written.
    parts: u32,
}

impl Transaction {
    /// Starts from a snapshot.
    pub fn on(snapshot: &Snapshot) -> Self {
        Self {
            base: snapshot.revision,
            root: snapshot.root.clone(),
            parts: limits::VALUE_PARTS,
        }
    }

    /// The documents as this transaction sees them.
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// The document at a path as this transaction sees it.
    pub fn read(&self, path: &Path) -> Result<&Value, StoreError> {
        path.read(&self.root)
    }

    /// Adds, replaces or removes one document; the parent must exist.
    pub fn write(
        &mut self,
        operation: Operation,
        path: &Path,
        value: Value,
    ) -> Result<(), StoreError> {
        write::check_extent(path, &value, &mut self.parts)?;
        write::write(&mut self.root, operation, path, value)
    }

    /// Writes a document, making the objects around it.
    pub fn put(&mut self, path: &Path, value: Value) -> Result<(), StoreError> {
        write::check_extent(path, &value, &mut self.parts)?;
        if path.find(&self.root).is_some() {
            return write::write(&mut self.root, Operation::Replace, path, value);
        }
        self.make_parents(path)?;
        write::write(&mut self.root, Operation::Add, path, value)
    }

    /// Makes the missing objects around a path.
    pub fn make_parents(&mut self, path: &Path) -> Result<(), StoreError> {
        write::check_extent(path, &Value::Null, &mut self.parts)?;
        write::make_parents(&mut self.root, path)
    }
}

/// Where base documents are kept.
pub trait Store: Send + Sync {
    /// The documents now.
    fn snapshot(&self) -> Arc<Snapshot>;

    /// Makes a transaction's changes visible. Fails when another one was committed since it began.
    fn commit(&self, transaction: Transaction) -> Result<Arc<Snapshot>, StoreError>;
}
