//! Contents of bundles: policies, documents, changes and other files.

use std::sync::Arc;

use solon_syntax::ast::Module;

use super::manifest::is_within;
use super::{Manifest, PatchOperation, Signatures};
use crate::bug::bug;
use crate::store::{DataSnapshot, Path, Transaction};
use crate::value::{Repr, Value};

/// A file of a bundle: its path and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleFile {
    /// Path within the bundle. It may begin with a slash, as in archives that OPA writes.
    pub path: String,
    /// The bytes, not decoded.
    pub bytes: Vec<u8>,
}

/// A policy of a bundle, parsed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BundleModule {
    /// Path within the bundle, with `/` between its steps.
    pub path: String,
    /// The parsed module with its text.
    pub module: Arc<Module>,
}

/// Policies, documents and other files of a bundle ([`BundleReader`](super::BundleReader)).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Bundle {
    /// The manifest; the default one if the bundle has none.
    pub manifest: Manifest,
    /// `true` if the bundle has a file `.manifest`. Otherwise `manifest` is the default one.
    pub has_manifest: bool,
    /// Policies in the order of the archive, or of their paths in a folder.
    pub modules: Vec<BundleModule>,
    /// All documents merged: an object.
    pub documents: Value,
    /// Changes of documents. A bundle that has some is a delta bundle and has neither policies nor documents.
    pub patch: Vec<PatchOperation>,
    /// Other files, such as plans and WebAssembly. None of them is run.
    pub files: Vec<BundleFile>,
    /// Paths of the files that documents came from.
    pub document_files: Vec<String>,
    /// The signatures, if the bundle has some and they were not skipped.
    pub signatures: Option<Signatures>,
    /// The entity tag that the bundle was served with, for `data.system.bundles.<name>.etag`; empty if there was none. No file of the
    /// bundle has it: programs that download bundles set it.
    pub etag: String,
}

/// The two kinds of bundles: all contents, or changes of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleKind {
    /// All policies and documents below the bundle's roots.
    Snapshot,
    /// Changes of documents.
    Delta,
}

impl Bundle {
    /// Returns the kind of the bundle: a delta bundle if it has changes of documents.
    pub fn kind(&self) -> BundleKind {
        if self.patch.is_empty() {
            BundleKind::Snapshot
        } else {
            BundleKind::Delta
        }
    }

    /// Returns the WebAssembly modules of the bundle.
    pub fn wasm(&self) -> impl Iterator<Item = &BundleFile> {
        self.files
            .iter()
            .filter(|file| file_name(&file.path) == WASM)
    }

    /// Returns an object with the documents below the bundle's roots. Documents outside of the roots are left out.
    pub fn owned_documents(&self) -> Value {
        let roots = self.manifest.root_paths();
        let mut owned = Transaction::new(&DataSnapshot::new(Value::object(Vec::new()), 0));
        for root in roots {
            let Some(document) = root.find(&self.documents) else {
                continue;
            };
            if root.is_root() {
                return document.clone();
            }
            if owned.put(&root, document.clone()).is_err() {
                bug!("roots that overlap");
            }
        }
        owned.root().clone()
    }

    /// Returns the id of the policy at a path of the bundle: `NAME/path`. A name that is a `file` URL is replaced by its path.
    pub fn module_id(name: &str, path: &str) -> String {
        Self::module_ids(name)(path)
    }

    /// Returns a function that computes the ids of the policies of a bundle by their paths.
    pub(crate) fn module_ids(name: &str) -> impl Fn(&str) -> String {
        let name = match crate::uri::file_path(name) {
            Ok(path) => path.into_owned(),
            Err(_) => name.to_owned(),
        };
        let name = name.trim_end_matches('/');
        let name = match name.strip_prefix("./") {
            Some(rest) if !rest.is_empty() => rest,
            _ => name,
        };
        let prefix = match name {
            "." => String::new(),
            name => format!("{name}/"),
        };
        move |path| [&prefix, path.trim_start_matches('/')].concat()
    }

