//! The store that keeps everything in memory.

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use crate::value::{Object, Value};

use super::{Snapshot, Store, StoreError, Transaction};

/// Base documents in memory.
pub struct MemoryStore {
    current: ArcSwap<Snapshot>,
    writer: Mutex<()>,
}

impl MemoryStore {
    /// A store that holds `root`, an object.
    pub fn new(root: Value) -> Self {
        Self {
            current: ArcSwap::from_pointee(Snapshot::new(root, 0)),
            writer: Mutex::new(()),
        }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(Value::Object(Object::default()))
    }
}

impl Store for MemoryStore {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    fn commit(&self, transaction: Transaction) -> Result<Arc<Snapshot>, StoreError> {
        let _writer = self.writer.lock();
        let current = self.current.load();
        if current.revision != transaction.base {
            return Err(StoreError::Conflict {
                message: "another transaction was committed first".into(),
            });
        }
        let next = Arc::new(Snapshot::new(transaction.root, transaction.base + 1));
        self.current.store(next.clone());
        Ok(next)
    }
}
