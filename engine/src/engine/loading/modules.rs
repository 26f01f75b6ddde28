//! Modules of a load of files: which change, and which are overridden by changes of clients.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path as FilePath;

use solon_syntax::ast::Version;

use super::FileLoad;
use crate::engine::change::ModuleSource;
use crate::snapshot::SnapshotState;
use crate::store::{HiddenModule, Origin, StoredModule, digest, sort_hidden};

#[derive(Clone, Copy)]
pub struct ModuleBefore<'m> {
    pub text: &'m str,
    pub version: Version,
    pub origin: Origin,
}

pub type ModulesBefore<'m> = BTreeMap<&'m str, ModuleBefore<'m>>;

/// Returns the modules that are in effect, by name.
pub fn in_force(state: &SnapshotState) -> ModulesBefore<'_> {
    let modules = state.policy.modules.iter();
    let modules = modules.map(|(name, module)| {
        let before = ModuleBefore {
            text: &module.source.text,
            version: module.version,
            origin: match &state.module_origins {
                Some(origins) => origins.get(name).copied().unwrap_or_default(),
                None => Origin::Unknown,
            },
        };
        (&**name, before)
    });
    modules.collect()
}

/// Returns the modules of a store, which may not compile, by name.
pub fn of_store(modules: &[StoredModule]) -> ModulesBefore<'_> {
    let modules = modules.iter().map(|module| {
        let before = ModuleBefore {
            text: &module.text,
            version: module.version,
            origin: module.origin,
        };
        (&*module.name, before)
    });
    modules.collect()
}

/// Changes of modules by a load, before they are compiled.
pub struct ModuleChanges {
    pub changes: Vec<(String, Option<ModuleSource>)>,
    pub changed: BTreeSet<String>,
    /// All policies of files that are not in effect, in order of their names.
    pub hidden: Vec<HiddenModule>,
    pub overridden: Vec<String>,
    pub unknown: Vec<String>,
}

impl ModuleChanges {
    /// Compares the modules of a load with those before it. `hidden_before` contains the policies of files that were
    /// not in effect, in order of their names.
    pub fn compute(
        before: &ModulesBefore<'_>,
        hidden_before: &[HiddenModule],
        load: &FileLoad<'_>,
        version: Version,
    ) -> Self {
        let (hidden_modules, overridden) = hidden_by_load(before, hidden_before, load);
        let in_force = |name: &str| !overridden.contains(name);
        let effective = load.modules.iter().filter(|(name, _)| in_force(name));
        let ids: BTreeSet<_> = effective.clone().map(|(name, _)| load.id(name)).collect();
        // only policies of unknown origin need it
        let digests = LazyCell::new(|| -> BTreeSet<_> {
            let texts = effective.clone().map(|(_, text)| digest(text));
            texts.collect()
        });
        let mut changes = Vec::new();
        let mut unknown = Vec::new();
        for (&name, module) in before {
            let is_given = load.modules.contains_key(name) && in_force(name);
            match module.origin {
                _ if is_given => {}
                Origin::Files => changes.push((name.to_owned(), None)),
                // the same policy, whose file was renamed or is spelled differently
                Origin::Unknown
                    if ids.contains(load.id(name)) || digests.contains(&digest(module.text)) =>
                {
                    changes.push((name.to_owned(), None));
                }
                Origin::Unknown => unknown.push(name.to_owned()),
                Origin::Client => {}
            }
        }
        for (name, text) in effective {
            let parsed = load.parsed.get(name);
            let parsed_version = parsed.map_or(version, |module| module.version);
            let is_same = before.get(&**name).is_some_and(|module| {
                module.text == text
                    && module.version == parsed_version
                    && module.origin == Origin::Files
            });
            if !is_same {
                let text = match parsed {
                    Some(module) => ModuleSource::Parsed(module.clone()),
                    None => ModuleSource::Source(text.clone(), None),
                };
                changes.push((name.clone(), Some(text)));
            }
        }
        Self {
            changed: changes.iter().map(|(name, _)| name.clone()).collect(),
            changes,
            hidden: hidden_modules,
            overridden: overridden.into_iter().collect(),
            unknown,
        }
    }
}

/// Finds the policies of a load that clients have replaced or removed: by id, by the file's absolute path, or, where a file was
/// renamed, by content.
fn hidden_by_load(
    before: &ModulesBefore<'_>,
    hidden_before: &[HiddenModule],
    load: &FileLoad<'_>,
) -> (Vec<HiddenModule>, BTreeSet<String>) {
    let mut hidden_modules = hidden_before.to_vec();
    let mut names_by_index: BTreeMap<usize, String> = BTreeMap::new();
    let mut overridden = BTreeSet::new();
    let names = load.modules.keys();
    let names_of: BTreeMap<&str, &String> = names.map(|name| (load.id(name), name)).collect();
    for (index, module) in hidden_modules.iter().enumerate() {
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
            names_by_index.insert(index, name.clone());
        }
    }
    // files that existed before are different policies with the same content
    let digests = LazyCell::new(|| -> BTreeMap<&str, [u8; 32]> {
        let names = load.modules.iter();
        let of_files = |name: &str| {
            let module = before.get(name);
            module.is_some_and(|module| module.origin == Origin::Files)
        };
        let new = names.filter(|(name, _)| !of_files(name));
        new.map(|(name, text)| (&**name, digest(text))).collect()
    });
    let file_name = |name: &str| FilePath::new(name).file_name().map(ToOwned::to_owned);
    for (index, module) in hidden_modules.iter().enumerate() {
        if names_by_index.contains_key(&index) {
            continue;
        }
        let renamed = digests
            .iter()
            .filter(|(name, digest)| **digest == module.digest && !overridden.contains(**name));
        let best = renamed.max_by_key(|(name, _)| file_name(name) == file_name(&module.name));
        if let Some((name, _)) = best {
            let name = (*name).to_owned();
            overridden.insert(name.clone());
            names_by_index.insert(index, name);
        }
    }
    let entry = |name: &str| {
        let text = load.modules.get(name)?;
        let location = load.locations.get(name).cloned();
        Some(HiddenModule::new(name, location, digest(text)))
    };
    for (index, name) in names_by_index {
        if let (Some(old), Some(new)) = (hidden_modules.get_mut(index), entry(&name)) {
            *old = new;
        }
    }
    let clients = before.iter();
    let clients = clients.filter(|(_, module)| module.origin == Origin::Client);
    let clients = clients.map(|(name, _)| load.id(name));
    let ids = overridden.iter().map(|name| load.id(name));
    let ids: BTreeSet<String> = ids.chain(clients).map(str::to_owned).collect();
    for name in load.modules.keys() {
        if ids.contains(load.id(name)) && overridden.insert(name.clone()) {
            hidden_modules.extend(entry(name));
        }
    }
    // two entries may have matched the same file
    sort_hidden(&mut hidden_modules);
    hidden_modules.dedup_by(|a, b| a.name == b.name);
    (hidden_modules, overridden)
}
