//! Merging of several bundles into one, and a bundle from loaded files.

use solon_syntax::ast::Version;
use solon_syntax::source::{Diagnostics, Source};
use solon_syntax::{ParseOptions, parse_module};

use super::reader::next_source;
use super::{Bundle, BundleError, BundleErrorKind, BundleModule, LoadErrors, Loaded, Manifest};
use crate::store::{DataSnapshot, Transaction};
use crate::value::{Repr, Value};

impl Bundle {
    /// Merges bundles as OPA builds them: each policy keeps its version of Rego and has the bundle's name in its path, `/authz/p.rego`.
    /// The manifest of one bundle keeps its revision and metadata; of several, only roots and versions remain. `default` is the version
    /// of bundles that do not set one. Signatures are dropped, because paths change.
    ///
    /// # Errors
    /// Two bundles own the same documents, or a manifest has a version of Rego that does not exist.
    pub fn merge(bundles: Vec<(String, Self)>, default: Version) -> Result<Self, BundleError> {
        let merged = Self::merged(bundles, default);
        merged.map_err(|message| BundleError::new(BundleErrorKind::Merge, message))
    }

    fn merged(bundles: Vec<(String, Self)>, default: Version) -> Result<Self, String> {
        let is_one = bundles.len() == 1;
        let mut merged = Self::empty();
        let mut roots = Vec::new();
        let mut versions = Vec::new();
        let mut owned = Transaction::new(&DataSnapshot::new(Value::object(Vec::new()), 0));
        for (name, mut bundle) in bundles {
            if is_one {
                merged.manifest = bundle.manifest.clone();
                merged.manifest.wasm.clear();
                merged.documents = std::mem::take(&mut bundle.documents);
            } else {
                for root in bundle.manifest.root_paths() {
                    if let Some(document) = root.find(&bundle.documents) {
                        let put = owned.put(&root, document.clone());
                        put.map_err(|error| error.to_string())?;
                    }
                }
            }
            roots.extend(bundle.manifest.roots());
            let absolute =
                |path: &str| format!("/{}", Self::module_id(&name, path).trim_start_matches('/'));
            let of_bundle = bundle.manifest.rego_version;
            // where every policy is, the version of the result is that of a single bundle
            let global = of_bundle.filter(|_| is_one).unwrap_or(number(default));
            let is_set =
                is_one || of_bundle.is_some() || !bundle.manifest.file_rego_versions.is_empty();
            for BundleModule { path, module } in bundle.modules {
                let version = bundle.manifest.version_number(&path)?;
                let path = absolute(&path);
                if let Some(version) = version
                    .or(of_bundle)
                    .filter(|version| is_set && *version != global)
                {
                    versions.push((path.clone(), version));
                }
                merged.modules.push(BundleModule { path, module });
            }
            merged.patch.extend(bundle.patch);
            for mut file in bundle.files {
                file.path = absolute(&file.path);
                merged.files.push(file);
            }
            for mut resolver in bundle.manifest.wasm {
                resolver.module = absolute(&resolver.module);
                merged.manifest.wasm.push(resolver);
            }
        }
        merged.has_manifest = true;
        merged.manifest.roots = Some(roots);
        merged.manifest.rego_version.get_or_insert(number(default));
        versions.sort();
        merged.manifest.file_rego_versions = versions;
        if !is_one {
            merged.documents = owned.root().clone();
        }
        merged.manifest.check()?;
        Ok(merged)
    }

    /// Returns a bundle with all documents and policies of loaded files. The paths of policies are the names of their files, and the
    /// bundle owns all documents. Policies are parsed again.
    ///
    /// # Errors
    /// The diagnostics of all policies that do not parse.
    pub fn from_files(loaded: &Loaded, options: &ParseOptions) -> Result<Self, LoadErrors> {
        let mut bundle = Self::empty();
        let mut files_found = Vec::new();
        for (name, text) in &loaded.modules {
            let source = Source::new(next_source(), name.as_str(), text.as_str());
            match parse_module(&source, options) {
                Ok(module) => bundle.modules.push(BundleModule {
                    path: format!("/{}", name.trim_start_matches('/')),
                    module: module.into(),
                }),
                Err(diagnostics) => files_found.extend(diagnostics.0),
            }
        }
        if !files_found.is_empty() {
            return Err(LoadErrors::from(Diagnostics(files_found)));
        }
        bundle.documents = loaded.documents.clone();
        bundle.has_manifest = true;
        bundle.manifest.roots = Some(vec![String::new()]);
        bundle.manifest.rego_version = Some(number(options.version));
        Ok(bundle)
    }

    /// Returns a bundle without content.
    pub(super) fn empty() -> Self {
        Self {
            manifest: Manifest::default(),
            has_manifest: false,
            modules: Vec::new(),
            documents: Value(Repr::Null),
            patch: Vec::new(),
            files: Vec::new(),
            document_files: Vec::new(),
            signatures: None,
            etag: String::new(),
        }
    }
}

/// Returns the number of a version in manifests. [`Version::V0CompatV1`] is 0.
pub(crate) fn number(version: Version) -> i64 {
    match version {
        Version::V0 | Version::V0CompatV1 => 0,
        Version::V1 => 1,
    }
}
