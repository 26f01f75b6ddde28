//! Loads of files, which replace the files of earlier loads and keep the changes of clients.

mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use solon_syntax::ast::Module;

use self::modules::{ModuleChanges, in_force, of_store};
use super::Engine;
use super::change::ModuleSource;
use super::compiling::CompileMode;
use crate::bundle::Loaded;
use crate::error::Error;
use crate::snapshot::SnapshotState;
use crate::store::{
    ClaimChanges, DataSnapshot, DocumentLoad, ModuleOrigins, Origin, OriginChanges, OriginRecord,
    Path, StoreError, StoredModule, StoredOrigins, Transaction, is_same, replace,
};
use crate::trace::Timer;
use crate::value::{Object, Value};

/// All policies and documents that files give ([`Engine::load_files`]).
#[derive(Clone, Debug)]
pub struct FileLoad<'l> {
    modules: &'l BTreeMap<String, String>,
    parsed: &'l BTreeMap<String, Arc<Module>>,
    policy_id: fn(&str) -> &str,
    locations: BTreeMap<String, String>,
    documents: Value,
    fixed: Vec<(Path, Value)>,
}

impl<'l> FileLoad<'l> {
    /// Takes the policies and documents that a loader has read.
    pub fn new(loaded: &'l Loaded) -> Self {
        Self {
            modules: &loaded.modules,
            parsed: &loaded.parsed,
            policy_id: |name| name,
            locations: BTreeMap::new(),
            documents: loaded.documents.clone(),
            fixed: Vec::new(),
        }
    }

    /// Sets the function from names of policies to the ids that clients use. Default: the name. Policies with the same
    /// id are one policy: a client's policy with that id overrides the file's.
    #[must_use]
    pub fn identified(mut self, policy_id: fn(&str) -> &str) -> Self {
        self.policy_id = policy_id;
        self
    }

    /// Sets the absolute path of the file of each policy, by the policy's name. It identifies a policy that a client
    /// has replaced if a later load spells its path differently.
    #[must_use]
    pub fn located(mut self, location: impl Fn(&str) -> Option<String>) -> Self {
        let names = self.modules.keys();
        let located = names.filter_map(|name| Some((name.clone(), location(name)?)));
        self.locations = located.collect();
        self
    }

    fn id<'n>(&self, name: &'n str) -> &'n str {
        (self.policy_id)(name)
    }

    /// Adds a document of the program itself. It replaces the documents of files and clients at that path.
    #[must_use]
    pub fn document(mut self, path: Path, value: Value) -> Self {
        self.fixed.push((path, value));
        self
    }
}

/// Parts of a load that are not in effect, and parts in effect that no file contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadReport {
    /// Documents of files that a client wrote or removed.
    pub overridden_documents: Vec<Path>,
    /// Documents of the program itself ([`FileLoad::document`]) that are not in effect because a client wrote a value
    /// other than an object around them.
    pub overridden_fixed: Vec<Path>,
    /// Policies of files that a client wrote or removed.
    pub overridden_modules: Vec<String>,
    /// Documents in effect that no file contains and whose origin was not recorded.
    pub unknown_documents: Vec<Path>,
    /// Policies in effect that no file contains and whose origin was not recorded.
    pub unknown_modules: Vec<String>,
}

