//! A store in memory, which loses its contents at the end.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::{Commit, Contents, Store, StoreError, StoredModule, StoredOrigins};
use crate::value::{Object, Repr, Value};

/// Policies and documents in memory. Another engine can continue from it, and tests compare stores with it.
///
/// ```
/// use std::sync::Arc;
/// use solon::store::MemoryStore;
/// use solon::{Engine, Request, Value};
///
/// let store = Arc::new(MemoryStore::default());
/// let first = Engine::builder().open(store.clone())?;
/// first.set_module("p.rego", "package p\nn := data.n + 1")?;
/// first.put("data.n", Value::from(1))?;
/// // another engine goes on from what is kept
/// let second = Engine::builder().open(store)?;
/// assert_eq!(second.prepare_document("data.p.n")?.evaluate(&Request::new())?, Some(Value::from(2)));
/// # Ok::<(), solon::Error>(())
/// ```
pub struct MemoryStore {
    contents: Mutex<StoredContents>,
}

struct StoredContents {
    documents: Value,
    modules: BTreeMap<String, StoredModule>,
    origins: StoredOrigins,
}

impl MemoryStore {
    /// Creates a store with documents, which must be an object, and without modules.
    pub fn new(documents: Value) -> Self {
        Self {
            contents: Mutex::new(StoredContents {
                documents,
                modules: BTreeMap::new(),
                origins: StoredOrigins::unknown(),
            }),
        }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(Value(Repr::Object(Object::default())))
    }
}

impl Store for MemoryStore {
    fn load(&self) -> Result<Contents, StoreError> {
        let contents = self.contents.lock();
        Ok(Contents {
            documents: contents.documents.clone(),
            modules: contents.modules.values().cloned().collect(),
            origins: contents.origins.clone(),
        })
    }

    fn commit(&self, change: &Commit<'_>) -> Result<(), StoreError> {
        let mut contents = self.contents.lock();
        contents.documents = change.documents.clone();
        contents.origins.change(change.origins);
        for (name, module) in change.modules {
            match module {
                Some(module) => contents.modules.insert(name.clone(), module.clone()),
                None => contents.modules.remove(name),
            };
        }
        Ok(())
    }
}
