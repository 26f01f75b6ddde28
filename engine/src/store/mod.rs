//! Base documents: immutable snapshots for readers, transactions for writers.
//!
//! A transaction works on a persistent copy: it shares everything that it does not change. A change of one key in an
//! object of a million copies one run of keys and the list of runs.

mod claims;
mod error;
mod memory;
mod open_array;
mod origins;
mod patch;
mod patching;
mod path;
mod reference;
mod replacing;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
mod write;

pub use claims::{Claim, ClaimChange, ClaimKind, Claims};
pub use error::StoreError;
pub use memory::MemoryStore;
pub use origins::{ClaimChanges, HiddenModule, Origin, OriginChanges, StoredOrigins};
pub(crate) use origins::{ModuleOrigins, OriginRecord, digest, sort_hidden};
pub use patch::PatchStep;
pub use patching::Patching;
pub use path::Path;
pub(crate) use path::index;
pub use reference::PathError;
pub(crate) use replacing::{DocumentLoad, replace};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use write::Operation;
pub(crate) use write::is_same;

use std::sync::Arc;

use solon_syntax::ast::Version;
use solon_syntax::stack;

use crate::limits;
use crate::value::{Repr, Value};

/// The base documents of one revision.
///
/// ```
/// use solon::{Engine, Path, Value};
///
/// let engine = Engine::new();
/// engine.put("data.a.b", Value::from(1))?;
/// let snapshot = engine.data_snapshot();
/// engine.put("data.a.b", Value::from(2))?;
/// assert_eq!(snapshot.read(&Path::from_slashes("a/b"))?, &Value::from(1));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DataSnapshot {
    root: Value,
    revision: u64,
}

impl DataSnapshot {
    /// Creates a snapshot of documents with a revision. `root` must be an object.
    pub fn new(root: Value, revision: u64) -> Self {
        Self { root, revision }
    }

    /// Returns all documents, an object.
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// Returns the revision: the number of transactions so far.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the document at a path. Looks up one key for each step.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the document does not exist, or an array on the path does not have the index.
    pub fn read(&self, path: &Path) -> Result<&Value, StoreError> {
        path.read(&self.root)
    }
}

/// Changes that become visible together, or not at all.
///
/// ```
/// use solon::store::Transaction;
/// use solon::{Engine, Error, Path, Value};
///
/// let engine = Engine::new();
/// engine.put("data.visits", Value::from(1))?;
/// let visits = engine.edit(|documents: &mut Transaction| {
///     let path = Path::from_slashes("visits");
///     let visits = documents.read(&path)?.as_i64().unwrap_or(0) + 1;
///     documents.put(&path, Value::from(visits))?;
///     Ok::<_, Error>(visits)
/// })?;
/// assert_eq!(visits, 2);
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Transaction {
    base: u64,
    root: Value,
    writes: Vec<Write>,
    /// Number of nodes that may still be written.
    nodes_left: u32,
    /// Size of text that may still be copied, in bytes.
    copied: usize,
}

/// A change of one document.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Write {
    /// Sets a document and creates missing objects around it.
    Put(Path, Value),
    /// Creates the missing objects around a document.
    MakeParents(Path),
    /// Adds, replaces or removes a document whose parent exists.
    Exactly(Operation, Path, Value),
}

impl Transaction {
    /// Creates a transaction based on a snapshot, in constant time: documents are shared until they are changed.
    pub fn new(snapshot: &DataSnapshot) -> Self {
        Self {
            base: snapshot.revision,
            root: snapshot.root.clone(),
            writes: Vec::new(),
            nodes_left: limits::VALUE_NODES,
            copied: limits::COPIED_TEXT,
        }
    }

    /// Returns the documents with the writes so far.
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// Returns the writes so far, in order.
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// Returns the document at a path with the writes so far.
    ///
    /// # Errors
    /// Errors of [`DataSnapshot::read`].
    pub fn read(&self, path: &Path) -> Result<&Value, StoreError> {
        path.read(&self.root)
    }

    /// Adds, replaces or removes one document; the parent must exist. Containers on the path that a snapshot shares are copied, with a
    /// reference to each of their members.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the parent does not exist, or the document that is replaced or removed;
    /// [`StoreError::InvalidPatch`] if the document nests too deeply, if the transaction writes more nodes than a value may have, or if
    /// the root would not be an object. The documents are unchanged then.
    pub fn write(
        &mut self,
        operation: Operation,
        path: &Path,
        value: Value,
    ) -> Result<(), StoreError> {
        write::check_extent(path, &value, &mut self.nodes_left)?;
        write::write(&mut self.root, operation, path, value.clone())?;
        self.writes
            .push(Write::Exactly(operation, path.clone(), value));
        Ok(())
    }

    /// Applies the operations of a patch. Each reads the results of those before it.
    ///
    /// # Errors
    /// The first error of [`Patching::apply`]. Operations before it stay applied.
    pub fn patch(&mut self, steps: impl IntoIterator<Item = PatchStep>) -> Result<(), StoreError> {
        let mut steps = steps.into_iter();
        self.patching(|patching| steps.try_for_each(|step| patching.apply(step)))
    }