impl Engine {
    /// Loads files in place of those of the last call, as one change: policies and documents of removed files are
    /// removed. What a client wrote or removed since ([`Self::apply`], [`Self::edit`]) stays as the client left it.
    /// After a restart, an engine with a store recognizes the files that earlier processes loaded.
    ///
    /// ```
    /// use solon::bundle::{Loader, MemoryFiles};
    /// use solon::{Engine, FileLoad};
    ///
    /// let engine = Engine::new();
    /// let files = MemoryFiles::from([("users.json", r#"{"users": {"alice": 1, "bob": 2}}"#)]);
    /// let loaded = Loader::new(&files).load(&["users.json"]).unwrap();
    /// engine.load_files(FileLoad::new(&loaded))?;
    /// engine.put("data.users.carol", 3.into())?;
    ///
    /// let files = MemoryFiles::from([("renamed.json", r#"{"users": {"alice": 1}}"#)]);
    /// let loaded = Loader::new(&files).load(&["renamed.json"]).unwrap();
    /// engine.load_files(FileLoad::new(&loaded))?;
    /// assert_eq!(engine.read("data.users")?, solon::value!({"alice": 1, "carol": 3}));
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`Self::apply`]. The engine and its record of origins are unchanged then.
    pub fn load_files(&self, load: FileLoad<'_>) -> Result<LoadReport, Error> {
        let mut record = self.inner.changing.lock();
        let before = self.now();
        let first = before.module_origins.is_none();
        let first = first.then(|| first_record(&before));
        let hidden_modules = &first.as_ref().unwrap_or(&record).origins.hidden;
        let mut modules = ModuleChanges::compute(
            &in_force(&before),
            hidden_modules,
            &load,
            self.inner.version,
        );
        let start = LoadBase {
            compiled: std::mem::take(&mut modules.changes),
            origins: before.module_origins.clone().unwrap_or_default(),
            always_publishes: first.is_some(),
            before,
        };
        self.replace_files(start, modules, load, first, &mut record)
    }

    /// Compiles the modules of a store and publishes them. Nothing is written to the store.
    ///
    /// # Errors
    /// They do not compile together.
    pub(super) fn start_from(&self, stored_modules: &[StoredModule]) -> Result<(), Error> {
        let mut record = self.inner.changing.lock();
        let before = self.now();
        let modules = stored_modules.iter().map(text_of).collect();
        let options = CompileMode::with_plans(self.inner.options.strict);
        let mut next =
            self.prepare_commit(&before, modules, |_| Ok(()), options, Timer::default())?;
        // the store has them already
        next.modules.clear();
        next.origins = Some(origins_of(stored_modules));
        let origins = OriginChanges::default();
        self.inner.commit(before, next, &origins, &mut record)
    }

    /// Loads files on top of the contents of a store. Modules of earlier loads that the files replace need not compile.
    pub(super) fn load_onto(
        &self,
        stored_modules: &[StoredModule],
        load: FileLoad<'_>,
    ) -> Result<LoadReport, Error> {
        let mut record = self.inner.changing.lock();
        let before = of_store(stored_modules);
        let hidden_modules = &record.origins.hidden;
        let mut modules =
            ModuleChanges::compute(&before, hidden_modules, &load, self.inner.version);
        let changes = std::mem::take(&mut modules.changes);
        // no module is in effect yet, so none is removed, and unchanged ones are compiled with the new ones
        let is_kept = |module: &&StoredModule| !modules.changed.contains(&module.name);
        let unchanged = stored_modules.iter().filter(is_kept).map(text_of);
        let new = changes.into_iter().filter(|(_, text)| text.is_some());
        let start = LoadBase {
            compiled: unchanged.chain(new).collect(),
            origins: origins_of(stored_modules),
            always_publishes: true,
            before: self.now(),
        };
        self.replace_files(start, modules, load, None, &mut record)
    }

    /// Applies the changes of a load. `first` is the record of an engine that has not recorded origins yet.
    fn replace_files(
        &self,
        start: LoadBase,
        modules: ModuleChanges,
        load: FileLoad<'_>,
        mut first: Option<OriginRecord>,
        record: &mut OriginRecord,
    ) -> Result<LoadReport, Error> {
        let before = start.before;
        let target = first.as_mut().unwrap_or(record);
        let documents = with_fixed(&load)?;
        let mut outcome = DocumentLoad::default();
        let mut overridden_fixed = Vec::new();
        let edit = |transaction: &mut Transaction| {
            outcome = replace(transaction, &target.origins.claims, &documents)?;
            for (path, value) in &load.fixed {
                set_fixed(transaction, path, value, &mut overridden_fixed)?;
            }
            Ok(())
        };
        let options = CompileMode::with_plans(self.inner.options.strict);
        let mut next =
            self.prepare_commit(&before, start.compiled, edit, options, Timer::default())?;
        next.origins = Some(start.origins);
        next.modules = stored_changes(next.modules, modules.changed);
        let root = next.transaction.root();
        let is_overridden = |path: &Path| is_overridden(path, &load, &documents, root);
        outcome.overridden.retain(is_overridden);
        let changes = OriginChanges {
            claims: outcome
                .claims
                .map_or_else(ClaimChanges::default, ClaimChanges::All),
            hidden: (modules.hidden != target.origins.hidden).then_some(modules.hidden),
        };
        let is_same = next.modules.is_empty() && next.transaction.writes().is_empty();
        if start.always_publishes || !is_same || !changes.is_empty() {
            self.inner.commit(before, next, &changes, target)?;
        }
        target.loaded = outcome.loaded;
        target.locations = load.locations;
        if let Some(first) = first {
            *record = first;
        }
        Ok(LoadReport {
            overridden_documents: outcome.overridden,
            overridden_fixed,
            overridden_modules: modules.overridden,
            unknown_documents: outcome.unknown,
            unknown_modules: modules.unknown,
        })
    }

    /// Returns the origin of a module in effect, as [`Snapshot::module_origin`](crate::Snapshot::module_origin).
    pub fn module_origin(&self, name: &str) -> Origin {
        self.now().module_origin(name)
    }
}

