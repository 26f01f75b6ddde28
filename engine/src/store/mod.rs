//! Base documents: snapshots that readers keep, transactions that writers make.
//!
//! A snapshot never changes. A transaction works on a copy that shares everything it does not touch, so a
//! change of one key in an object of a million copies one run of keys and the list of runs.

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
pub(crate) use replacing::{DocumentLoad, replace};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use write::Operation;
pub(crate) use write::is_same;

use std::sync::Arc;

use solon_syntax::ast::Version;
use solon_syntax::stack;

use crate::limits;
use crate::value::Value;

/// The base documents at one moment.
///
/// ```
/// use solon::{Engine, Path, Value};
///
/// let engine = Engine::new();
/// engine.put("/a/b", Value::Int(1))?;
/// let snapshot = engine.data_snapshot();
/// engine.put("/a/b", Value::Int(2))?;
/// assert_eq!(snapshot.read(&Path::from_slashes("a/b"))?, &Value::Int(1));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DataSnapshot {
    root: Value,
    revision: u64,
}

impl DataSnapshot {
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
///
/// ```
/// use solon::store::Transaction;
/// use solon::{Engine, Error, Path, Value};
///
/// let engine = Engine::new();
/// engine.put("/visits", Value::Int(1))?;
/// let visits = engine.edit(|documents: &mut Transaction| {
///     let path = Path::from_slashes("visits");
///     let visits = documents.read(&path)?.as_i64().unwrap_or(0) + 1;
///     documents.put(&path, Value::Int(visits))?;
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
    /// Parts of documents that may still be written.
    parts: u32,
    /// Bytes of text that may still be copied.
    copied: usize,
}

/// A change of one document.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Write {
    /// Sets a document, making the objects around it.
    Put(Path, Value),
    /// Makes the missing objects around a document.
    MakeParents(Path),
    /// Adds, replaces or removes a document whose parent exists.
    Exactly(Operation, Path, Value),
}

impl Transaction {
    /// Starts from a snapshot.
    pub fn new(snapshot: &DataSnapshot) -> Self {
        Self {
            base: snapshot.revision,
            root: snapshot.root.clone(),
            writes: Vec::new(),
            parts: limits::VALUE_NODES,
            copied: limits::COPIED_TEXT,
        }
    }

    /// The documents as this transaction sees them.
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// What was written so far, in order.
    pub fn writes(&self) -> &[Write] {
        &self.writes
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
        write::write(&mut self.root, operation, path, value.clone())?;
        self.writes
            .push(Write::Exactly(operation, path.clone(), value));
        Ok(())
    }

    /// Makes the operations of a patch, each of which sees those before it.
    ///
    /// # Errors
    /// Those of [`Patching::apply`], of the first operation that has one. Those before it are made.
    pub fn patch(&mut self, steps: impl IntoIterator<Item = PatchStep>) -> Result<(), StoreError> {
        let mut steps = steps.into_iter();
        self.patching(|patching| steps.try_for_each(|step| patching.apply(step)))
    }

    /// The same, for who looks at the documents between the operations.
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
    ///         patching.apply(PatchStep::Write(Operation::Add, path, Value::Int(7)))
    ///     })?;
    ///     Ok::<_, Error>(())
    /// })?;
    /// assert_eq!(engine.read("users/alice")?, 7.into());
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the operations.
    pub fn patching<T, E: From<StoreError>>(
        &mut self,
        operations: impl FnOnce(&mut Patching<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut patching = Patching::on(self);
        let made = operations(&mut patching);
        patching.end()?;
        made
    }

    /// Writes a document, making the objects around it.
    pub fn put(&mut self, path: &Path, value: Value) -> Result<(), StoreError> {
        write::check_extent(path, &value, &mut self.parts)?;
        if path.find(&self.root).is_some() {
            write::write(&mut self.root, Operation::Replace, path, value.clone())?;
        } else {
            write::check_extent(path, &Value::Null, &mut self.parts)?;
            write::make_parents(&mut self.root, path)?;
            write::write(&mut self.root, Operation::Add, path, value.clone())?;
        }
        self.writes.push(Write::Put(path.clone(), value));
        Ok(())
    }

    /// Merges a document into what is there: objects key by key, at any depth; anything else is replaced. The objects around it
    /// are made. What is there already is not written again.
    pub fn merge(&mut self, path: &Path, value: Value) -> Result<(), StoreError> {
        match (path.find(&self.root), &value) {
            (Some(old), new) if write::is_same(old, new) => Ok(()),
            (Some(Value::Object(old)), Value::Object(new))
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

    /// Makes the missing objects around a path.
    pub fn make_parents(&mut self, path: &Path) -> Result<(), StoreError> {
        write::check_extent(path, &Value::Null, &mut self.parts)?;
        write::make_parents(&mut self.root, path)?;
        self.writes.push(Write::MakeParents(path.clone()));
        Ok(())
    }

    /// The documents behind the transaction.
    pub(crate) fn into_snapshot(self) -> DataSnapshot {
        DataSnapshot::new(self.root, self.base + 1)
    }
}

/// A module as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredModule {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: Arc<str>,
    /// Which Rego it was read as.
    pub version: Version,
    /// Its origin.
    pub origin: Origin,
}

impl StoredModule {
    /// A text under a name, to be read as Rego of a version. Its origin is unknown.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>, version: Version) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            version,
            origin: Origin::Unknown,
        }
    }

    /// The same module with an origin.
    #[must_use]
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }
}

/// What a store keeps.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Contents {
    /// All base documents: an object.
    pub documents: Value,
    /// The modules.
    pub modules: Vec<StoredModule>,
    /// Origins of the documents, and modules of files that clients hide.
    pub origins: StoredOrigins,
}

impl Contents {
    /// All documents, an object, and all modules. Their origins are unknown.
    pub fn new(documents: Value, modules: Vec<StoredModule>) -> Self {
        Self {
            documents,
            modules,
            origins: StoredOrigins::unknown(),
        }
    }

    /// The same contents with recorded origins.
    #[must_use]
    pub fn with_origins(self, origins: StoredOrigins) -> Self {
        Self { origins, ..self }
    }
}

/// One change of policy and documents.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Commit<'c> {
    /// What becomes of documents, in order.
    pub writes: &'c [Write],
    /// All documents behind that.
    pub documents: &'c Value,
    /// Modules that are added or replaced, in order; of a name without one, the module is removed.
    pub modules: &'c [(String, Option<StoredModule>)],
    /// Changes of the origins of documents, and of modules of files that clients hide.
    pub origins: &'c OriginChanges,
}

/// Where an engine's policies and documents outlive it ([`EngineBuilder::open`](crate::EngineBuilder::open)).
///
/// The engine reads its store once, at the start; what it decides by is in memory. Each change is committed before it is
/// seen: what a store refuses has not happened. One engine at a time uses a store.
pub trait Store: Send + Sync {
    /// What is kept.
    ///
    /// # Errors
    /// When it cannot be read.
    fn load(&self) -> Result<Contents, StoreError>;

    /// Keeps a change, all of it or, with an error, nothing.
    ///
    /// # Errors
    /// When it cannot be written.
    fn commit(&self, change: &Commit<'_>) -> Result<(), StoreError>;
}
