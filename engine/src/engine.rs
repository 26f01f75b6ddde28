//! The engine: modules, base documents, prepared queries.

mod builder;
mod bundles;
mod change;
mod checking;
mod committing;
mod compiling;
mod definition;
mod dependencies;
#[cfg(feature = "filters")]
mod filters;
mod loading;
mod parsing;
mod partial;
mod preparing;
mod requirements;
#[cfg(test)]
#[cfg(feature = "filters")]
mod violations;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use solon_syntax::ParseOptions;
use solon_syntax::ast::{Module, Version};
use solon_syntax::source::Diagnostics;

use crate::builtins::HostFunction;
use crate::bundle::{Files, Loader};
use crate::compile::{Options, Work};
use crate::error::Error;
use crate::limits::Limits;
#[cfg(test)]
use crate::program::Program;
use crate::program::dump;
use crate::query::EngineShared;
use crate::snapshot::{Snapshot, SnapshotState};
use crate::store::{
    DataSnapshot, Operation, Origin, OriginRecord, Path, Store, StoreError, StoredModule,
    Transaction,
};
use crate::trace::Timer;
use crate::value::{Repr, Value};

pub use builder::EngineBuilder;
use change::ModuleSource;
pub use change::{Change, CheckOptions};
use committing::{PendingCommit, make};
use compiling::CompileMode;
pub use definition::Definition;
pub use dependencies::Dependencies;
pub use loading::{FileLoad, LoadReport};

