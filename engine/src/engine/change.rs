//! Changes to modules and base documents.

use std::sync::Arc;

use solon_syntax::ast::{Module, Version};

use crate::bundle::Loaded;
use crate::snapshot::Snapshot;
use crate::store::{Operation, PatchStep, Path, StoreError, Transaction};
use crate::value::Value;

/// Changes that are applied atomically.
///
/// ```
/// use solon::{Change, Engine, Value};
///
/// let mut change = Change::default();
/// change
///     .set_module("authz.rego", "package authz\nallow if input.user in data.admins")
///     .put("data.admins".parse()?, Value::array(vec!["alice".into()]));
/// Engine::new().apply(change)?;
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Change {
    pub(super) modules: Vec<(String, Option<ModuleSource>)>,
    pub(super) writes: Vec<Edit>,
}

#[derive(Clone)]
pub(super) enum ModuleSource {
    /// Source text in the given Rego version, or in the engine's if there is none.
    Source(String, Option<Version>),
    Parsed(Arc<Module>),
}

/// Options of [`Engine::check`](crate::Engine::check). By default, the current snapshot is changed.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct CheckOptions<'s> {
    /// The snapshot to change, instead of the current one.
    pub snapshot: Option<&'s Snapshot>,
    /// `true` if all modules are compiled by the rules of strict mode, even if the engine does not use it.
    pub strict: bool,
}

impl<'s> CheckOptions<'s> {
    /// Sets the snapshot to change, instead of the current one.
    #[must_use]
    pub fn snapshot(mut self, snapshot: &'s Snapshot) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// Sets whether all modules are compiled by the rules of strict mode, even if the engine does not use it.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }
}

#[derive(Clone)]
pub(super) enum Edit {
    Put(Path, Value),
    Merge(Path, Value),
    Exactly(Operation, Path, Value),
    Patch(Vec<PatchStep>),
}

impl Edit {
    pub(super) fn make(self, transaction: &mut Transaction) -> Result<(), StoreError> {
        match self {
            Self::Put(path, value) => transaction.put(&path, value),
            Self::Merge(path, value) => transaction.merge(&path, value),
            Self::Exactly(operation, path, value) => transaction.write(operation, &path, value),
            Self::Patch(steps) => transaction.patch(steps),
        }
    }
}

impl Change {
    /// Adds or replaces a module.
    pub fn set_module(&mut self, name: &str, text: &str) -> &mut Self {
        self.set(name, ModuleSource::Source(text.to_owned(), None))
    }

    /// Adds or replaces a module that is written in a Rego version other than the engine's.
    pub fn set_module_as(&mut self, name: &str, text: &str, version: Version) -> &mut Self {
        self.set(name, ModuleSource::Source(text.to_owned(), Some(version)))
    }

    /// Adds or replaces a module that was parsed before.
    pub fn set_parsed_module(&mut self, name: &str, module: Arc<Module>) -> &mut Self {
        self.set(name, ModuleSource::Parsed(module))
    }

    /// Applies the operations of a JSON patch. Each reads the results of those before it.
    pub fn patch(&mut self, steps: Vec<PatchStep>) -> &mut Self {
        self.writes.push(Edit::Patch(steps));
        self
    }

    fn set(&mut self, name: &str, text: ModuleSource) -> &mut Self {
        self.modules.push((name.to_owned(), Some(text)));
        self
    }

    /// Removes a module. If there is none of this name, applying the change fails with `resource_not_found`.
    pub fn remove_module(&mut self, name: &str) -> &mut Self {
        self.modules.push((name.to_owned(), None));
        self
    }

    /// Writes a document and creates missing objects around it.
    pub fn put(&mut self, path: Path, value: Value) -> &mut Self {
        self.writes.push(Edit::Put(path, value));
        self
    }

    /// Merges a value into a document: objects key by key, at any depth; everything else is replaced. Missing objects
    /// around it are created.
    pub fn merge(&mut self, path: Path, value: Value) -> &mut Self {
        self.writes.push(Edit::Merge(path, value));
        self
    }

    /// Adds, replaces or removes one document whose parent must exist.
    pub fn write(&mut self, operation: Operation, path: Path, value: Value) -> &mut Self {
        self.writes.push(Edit::Exactly(operation, path, value));
        self
    }

    /// Adds what was loaded from files: modules are added or replaced, documents merged into existing documents.
    pub fn load(&mut self, loaded: &Loaded) -> &mut Self {
        for (name, text) in &loaded.modules {
            match loaded.parsed.get(name) {
                Some(module) => self.set_parsed_module(name, module.clone()),
                None => self.set_module(name, text),
            };
        }
        self.merge(Path::default(), loaded.documents.clone())
    }
}