    /// Calls `run` with a patch in progress, so that the caller can read documents between its operations.
    ///
    /// ```
    /// use solon::store::{Operation, PatchStep, StoreError, Transaction};
    /// use solon::{Engine, Error, Path, Value};
    ///
    /// let engine = Engine::new();
    /// engine.edit(|documents: &mut Transaction| {
    ///     documents.patching(|patching| {
    ///         let path = Path::from_slashes("users/alice");
    ///         patching.make_parents(&path)?;
    ///         patching.apply(PatchStep::Write(Operation::Add, path, Value::from(7)))
    ///     })?;
    ///     Ok::<_, Error>(())
    /// })?;
    /// assert_eq!(engine.read("data.users.alice")?, 7);
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of the operations.
    pub fn patching<T, E: From<StoreError>>(
        &mut self,
        operations: impl FnOnce(&mut Patching<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut patching = Patching::new(self);
        let result = operations(&mut patching);
        patching.end()?;
        result
    }

    /// Writes a document and creates missing objects around it.
    ///
    /// # Errors
    /// Errors of [`Self::write`], and those of [`Self::make_parents`].
    pub fn put(&mut self, path: &Path, value: Value) -> Result<(), StoreError> {
        write::check_extent(path, &value, &mut self.nodes_left)?;
        if path.find(&self.root).is_some() {
            write::write(&mut self.root, Operation::Replace, path, value.clone())?;
        } else {
            write::check_extent(path, &Value(Repr::Null), &mut self.nodes_left)?;
            write::make_parents(&mut self.root, path)?;
            write::write(&mut self.root, Operation::Add, path, value.clone())?;
        }
        self.writes.push(Write::Put(path.clone(), value));
        Ok(())
    }

    /// Merges a value into a document: objects key by key, at any depth; everything else is replaced. Missing objects
    /// around it are created. Values that do not change are not written.
    ///
    /// # Errors
    /// Errors of [`Self::put`]. Members that were merged before the error stay merged.
    pub fn merge(&mut self, path: &Path, value: Value) -> Result<(), StoreError> {
        match (path.find(&self.root), &value) {
            (Some(old), new) if write::is_same(old, new) => Ok(()),
            (Some(Value(Repr::Object(old))), Value(Repr::Object(new)))
                if !old.is_empty() && new.iter().all(|(key, _)| key.as_str().is_some()) =>
            {
                new.iter().try_for_each(|(key, value)| {
                    let path = path.join(&Path::new(key.as_str()));
                    stack::level(|| self.merge(&path, value.clone()))
                })
            }
            _ => self.put(path, value),
        }
    }

    /// Creates the missing objects around a path. Does nothing if all of them exist.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] or [`StoreError::NotFound`] if a value on the path is neither an object nor an array with the index.
    pub fn make_parents(&mut self, path: &Path) -> Result<(), StoreError> {
        write::check_extent(path, &Value(Repr::Null), &mut self.nodes_left)?;
        write::make_parents(&mut self.root, path)?;
        self.writes.push(Write::MakeParents(path.clone()));
        Ok(())
    }

    /// Returns the documents after the transaction.
    pub(crate) fn into_snapshot(self) -> DataSnapshot {
        DataSnapshot::new(self.root, self.base + 1)
    }
}

/// The source of a module, with what the engine needs to load it again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredModule {
    /// Name of the module, unique in a store.
    pub name: String,
    /// Source text, as it was set.
    pub text: Arc<str>,
    /// Rego version of the text.
    pub version: Version,
    /// Origin of the module: files or a client.
    pub origin: Origin,
}

impl StoredModule {
    /// Creates a module of unknown origin.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>, version: Version) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            version,
            origin: Origin::Unknown,
        }
    }

    /// Returns the module with another origin.
    #[must_use]
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }
}

/// The contents of a store: documents, and modules with their origins.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Contents {
    /// All base documents: an object.
    pub documents: Value,
    /// The modules, with their source texts.
    pub modules: Vec<StoredModule>,
    /// Origins of the documents, and modules of files that clients override.
    pub origins: StoredOrigins,
}

impl Contents {
    /// Creates contents of unknown origins. `documents` must be an object.
    pub fn new(documents: Value, modules: Vec<StoredModule>) -> Self {
        Self {
            documents,
            modules,
            origins: StoredOrigins::unknown(),
        }
    }

    /// Returns the contents with other origins.
    #[must_use]
    pub fn with_origins(self, origins: StoredOrigins) -> Self {
        Self { origins, ..self }
    }
}

/// One change of policy and documents, with the documents before the change replaced by all documents after it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Commit<'c> {
    /// Changes of documents, in order.
    pub writes: &'c [Write],
    /// All documents after the change.
    pub documents: &'c Value,
    /// Modules that are added or replaced, in order. `None` removes the module of that name.
    pub modules: &'c [(String, Option<StoredModule>)],
    /// Changes of the origins of documents, and of modules of files that clients override.
    pub origins: &'c OriginChanges,
}

/// A persistent store for an engine's policies and documents ([`EngineBuilder::open`](crate::EngineBuilder::open)).
///
/// The engine reads its store once, at the start, and evaluates in memory. Each change is committed to the store before
/// it is published; if that fails, the change is rolled back. A store must be used by one engine at a time.
pub trait Store: Send + Sync {
    /// Reads and returns the contents. The engine calls it once.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn load(&self) -> Result<Contents, StoreError>;

    /// Persists a change atomically. The engine calls it under its writer lock, so calls do not overlap.
    ///
    /// # Errors
    /// Fails if the store cannot be written. The store must then be unchanged; the engine discards the change and returns the error.
    fn commit(&self, change: &Commit<'_>) -> Result<(), StoreError>;
}