/// A policy engine: modules and base documents, compiled once, evaluated from any number of threads.
///
/// Cheap to clone; clones are the same engine. Readers never block: each evaluation reads the program and the documents
/// of one snapshot.
///
/// ```
/// use solon::{Engine, Request, Value};
///
/// let engine = Engine::new();
/// engine.set_module("authz.rego", r#"
///     package authz
///     allow if input.user in data.admins
/// "#)?;
/// engine.put("data.admins", Value::from(vec![Value::from("alice")]))?;
///
/// let allow = engine.prepare_document("data.authz.allow")?;
/// let input = Value::object(vec![("user".into(), "alice".into())]);
/// assert_eq!(allow.evaluate(&Request::new().input(&input))?, Some(Value::from(true)));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    version: Version,
    options: Options,
    shared: Arc<EngineShared>,
    /// Store that persists changes, if there is one.
    store: OnceLock<Arc<dyn Store>>,
    functions: Vec<HostFunction>,
    allow_base_conflicts: bool,
    /// Maps a module's name to its file name.
    file_name: fn(&str) -> &str,
    /// The writer lock, held from the time a change reads the current snapshot until its own snapshot is published.
    /// Readers never lock it.
    changing: Mutex<OriginRecord>,
    next_source: AtomicU32,
    /// Corrupts each program after it is compiled. Tests use it to check how violated invariants are reported.
    #[cfg(test)]
    damage: Mutex<Option<fn(&mut Program)>>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// Returns an engine with the defaults of [`EngineBuilder`], without policies and documents.
    pub fn new() -> Self {
        EngineBuilder::default().build()
    }

    /// Returns a builder for an engine. Functions and options can only be set before it is built.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Adds or replaces a module.
    ///
    /// # Errors
    /// [`Error::Compile`] if the module does not parse, or if all modules together do not compile. The engine is
    /// unchanged then.
    pub fn set_module(&self, name: &str, text: &str) -> Result<(), Error> {
        self.set_modules([(name, text)])
    }

    /// Adds or replaces several modules at once.
    ///
    /// # Errors
    /// Errors of [`Self::set_module`].
    pub fn set_modules<'t>(
        &self,
        modules: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<(), Error> {
        let mut change = Change::default();
        for (name, text) in modules {
            change.set_module(name, text);
        }
        self.apply(change)
    }

    /// Removes a module.
    ///
    /// # Errors
    /// [`Error::UnknownModule`] if no module has that name, [`Error::Compile`] if other modules need it.
    pub fn remove_module(&self, name: &str) -> Result<(), Error> {
        let mut change = Change::default();
        change.remove_module(name);
        self.apply(change)
    }

    /// Changes modules and base documents atomically.
    ///
    /// # Errors
    /// [`Error::Compile`], [`Error::Store`] or [`Error::UnknownModule`]. The engine is unchanged then.
    pub fn apply(&self, change: Change) -> Result<(), Error> {
        self.apply_with(|_| Ok(change), Timer::default())
    }

    /// Applies a change that depends on the current snapshot. `change` is called with it under the writer lock, so no
    /// other change is applied between its reads and its writes. It must not change the engine itself: that would
    /// deadlock. An empty change does nothing. `timer` receives the durations of parsing and compiling.
    ///
    /// ```
    /// use solon::{Change, Engine, Error, Snapshot};
    ///
    /// let engine = Engine::new();
    /// // only one of several threads adds the module
    /// let add = |now: &Snapshot| {
    ///     let mut change = Change::default();
    ///     if now.module("p.rego").is_none() {
    ///         change.set_module("p.rego", "package p");
    ///     }
    ///     Ok::<_, Error>(change)
    /// };
    /// engine.apply_with(add, Default::default())?;
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of `change` and of [`Self::apply`]. The engine is unchanged then.
    pub fn apply_with<E: From<Error>>(
        &self,
        change: impl FnOnce(&Snapshot) -> Result<Change, E>,
        timer: Timer<'_>,
    ) -> Result<(), E> {
        let mut record = self.inner.changing.lock();
        let now = self.snapshot();
        let Change { modules, writes } = change(&now)?;
        let before = now.into_state();
        if modules.is_empty() && writes.is_empty() {
            return Ok(());
        }
        let edit = |transaction: &mut Transaction| make(writes, transaction);
        let options = CompileMode::with_plans(self.inner.options.strict);
        let next = self.prepare_commit(&before, modules, edit, options, timer)?;
        Ok(self.inner.commit_of_client(before, next, &mut record)?)
    }

    /// Loads files and folders by OPA's rules ([`Loader`]): modules are added or replaced, documents merged into
    /// existing documents.
    ///
    /// # Errors
    /// [`Error::Load`] with everything that cannot be read, and those of [`Self::apply`]. The engine is unchanged then.
    pub fn load<P: AsRef<str>>(&self, files: &dyn Files, paths: &[P]) -> Result<(), Error> {
        let mut change = Change::default();
        change.load(&self.loader(files)?.load(paths)?);
        self.apply(change)
    }

    /// Returns a loader that parses modules as this engine does.
    ///
    /// # Errors
    /// [`Error::Compile`] for capabilities that this engine's Rego does not have.
    pub fn loader<'f>(&self, files: &'f dyn Files) -> Result<Loader<'f>, Error> {
        let options = self.inner.parse_options(self.inner.version)?;
        Ok(Loader::new(files).parse_options(options))
    }

    /// Compiles changed modules on top of `before` and calls `edit` to change the documents.
    fn prepare_commit(
        &self,
        before: &SnapshotState,
        change: Vec<(String, Option<ModuleSource>)>,
        edit: impl FnOnce(&mut Transaction) -> Result<(), StoreError>,
        CompileMode { strict, plans }: CompileMode,
        timer: Timer<'_>,
    ) -> Result<PendingCommit, Error> {
        let mut modules = BTreeMap::clone(&before.policy.modules);
        let mut errors = Vec::new();
        let mut laps = timer.start();
        let mut changes = Vec::with_capacity(change.len());
        let is_text = |(_, text): &(String, Option<ModuleSource>)| {
            matches!(text, Some(ModuleSource::Source(..)))
        };
        let parses = change.iter().any(is_text);
        for (name, module) in self.parse_change(change) {
            let module = match module {
                Some(Ok(module)) => module,
                Some(Err(diagnostics)) => {
                    errors.extend(diagnostics.0);
                    continue;
                }
                None => {
                    if modules.remove(&name).is_none() {
                        return Err(Error::UnknownModule { name });
                    }
                    changes.push((name, None));
                    continue;
                }
            };
            let module_to_store = StoredModule {
                name: name.clone(),
                text: module.source.text.clone(),
                version: module.version,
                origin: Origin::Client,
            };
            changes.push((name.clone(), Some(module_to_store)));
            modules.insert(name, module);
        }
        if !errors.is_empty() {
            return Err(Error::Compile(Diagnostics(errors)));
        }
        if parses {
            laps.end(|| "rego_module_parse".to_owned());
        }
        let mut transaction = Transaction::new(&before.documents);
        edit(&mut transaction)?;
        let policy = if changes.is_empty() && strict == self.inner.options.strict {
            self.inner.check_conflicts(before, &transaction)?;
            None
        } else {
            let options = CompileMode { strict, plans };
            Some(self.compile(&before.policy, modules, &transaction, options, timer)?)
        };
        laps.end(|| "rego_module_compile".to_owned());
        Ok(PendingCommit {
            policy,
            transaction,
            modules: changes,
            origins: before.module_origins.clone(),
        })
    }

    /// Changes base documents by a function. If it fails, nothing changes. No other change is applied between its reads
    /// and its writes.
    ///
    /// # Errors
    /// Errors of `change`, and [`Error::Store`] if a document conflicts with the document of a rule.
    pub fn edit<T, E: From<Error>>(
        &self,
        change: impl FnOnce(&mut Transaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let inner = &*self.inner;
        let mut record = inner.changing.lock();
        let before = inner.shared.now.pin();
        let mut transaction = Transaction::new(&before.documents);
        let result = change(&mut transaction)?;
        inner.check_conflicts(&before, &transaction)?;
        let next = PendingCommit {
            policy: None,
            transaction,
            modules: Vec::new(),
            origins: before.module_origins.clone(),
        };
        inner.commit_of_client(before, next, &mut record)?;
        Ok(result)
    }

    /// Returns the current policy and base documents, so that several decisions use the same ones.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.now())
    }

    /// Returns the limits of evaluations that set none of their own.
    pub fn limits(&self) -> &Limits {
        &self.inner.shared.limits
    }

    /// Returns `true` if the engine has host functions ([`EngineBuilder::function`]), which other engines may not know.
    pub fn has_functions(&self) -> bool {
        !self.inner.functions.is_empty()
    }

    /// Returns the number of changes so far, of policy or of documents.
    pub fn generation(&self) -> u64 {
        self.now().generation
    }

    /// Returns the names of all modules in order, as of now.
    pub fn module_names(&self) -> Vec<String> {
        self.now().policy.modules.keys().cloned().collect()
    }

    /// Returns the plans of all modules as text for people. The format may change.
    pub fn dump(&self) -> String {
        dump::program(&self.now().policy.program)
    }

    /// Returns a line for each rule: its location, its document, and the conditions of the rule index or the reason why
    /// each decision evaluates the rule. For people; the format may change.
    pub fn indexed(&self) -> String {
        dump::indexed(&self.now().policy.program)
    }

    /// Returns how much work the last change of modules caused.
    pub fn work(&self) -> Work {
        self.now().policy.compiled.work
    }

    /// Returns all modules as they were parsed, by name.
    pub fn modules(&self) -> Vec<(String, Arc<Module>)> {
        let modules = self.now();
        let modules = modules.policy.modules.iter();
        modules
            .map(|(name, module)| (name.clone(), module.clone()))
            .collect()
    }

    /// Returns a module as it was parsed, or `None` if there is none.
    pub fn module(&self, name: &str) -> Option<Arc<Module>> {
        self.now().policy.modules.get(name).cloned()
    }

    /// Returns the current base documents.
    pub fn data_snapshot(&self) -> Arc<DataSnapshot> {
        self.now().documents.clone()
    }

    fn now(&self) -> Arc<SnapshotState> {
        self.inner.shared.now.pin()
    }

    /// Frees earlier policies and documents that ended evaluations have released since the last change. The next change
    /// frees them as well; call this if documents are large and seldom change.
    pub fn free_earlier(&self) {
        self.inner.shared.now.free_retired();
    }

    /// Returns a base document by its name, such as `data.users.alice` or `users/alice` ([`Path`]).
    ///
    /// # Errors
    /// [`Error::Store`] if there is none, [`Error::Options`] if the text does not name a document.
    pub fn read(&self, document: &str) -> Result<Value, Error> {
        Ok(self.data_snapshot().read(&document.parse()?)?.clone())
    }

    /// Writes a base document by its name, such as `data.users.alice` or `users/alice` ([`Path`]), and creates missing objects
    /// around it.
    ///
    /// # Errors
    /// [`Error::Options`] if the text does not name a document; [`Error::Store`] if the path leads through a value that is not an object, or into a rule's document.
    pub fn put(&self, document: &str, value: Value) -> Result<(), Error> {
        let mut change = Change::default();
        change.put(document.parse()?, value);
        self.apply(change)
    }

    /// Removes a base document by its name ([`Path`]).
    ///
    /// # Errors
    /// [`Error::Store`] if there is none, [`Error::Options`] if the text does not name a document.
    pub fn remove(&self, document: &str) -> Result<(), Error> {
        let mut change = Change::default();
        change.write(Operation::Remove, document.parse()?, Value(Repr::Null));
        self.apply(change)
    }
}

impl Inner {
    /// Returns the parser options for modules and queries of a version.
    fn parse_options(&self, version: Version) -> Result<ParseOptions, Diagnostics> {
        match &self.options.capabilities {
            Some(capabilities) => capabilities.parse_options(version),
            None => Ok(ParseOptions::from_version(version)),
        }
    }

    /// Rejects base documents at paths of rules, unless the engine allows them.
    fn check_conflicts(
        &self,
        before: &SnapshotState,
        transaction: &Transaction,
    ) -> Result<(), Error> {
        if self.allow_base_conflicts || transaction.writes().is_empty() {
            return Ok(());
        }
        match before.policy.program.tree.conflict(transaction.root()) {
            None => Ok(()),
            Some(path) => Err(StoreError::Conflict {
                message: Path::new(path).to_string(),
            }
            .into()),
        }
    }
}
