//! Loads of files that replace what earlier loads gave, and leave what clients wrote.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path as FilePath;
use std::sync::Arc;

use solon_syntax::ast::Module;

use super::Engine;
use super::change::Text;
use crate::bundle::Loaded;
use crate::error::Error;
use crate::moment::State;
use crate::store::{
    ClaimChanges, HiddenModule, Origin, OriginChanges, OriginRecord, Origins, Path, Replaced,
    Snapshot, StoreError, Transaction, digest, replace,
};
use crate::trace::Timer;
use crate::value::{Object, Value};

/// All policies and documents that files give ([`Engine::load_files`]).
#[derive(Clone, Debug)]
pub struct FileLoad<'l> {
    modules: &'l BTreeMap<String, String>,
    policy_id: fn(&str) -> &str,
    locations: BTreeMap<String, String>,
    documents: Value,
    fixed: Vec<(Path, Value)>,
}

impl<'l> FileLoad<'l> {
    /// The policies and documents that a loader has read.
    pub fn new(loaded: &'l Loaded) -> Self {
        Self {
            modules: &loaded.modules,
            policy_id: |name| name,
            locations: BTreeMap::new(),
            documents: loaded.documents.clone(),
            fixed: Vec::new(),
        }
    }

    /// Sets the function from names of policies to the ids by which clients know them; the id is the name unless set. Policies in
    /// force with one id are one policy: what a client wrote under it hides the file's.
    #[must_use]
    pub fn identified(mut self, policy_id: fn(&str) -> &str) -> Self {
        self.policy_id = policy_id;
        self
    }

    /// Sets the absolute path of the file of each policy, by the policy's name. By it a policy that a client has replaced is
    /// recognized when a later load spells its path differently.
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

    /// Adds a document of the program itself. It replaces what files and clients wrote there.
    #[must_use]
    pub fn document(mut self, path: Path, value: Value) -> Self {
        self.fixed.push((path, value));
        self
    }
}

/// Parts of a load that are not in force, and parts in force that no file gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadReport {
    /// Documents of files that a client wrote or removed.
    pub overridden_documents: Vec<Path>,
    /// Policies of files that a client wrote or removed.
    pub overridden_modules: Vec<String>,
    /// Documents in force that no file gives and whose origin was not recorded.
    pub unknown_documents: Vec<Path>,
    /// Policies in force that no file gives and whose origin was not recorded.
    pub unknown_modules: Vec<String>,
}