    /// Checks that the operations of a delta bundle exist. The error is OPA's message about the first unknown one.
    pub(crate) fn check_patch(&self) -> Result<(), String> {
        let mut operations = self.patch.iter();
        let unknown = operations.find(|operation| operation.operation().is_none());
        unknown.map_or(Ok(()), |operation| {
            Err(format!("bad patch operation: {}", operation.op))
        })
    }

    /// Checks that all parts of the bundle lie below its roots.
    pub(super) fn check(&self, display_path: &dyn Fn(&str) -> String) -> Result<(), String> {
        let roots = self.manifest.root_paths();
        let list = self.manifest.roots().join(" ");
        for BundleModule { module, .. } in &self.modules {
            let steps = module.package.path.iter().skip(1);
            let steps = steps.filter_map(|step| Some(step.as_string()?.to_string()));
            if !is_within(&roots, &Path::new(steps)) {
                return Err(format!(
                    "manifest roots [{list}] do not permit '{}' in module '{}'",
                    module.package, module.source.name
                ));
            }
        }
        self.check_wasm(&roots, &list, display_path)?;
        for operation in &self.patch {
            let path = operation.path.trim_matches('/');
            if !is_within(&roots, &Path::from_slashes(path)) {
                return Err(format!(
                    "manifest roots [{list}] do not permit data patch at path '{path}'"
                ));
            }
        }
        match foreign(&roots, &self.documents, &mut Vec::new()) {
            Some(path) => Err(format!(
                "manifest roots [{list}] do not permit data at path '/{path}' (hint: check bundle directory structure)"
            )),
            None => Ok(()),
        }
    }

    fn check_wasm(
        &self,
        roots: &[Path],
        list: &str,
        display_path: &dyn Fn(&str) -> String,
    ) -> Result<(), String> {
        let mut entry_points = Vec::new();
        for resolver in &self.manifest.wasm {
            let (module, entry_point) = (display_path(&resolver.module), &resolver.entrypoint);
            if !self.wasm().any(|file| display_path(&file.path) == module) {
                return Err(format!(
                    "manifest references wasm module '{}' but the module file does not exist",
                    resolver.module
                ));
            }
            if !is_within(roots, &Path::from_slashes(entry_point)) {
                return Err(format!(
                    "manifest roots [{list}] do not permit '{entry_point}' entrypoint for wasm module '{module}'"
                ));
            }
            if entry_points.contains(&entry_point) {
                return Err(format!(
                    "entrypoint '{entry_point}' cannot be used by more than one wasm module"
                ));
            }
            entry_points.push(entry_point);
        }
        Ok(())
    }

    /// Checks that a delta bundle has nothing but changes.
    pub(super) fn check_kind(&self) -> Result<(), String> {
        if self.kind() == BundleKind::Snapshot {
            return Ok(());
        }
        let contents = if !self.document_files.is_empty() && !is_empty(&self.documents) {
            "data"
        } else if !self.modules.is_empty() {
            "policy"
        } else if self.wasm().next().is_some() {
            "wasm"
        } else {
            return Ok(());
        };
        Err(format!(
            "delta bundle expected to contain only patch file but {contents} files found"
        ))
    }
}

/// Name of WebAssembly modules in bundles.
const WASM: &str = "policy.wasm";

/// Returns the last step of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(|object| object.is_empty())
}

/// Returns the path of a document outside of all roots, or `None` if there is none.
fn foreign(roots: &[Path], document: &Value, path: &mut Vec<String>) -> Option<String> {
    let document_path = Path::new(&*path);
    if is_within(roots, &document_path) {
        return None;
    }
    match document {
        Value(Repr::Object(object))
            if document_path.is_root()
                || roots.iter().any(|root| root.overlaps(&document_path)) =>
        {
            object.iter().find_map(|(key, inner)| {
                path.push(key.borrow().text_or_empty().to_str().into_owned());
                let foreign_path = foreign(roots, inner, path);
                path.pop();
                foreign_path
            })
        }
        _ => Some(path.join("/")),
    }
}
