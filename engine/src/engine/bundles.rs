//! Activating and deactivating bundles, each time as one change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use solon_syntax::ast::Module;
use solon_syntax::stack;

use super::Engine;
use super::change::ModuleSource;
use super::compiling::CompileMode;
use crate::bug::bug;
use crate::bundle::{
    Bundle, BundleKind, BundleReader, Files, LoadError, LoadErrors, PatchError, check_roots,
};
use crate::error::Error;
use crate::snapshot::{ActiveBundle, SnapshotState, active};
use crate::store::{DataSnapshot, Operation, Path, StoreError, Transaction, is_same};
use crate::trace::Timer;
use crate::value::{Object, Repr, Value};

impl Engine {
    /// Returns a reader of bundles that parses policies as this engine does. It does not parse policies again that the engine has with
    /// the same id and text.
    ///
    /// # Errors
    /// [`Error::Compile`] for capabilities that this engine's Rego does not have.
    pub fn bundle_reader(&self, name: &str) -> Result<BundleReader, Error> {
        let options = self.inner.parse_options(self.inner.version)?;
        let parsed = self.now().policy.modules.clone();
        Ok(BundleReader::new(name)
            .parse_options(options)
            .reusing(parsed))
    }

    /// Reads and activates the bundle at a path, an archive or a folder. Signed bundles need [`Self::bundle_reader`]
    /// with a key.
    ///
    /// # Errors
    /// [`Error::Load`], and those of [`Self::activate_bundle`].
    pub fn load_bundle(&self, name: &str, files: &dyn Files, path: &str) -> Result<(), Error> {
        let bundle = self.bundle_reader(name)?.read_path(files, path)?;
        self.activate_bundle(name, &bundle)
    }

    /// Activates a bundle. Its policies, documents and the facts at `data.system.bundles.<name>` become visible in one
    /// snapshot. They replace the policies and documents below its roots and below those of the bundle that had the
    /// name. A delta bundle changes documents of the bundle that has the name. Unchanged policies are not compiled
    /// again.
    ///
    /// ```
    /// use solon::bundle::{BundleFile, BundleReader};
    /// use solon::{Engine, Request};
    ///
    /// let file = |path: &str, text: &str| BundleFile { path: path.to_owned(), bytes: text.into() };
    /// let bundle = BundleReader::new("authz").read_files(vec![
    ///     file("/p.rego", "package authz\nallow if input.user in data.authz.admins"),
    ///     file("/authz/data.json", r#"{"admins": ["alice"]}"#),
    ///     file("/.manifest", r#"{"revision": "7", "roots": ["authz"]}"#),
    /// ])?;
    /// let engine = Engine::new();
    /// engine.activate_bundle("authz", &bundle)?;
    /// let input = solon::value!({"user": "alice"});
    /// assert!(engine.prepare_document("data.authz.allow")?.allow(&Request::new().input(&input))?);
    /// assert_eq!(engine.snapshot().bundles()[0].revision, "7");
    /// engine.deactivate_bundle("authz")?;
    /// assert!(engine.snapshot().bundles().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Load`] for roots that another bundle owns, and those of [`Self::apply`]. The engine is unchanged then.
    pub fn activate_bundle(&self, name: &str, bundle: &Bundle) -> Result<(), Error> {
        self.activate_bundles(&[(name, bundle)])
    }

    /// Activates several bundles as one change.
    ///
    /// # Errors
    /// Errors of [`Self::activate_bundle`].
    pub fn activate_bundles(&self, bundles: &[(&str, &Bundle)]) -> Result<(), Error> {
        self.change_bundles(bundles, &[])
    }

    /// Removes the policies, documents and facts of a bundle. Does nothing if no bundle has that name.
    ///
    /// # Errors
    /// [`Error::Compile`] if other policies need those of the bundle. The engine is unchanged then.
    pub fn deactivate_bundle(&self, name: &str) -> Result<(), Error> {
        self.change_bundles(&[], &[name])
    }