impl Engine {
    /// Loads files in place of those that the last call loaded, as one change: policies and documents of files that are gone are
    /// removed. What a client wrote or removed since ([`Self::apply`], [`Self::edit`]) stays as the client left it. An engine
    /// with a store recognizes after a restart what earlier processes loaded.
    ///
    /// ```
    /// use solon::bundle::{Loader, MemoryFiles};
    /// use solon::{Engine, FileLoad};
    ///
    /// let engine = Engine::new();
    /// let files = MemoryFiles::from([("users.json", r#"{"users": {"alice": 1, "bob": 2}}"#)]);
    /// let loaded = Loader::new(&files).load(&["users.json"]).unwrap();
    /// engine.load_files(FileLoad::new(&loaded))?;
    /// engine.put("users/carol", 3.into())?;
    ///
    /// let files = MemoryFiles::from([("renamed.json", r#"{"users": {"alice": 1}}"#)]);
    /// let loaded = Loader::new(&files).load(&["renamed.json"]).unwrap();
    /// engine.load_files(FileLoad::new(&loaded))?;
    /// assert_eq!(engine.read("users")?, solon::value!({"alice": 1, "carol": 3}));
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Self::apply`]. Nothing has changed then.
    pub fn load_files(&self, load: FileLoad<'_>) -> Result<LoadReport, Error> {
        let inner = &*self.inner;
        let mut record = inner.changing.lock();
        let before = self.now();
        if !record.is_recorded {
            *record = unrecorded(&before);
        }
        let modules = ModuleChanges::of(&record, &before.policy.modules, &load, inner.version);
        let documents = with_fixed(&load)?;
        let mut replaced = Replaced::default();
        let edit = |transaction: &mut Transaction| {
            replaced = replace(transaction, &record.origins.claims, &documents)?;
            for (path, value) in &load.fixed {
                set_fixed(transaction, path, value, &mut replaced.overridden)?;
            }
            Ok(())
        };
        let mut next = self.next(&before, modules.changes, edit, Timer::default())?;
        for (_, module) in &mut next.modules {
            if let Some(module) = module {
                module.origin = Origin::Files;
            }
        }
        let origins = OriginChanges {
            claims: replaced
                .claims
                .map_or_else(ClaimChanges::default, ClaimChanges::All),
            hidden: (modules.hidden != record.origins.hidden).then_some(modules.hidden),
        };
        let is_same = next.modules.is_empty() && next.transaction.writes().is_empty();
        if !is_same || !origins.is_empty() {
            inner.commit(before, next, &origins, &mut record)?;
        }
        record.loaded = replaced.loaded;
        record.locations = load.locations;
        Ok(LoadReport {
            overridden_documents: replaced.overridden,
            overridden_modules: modules.overridden,
            unknown_documents: replaced.unknown,
            unknown_modules: modules.unknown,
        })
    }

    /// Returns the origin of a module that is in force: [`Origin::Client`], unless the engine has a store or has loaded files by
    /// [`Self::load_files`].
    pub fn module_origin(&self, name: &str) -> Origin {
        let record = self.inner.changing.lock();
        if record.is_recorded {
            record.of_module(name)
        } else {
            Origin::Client
        }
    }
}

/// The record of an engine that has not recorded origins yet.
fn unrecorded(before: &State) -> OriginRecord {
    let documents = before.documents.root().as_object();
    let origins = if documents.is_some_and(Object::is_empty) {
        Origins::default()
    } else {
        Origins::unknown()
    };
    OriginRecord::stored(origins, &[])
}

/// The documents of a load with those of the program.
fn with_fixed(load: &FileLoad<'_>) -> Result<Value, StoreError> {
    let mut documents = Transaction::on(&Snapshot::new(load.documents.clone(), 0));
    for (path, value) in &load.fixed {
        documents.put(path, value.clone())?;
    }
    Ok(documents.root().clone())
}

/// Sets a document of the program, unless a client has put something else than an object around it.
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
        done => done,
    }
}

/// Changes of modules by a load.
struct ModuleChanges {
    changes: Vec<(String, Option<Text>)>,
    hidden: Vec<HiddenModule>,
    overridden: Vec<String>,
    unknown: Vec<String>,
}

impl ModuleChanges {
    fn of(
        record: &OriginRecord,
        current: &BTreeMap<String, Arc<Module>>,
        load: &FileLoad<'_>,
        version: solon_syntax::ast::Version,
    ) -> Self {
        let (hidden, overridden) = hidden(record, load);
        let in_force = |name: &str| !overridden.contains(name);
        let given = load.modules.iter().filter(|(name, _)| in_force(name));
        let ids: BTreeSet<_> = given.clone().map(|(name, _)| load.id(name)).collect();
        // only policies of unknown origin need it
        let digests = LazyCell::new(|| -> BTreeSet<_> {
            let texts = given.clone().map(|(_, text)| digest(text));
            texts.collect()
        });
        let mut changes = Vec::new();
        let mut unknown = Vec::new();
        for (name, module) in current {
            let is_given = load.modules.contains_key(name) && in_force(name);
            match record.of_module(name) {
                _ if is_given => {}
                Origin::Files => changes.push((name.clone(), None)),
                // the same policy, whose file was renamed or is spelled differently
                Origin::Unknown
                    if ids.contains(load.id(name))
                        || digests.contains(&digest(&module.source.text)) =>
                {
                    changes.push((name.clone(), None));
                }
                Origin::Unknown => unknown.push(name.clone()),
                Origin::Client => {}
            }
        }
        for (name, text) in given {
            let is_same = current
                .get(name)
                .is_some_and(|module| *module.source.text == **text && module.version == version);
            if !is_same || record.of_module(name) != Origin::Files {
                changes.push((name.clone(), Some(Text::Source(text.clone(), None))));
            }
        }
        Self {
            changes,
            hidden,
            overridden: overridden.into_iter().collect(),
            unknown,
        }
    }
}

/// Finds the policies of a load that clients have replaced or removed: by id, by the file's absolute path, or, where a file was
/// renamed, by content.
fn hidden(record: &OriginRecord, load: &FileLoad<'_>) -> (Vec<HiddenModule>, BTreeSet<String>) {
    let mut hidden = record.origins.hidden.clone();
    let mut found: BTreeMap<usize, String> = BTreeMap::new();
    let mut overridden = BTreeSet::new();
    let names = load.modules.keys();
    let names_of: BTreeMap<&str, &String> = names.map(|name| (load.id(name), name)).collect();
    for (at, module) in hidden.iter().enumerate() {
        let by_location = || {
            let location = module.location.as_ref()?;
            let mut locations = load.locations.iter();
            locations.find_map(|(name, other)| (other == location).then_some(name))
        };
        let by_name = load.modules.get_key_value(&module.name);
        let by_name = by_name.map(|(name, _)| name);
        let by_id = || names_of.get(load.id(&module.name)).copied();
        if let Some(name) = by_name.or_else(by_id).or_else(by_location) {
            overridden.insert(name.clone());
            found.insert(at, name.clone());
        }
    }
    // files that were there already are other ones with the same content
    let digests = LazyCell::new(|| -> BTreeMap<&str, [u8; 32]> {
        let names = load.modules.iter();
        let new = names.filter(|(name, _)| record.of_module(name) != Origin::Files);
        new.map(|(name, text)| (&**name, digest(text))).collect()
    });
    let file_name = |name: &str| FilePath::new(name).file_name().map(ToOwned::to_owned);
    for (at, module) in hidden.iter().enumerate() {
        if found.contains_key(&at) {
            continue;
        }
        let renamed = digests
            .iter()
            .filter(|(name, digest)| **digest == module.digest && !overridden.contains(**name));
        let best = renamed.max_by_key(|(name, _)| file_name(name) == file_name(&module.name));
        if let Some((name, _)) = best {
            let name = (*name).to_owned();
            overridden.insert(name.clone());
            found.insert(at, name);
        }
    }
    let entry = |name: &str| {
        let text = load.modules.get(name)?;
        let location = load.locations.get(name).cloned();
        Some(HiddenModule::new(name, location, digest(text)))
    };
    for (at, name) in found {
        if let (Some(old), Some(new)) = (hidden.get_mut(at), entry(&name)) {
            *old = new;
        }
    }
    let clients = record.modules.iter();
    let clients = clients.filter(|(_, origin)| **origin == Origin::Client);
    let clients = clients.map(|(name, _)| load.id(name));
    let ids = overridden.iter().map(|name| load.id(name));
    let ids: BTreeSet<String> = ids.chain(clients).map(str::to_owned).collect();
    for name in load.modules.keys() {
        if ids.contains(load.id(name)) && overridden.insert(name.clone()) {
            hidden.extend(entry(name));
        }
    }
    // two entries may have come to the same file
    hidden.sort_by(|a, b| a.name.cmp(&b.name));
    hidden.dedup_by(|a, b| a.name == b.name);
    (hidden, overridden)
}