/// The state that a load starts from.
struct LoadBase {
    /// Modules to compile, and names of modules in effect to remove.
    compiled: Vec<(String, Option<ModuleSource>)>,
    origins: Arc<ModuleOrigins>,
    /// `true` if a snapshot is published even if the load changes nothing.
    always_publishes: bool,
    before: Arc<SnapshotState>,
}

/// Returns a module of a store in the form that the compiler takes.
fn text_of(module: &StoredModule) -> (String, Option<ModuleSource>) {
    let text = ModuleSource::Source(module.text.to_string(), Some(module.version));
    (module.name.clone(), Some(text))
}

fn origins_of(stored_modules: &[StoredModule]) -> Arc<ModuleOrigins> {
    let origins = stored_modules.iter();
    let origins = origins.map(|module| (module.name.clone(), module.origin));
    Arc::new(origins.collect())
}

/// Returns the changes of modules that a store must persist: the compiled modules that the load has changed, and those
/// that it has removed.
fn stored_changes(
    compiled: Vec<(String, Option<StoredModule>)>,
    changed_names: BTreeSet<String>,
) -> Vec<(String, Option<StoredModule>)> {
    let mut compiled: BTreeMap<String, Option<StoredModule>> = compiled.into_iter().collect();
    let changed_modules = changed_names.into_iter().map(|name| {
        let module = compiled.remove(&name).flatten();
        let module = module.map(|module| module.with_origin(Origin::Files));
        (name, module)
    });
    changed_modules.collect()
}

/// Returns `true` if files contain a document at the path that is not in effect. Documents of the program itself do not
/// count as files.
fn is_overridden(path: &Path, load: &FileLoad<'_>, of_load: &Value, in_force: &Value) -> bool {
    let of_files = path.find(&load.documents);
    let is_given = of_files.is_some_and(|document| {
        !path.segments().is_empty() || document.as_object().is_none_or(|root| !root.is_empty())
    });
    let is_equal = || {
        let pair = path.find(of_load).zip(path.find(in_force));
        pair.is_some_and(|(new_value, in_force)| is_same(new_value, in_force))
    };
    is_given && !is_equal()
}

/// Returns the record of an engine that has not recorded origins yet. Existing documents have unknown origins.
fn first_record(before: &SnapshotState) -> OriginRecord {
    let documents = before.documents.root().as_object();
    let origins = if documents.is_some_and(Object::is_empty) {
        StoredOrigins::default()
    } else {
        StoredOrigins::unknown()
    };
    OriginRecord::stored(origins)
}

/// Returns the documents of a load together with those of the program.
fn with_fixed(load: &FileLoad<'_>) -> Result<Value, StoreError> {
    let mut documents = Transaction::new(&DataSnapshot::new(load.documents.clone(), 0));
    for (path, value) in &load.fixed {
        documents.put(path, value.clone())?;
    }
    Ok(documents.root().clone())
}

/// Sets a document of the program, unless a client has written a value other than an object around it.
fn set_fixed(
    transaction: &mut Transaction,
    path: &Path,
    value: &Value,
    overridden: &mut Vec<Path>,
) -> Result<(), StoreError> {
    if transaction.read(path).is_ok_and(|old| old == value) {
        return Ok(());
    }
    match transaction.put(path, value.clone()) {
        Err(StoreError::Conflict { .. }) => {
            overridden.push(path.clone());
            Ok(())
        }
        result => result,
    }
}