    fn change_bundles(&self, new: &[(&str, &Bundle)], removed: &[&str]) -> Result<(), Error> {
        let mut record = self.inner.changing.lock();
        let before = self.now();
        let current = active(before.documents.root());
        let changes = BundleChanges::compute(&current, new, removed)?;
        let modules = changes.modules(&before);
        let edit = |transaction: &mut Transaction| changes.documents(transaction);
        let options = CompileMode::with_plans(self.inner.options.strict);
        let next = self.prepare_commit(&before, modules, edit, options, Timer::default())?;
        if next.is_empty() {
            return Ok(());
        }
        self.inner.commit_of_client(before, next, &mut record)
    }
}

/// Bundles that are activated and deactivated.
struct BundleChanges<'b> {
    snapshots: Vec<(&'b str, &'b Bundle)>,
    deltas: Vec<(&'b str, &'b Bundle)>,
    /// Names of the bundles whose facts are removed.
    gone: Vec<&'b str>,
    /// Everything below these paths is replaced.
    erased: BTreeSet<Path>,
}

impl<'b> BundleChanges<'b> {
    fn compute(
        current: &[ActiveBundle],
        new: &[(&'b str, &'b Bundle)],
        removed: &[&'b str],
    ) -> Result<Self, Error> {
        let mut roots: BTreeMap<&str, Vec<Path>> = BTreeMap::new();
        for bundle in current {
            let paths = bundle.roots.iter();
            let paths = paths.map(|root| Path::from_slashes(root));
            roots.insert(&bundle.name, paths.collect());
        }
        let mut changes = Self {
            snapshots: Vec::new(),
            deltas: Vec::new(),
            gone: Vec::new(),
            erased: BTreeSet::new(),
        };
        for name in removed {
            if let Some(paths) = roots.remove(name) {
                changes.erased.extend(paths);
                changes.gone.push(name);
            }
        }
        for (name, bundle) in new {
            let paths = bundle.manifest.root_paths();
            let before = roots.insert(name, paths.clone());
            if bundle.kind() == BundleKind::Delta {
                bundle.check_patch().map_err(load_error)?;
                if before.is_some_and(|before| !is_same_set(before, paths)) {
                    return Err(load_error(format!(
                        "delta bundle '{name}' has wasm resolvers or manifest roots that are different from those in the store"
                    )));
                }
                changes.deltas.push((name, bundle));
                continue;
            }
            changes.erased.extend(before.into_iter().flatten());
            changes.erased.extend(paths);
            changes.snapshots.push((name, bundle));
        }
        check_roots(roots).map_err(load_error)?;
        Ok(changes)
    }

    /// Returns the changes of policies. Policies below erased paths are removed, except those that the new bundles
    /// contain unchanged.
    fn modules(&self, before: &SnapshotState) -> Vec<(String, Option<ModuleSource>)> {
        let new = self.snapshots.iter().flat_map(|(name, bundle)| {
            let id = Bundle::module_ids(name);
            let modules = bundle.modules.iter();
            modules.map(move |module| (id(&module.path), &module.module))
        });
        let new: BTreeMap<String, &Arc<Module>> = new.collect();
        let mut new = new.into_iter().peekable();
        let (mut removed, mut set) = (Vec::new(), Vec::new());
        // both are ordered by id
        for (id, module) in &*before.policy.modules {
            while let Some(added) = new.next_if(|(new_id, _)| new_id < id) {
                set.push(added);
            }
            match new.next_if(|(new_id, _)| new_id == id) {
                Some((_, new_module)) if is_same_module(new_module, module) => {}
                Some(changed) => set.push(changed),
                None if self.erases(module) => removed.push((id.clone(), None)),
                None => {}
            }
        }
        set.extend(new);
        let set = set.into_iter();
        removed.extend(set.map(|(id, module)| (id, Some(ModuleSource::Parsed(module.clone())))));
        removed
    }

    /// Returns `true` if the package of a module is below a path whose contents are replaced.
    fn erases(&self, module: &Module) -> bool {
        let steps = module.package.path.iter().skip(1);
        let steps = steps.filter_map(|step| Some(step.as_string()?.to_string()));
        let package = Path::new(steps);
        let mut erased = self.erased.iter();
        erased.any(|root| package.segments().starts_with(root.segments()))
    }

    /// Changes documents and facts in a transaction: erases the roots, then writes the documents of the new bundles.
    fn documents(&self, transaction: &mut Transaction) -> Result<(), StoreError> {
        let mut new = Transaction::new(&DataSnapshot::new(Value::object(Vec::new()), 0));
        for (_, bundle) in &self.snapshots {
            new.merge(&Path::default(), bundle.owned_documents())?;
        }
        let new = new.root();
        for path in &self.erased {
            if path.is_root() {
                replace_all(transaction, new)?;
            } else {
                replace(transaction, path, path.find(new))?;
            }
        }
        for name in &self.gone {
            replace(transaction, &facts(name), None)?;
        }
        for (name, bundle) in &self.snapshots {
            let value = bundle.manifest.facts(&bundle.etag);
            replace(transaction, &facts(name), Some(&value))?;
        }
        for (name, bundle) in &self.deltas {
            for operation in &bundle.patch {
                operation.apply(transaction).map_err(|error| match error {
                    PatchError::Store(error) => error,
                    PatchError::Unknown(_) => bug!("an operation that was checked"),
                })?;
            }
            replace(
                transaction,
                &facts(name),
                Some(&bundle.manifest.facts(&bundle.etag)),
            )?;
        }
        Ok(())
    }
}

fn is_same_set(left: Vec<Path>, right: Vec<Path>) -> bool {
    left.into_iter().collect::<BTreeSet<_>>() == right.into_iter().collect()
}

fn load_error(reason: String) -> Error {
    LoadErrors::from(LoadError::activation(reason)).into()
}

/// Returns the path of the facts about a bundle, below `data.system.bundles`.
fn facts(name: &str) -> Path {
    Path::new(["system", "bundles", name])
}

fn is_same_module(left: &Arc<Module>, right: &Arc<Module>) -> bool {
    Arc::ptr_eq(left, right)
        || (left.version == right.version
            && left.source.name == right.source.name
            && left.source.text == right.source.text)
}

/// Replaces all documents except `system`, which bundles may only add to.
fn replace_all(transaction: &mut Transaction, new: &Value) -> Result<(), StoreError> {
    const SYSTEM: &str = "system";
    let keys = |value: &Value| -> BTreeSet<String> {
        let members = value.as_object().into_iter().flat_map(Object::iter);
        let keys = members.map(|(key, _)| key.borrow().text_or_empty().to_str().into_owned());
        keys.collect()
    };
    let mut all = keys(transaction.root());
    all.remove(SYSTEM);
    all.extend(keys(new));
    for key in all {
        let path = Path::new([&key]);
        match path.find(new) {
            Some(system) if key == SYSTEM => transaction.merge(&path, system.clone())?,
            document => replace(transaction, &path, document)?,
        }
    }
    Ok(())
}

/// Replaces a document. Equal parts keep their memory, so that unchanged values stay shared.
fn replace(
    transaction: &mut Transaction,
    path: &Path,
    new: Option<&Value>,
) -> Result<(), StoreError> {
    match (path.find(transaction.root()), new) {
        (None, None) => Ok(()),
        (Some(_), None) => transaction.write(Operation::Remove, path, Value(Repr::Null)),
        (None, Some(new)) => transaction.put(path, new.clone()),
        (Some(old), Some(new)) => match share_unchanged(old, new) {
            None => Ok(()),
            Some(value) => transaction.put(path, value),
        },
    }
}

/// Returns the new value with equal parts taken from the old one, or `None` if both are equal.
fn share_unchanged(old: &Value, new: &Value) -> Option<Value> {
    let (Value(Repr::Object(before)), Value(Repr::Object(after))) = (old, new) else {
        return (!is_same(old, new)).then(|| new.clone());
    };
    let mut is_changed = before.len() != after.len();
    let mut pairs = Vec::with_capacity(after.len());
    for (key, value) in after.iter() {
        let value = match before.get_stored(key) {
            None => Some(value.clone()),
            Some(old) => stack::level(|| share_unchanged(old, value)),
        };
        let value = value.map_or_else(
            || before.get_stored(key).cloned().unwrap_or_default(),
            |value| {
                is_changed = true;
                value
            },
        );
        pairs.push((key.clone(), value));
    }
    is_changed.then(|| Value(Repr::Object(Object::from_pairs(pairs))))
}
