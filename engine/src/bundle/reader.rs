//! Reading bundles from archives, folders and lists of files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use solon_syntax::ast::{Module, Version};
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, module_text, parallel, parse_module};

use super::contents::file_name;
use super::directory::{Ignore, MergedDocuments, NamedFileKind};
use super::error::syntax_errors;
use super::signatures::MULTIPLE_TOKENS;
use super::{
    Bundle, BundleFile, BundleKind, BundleLimits, BundleModule, FileKind, Files, Links, LoadError,
    LoadErrors, Manifest, Signatures, Verification, delta, folder,
};
use crate::value::{Repr, Value, json, yaml};

/// Ending of manifests, which OPA looks for at any depth.
const MANIFEST: &str = ".manifest";
/// Name of the files with the changes of a delta bundle.
const PATCH: &str = "patch.json";
/// Name of the file with signatures.
const SIGNATURES: &str = ".signatures.json";

/// Reads a bundle. Messages contain the name, and ids of policies begin with it.
///
/// ```
/// use solon::bundle::{BundleFile, BundleReader};
///
/// let file = |path: &str, text: &str| BundleFile { path: path.to_owned(), bytes: text.into() };
/// let files = vec![
///     file("/authz/p.rego", "package authz\nallow if input.user in data.authz.admins"),
///     file("/authz/data.json", r#"{"admins": ["alice"]}"#),
///     file("/.manifest", r#"{"revision": "7", "roots": ["authz"]}"#),
/// ];
/// let bundle = BundleReader::new("authz").read_files(files)?;
/// assert_eq!(bundle.manifest.revision, "7");
/// assert_eq!(bundle.modules.len(), 1);
/// # Ok::<(), solon::bundle::LoadErrors>(())
/// ```
#[derive(Clone)]
pub struct BundleReader {
    name: String,
    limits: BundleLimits,
    ignore: Ignore,
    options: ParseOptions,
    /// Modules that were parsed with the same options, by id.
    parsed: Arc<BTreeMap<String, Arc<Module>>>,
    verification: Verification,
    in_folder: bool,
    follow_links: bool,
}

/// Durations of the steps of reading a bundle. A step that was not reached has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadTimes {
    /// Time of parsing documents. `None` if none was parsed.
    pub documents: Option<Duration>,
    /// Time of parsing policies. `None` if none was parsed.
    pub modules: Option<Duration>,
}

impl BundleReader {
    /// Creates a reader for the bundle with a name. By default it parses Rego v1, has the limits of [`BundleLimits::default`] and
    /// rejects signed bundles.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            limits: BundleLimits::default(),
            ignore: Ignore::default(),
            options: ParseOptions::from_version(Version::V1),
            parsed: Arc::default(),
            verification: Verification::default(),
            in_folder: false,
            follow_links: false,
        }
    }

    /// Sets the limits of files and archives.
    #[must_use]
    pub fn limits(self, limits: BundleLimits) -> Self {
        Self { limits, ..self }
    }

    /// Sets patterns of names of files and folders that are skipped, as those of [`Loader::ignore`](super::Loader::ignore).
    #[must_use]
    pub fn ignore(self, patterns: &[String]) -> Self {
        let ignore = Ignore::new(patterns);
        Self { ignore, ..self }
    }

    /// Sets whether symbolic links of folders are followed wherever they lead. Links within the folder are followed anyway.
    #[must_use]
    pub fn follow_links(self, follow_links: bool) -> Self {
        Self {
            follow_links,
            ..self
        }
    }

    /// Sets how policies are parsed whose version the manifest does not name.
    #[must_use]
    pub fn parse_options(self, options: ParseOptions) -> Self {
        Self {
            options,
            parsed: Arc::default(),
            ..self
        }
    }

    /// Sets modules that were parsed with the options of this reader, by id. Files with their texts are not parsed again.
    pub(crate) fn reusing(self, parsed: Arc<BTreeMap<String, Arc<Module>>>) -> Self {
        Self { parsed, ..self }
    }

    /// Sets how signatures are verified. By default signed bundles are rejected, since they need a key.
    #[must_use]
    pub fn verification(self, verification: Verification) -> Self {
        Self {
            verification,
            ..self
        }
    }

    pub(super) fn ignoring(self, ignore: Ignore) -> Self {
        Self { ignore, ..self }
    }

    /// Reads the bundle at a path: a folder, or a file that is an archive. All files are read into memory, and policies are parsed on
    /// several threads.
    ///
    /// # Errors
    /// One error: a file cannot be read, or the bundle is invalid. The kind of a missing or invalid signature is
    /// [`LoadErrorKind::Signature`](super::LoadErrorKind::Signature). The message contains the path or the name of the bundle.
    pub fn read_path(&self, files: &dyn Files, path: &str) -> Result<Bundle, LoadErrors> {
        self.read_path_timed(files, path, &mut ReadTimes::default())
    }

    /// Returns the files of the bundle at a path as signatures name them, without `.signatures.json`: those of a folder in order of
    /// their names, with the folder, those of an archive in its order.
    ///
    /// # Errors
    /// A file cannot be read, or the files exceed the limits.
    pub fn signed_files(
        &self,
        files: &dyn Files,
        path: &str,
    ) -> Result<Vec<BundleFile>, LoadErrors> {
        let kind = files.look(Path::new(path), Links::Followed);
        let kind = kind.map_err(|error| {
            LoadError::system("stat", path, &error).prefixed(&format!("error reading \"{path}\": "))
        })?;
        let in_folder = kind == FileKind::Folder;
        let reader = Self {
            in_folder,
            ..self.clone()
        };
        let bundle_files = if in_folder {
            let files_in_folder = folder::list(
                files,
                Path::new(path),
                &self.ignore,
                &self.limits,
                self.follow_links,
            );
            files_in_folder
                .and_then(|files_in_folder| folder::read(files, &files_in_folder, &self.limits))
        } else {
            let bytes = files.read(Path::new(path));
            let bytes = bytes.map_err(|error| LoadError::system("open", path, &error))?;
            self.decompress(&bytes)
        };
        let mut bundle_files = bundle_files?;
        bundle_files.retain(|file| !is_signatures(&file.path));
        for file in &mut bundle_files {
            file.path = reader.display_path(&file.path);
        }
        Ok(bundle_files)
    }

    /// Reads the bundle at a path as [`Self::read_path`] does, and sets the durations of its steps.
    ///
    /// # Errors
    /// The errors of [`Self::read_path`]. The durations of the steps before the error are set.
    pub fn read_path_timed(
        &self,
        files: &dyn Files,
        path: &str,
        times: &mut ReadTimes,
    ) -> Result<Bundle, LoadErrors> {
        let kind = files.look(Path::new(path), Links::Followed);
        let kind = kind.map_err(|error| {
            LoadError::system("stat", path, &error).prefixed(&format!("error reading \"{path}\": "))
        })?;
        if kind == FileKind::Folder {
            let in_folder = Self {
                in_folder: true,
                ..self.clone()
            };
            return in_folder.named(|reader| {
                let files_in_folder = folder::list(
                    files,
                    Path::new(path),
                    &reader.ignore,
                    &reader.limits,
                    reader.follow_links,
                )?;
                let bundle_files = folder::read(files, &files_in_folder, &reader.limits)?;
                reader.assemble(bundle_files, times)
            });
        }
        let bytes = files.read(Path::new(path));
        let bytes = bytes.map_err(|error| {
            LoadError::system("open", path, &error).prefixed(&format!("error reading \"{path}\": "))
        })?;
        self.read_archive_timed(&bytes, times)
    }

    /// Reads the bundle in an archive: gzip-compressed tar, as `solon build` writes it.
    ///
    /// # Errors
    /// One error that says why the bundle is invalid. The message begins with the name of the bundle.
    pub fn read_archive(&self, archive: &[u8]) -> Result<Bundle, LoadErrors> {
        self.read_archive_timed(archive, &mut ReadTimes::default())
    }

    /// Reads the bundle in an archive as [`Self::read_archive`] does, and sets the durations of its steps.
    ///
    /// # Errors
    /// The errors of [`Self::read_archive`]. The durations of the steps before the error are set.
    pub fn read_archive_timed(
        &self,
        archive: &[u8],
        times: &mut ReadTimes,
    ) -> Result<Bundle, LoadErrors> {
        self.named(|reader| reader.assemble(reader.decompress(archive)?, times))
    }

    /// Reads the bundle that consists of the files. Their number and sizes are not limited.
    ///
    /// # Errors
    /// One error that says why the bundle is invalid. The message begins with the name of the bundle.
    pub fn read_files(&self, files: Vec<BundleFile>) -> Result<Bundle, LoadErrors> {
        self.named(|reader| reader.assemble(files, &mut ReadTimes::default()))
    }

    fn named<T>(&self, read: impl FnOnce(&Self) -> Result<T, LoadError>) -> Result<T, LoadErrors> {
        read(self).map_err(|error| error.prefixed(&format!("bundle {}: ", self.name)).into())
    }

    fn decompress(&self, archive: &[u8]) -> Result<Vec<BundleFile>, LoadError> {
        let mut files = super::archive::read(archive, &self.limits).map_err(LoadError::content)?;
        files.retain(|file| {
            let mut steps = file.path.split('/');
            !steps.any(|step| self.ignore.matches(step))
        });
        Ok(files)
    }

    /// Returns the bundle that consists of the files. Checks signatures, roots and versions.
    fn assemble(&self, files: Vec<BundleFile>, times: &mut ReadTimes) -> Result<Bundle, LoadError> {
        let mut bundle = Bundle::empty();
        for file in &files {
            if file_name(&file.path) == PATCH {
                bundle.patch = delta::read(&file.bytes).map_err(|error| {
                    LoadError::content(format!("bundle load failed on patch decode: {error}"))
                })?;
            } else if is_signatures(&file.path) {
                if bundle.signatures.is_some() {
                    return Err(LoadError::content(MULTIPLE_TOKENS.to_owned()));
                }
                bundle.signatures = Signatures::read(&file.bytes).map_err(|error| {
                    LoadError::content(format!("bundle load failed on signatures decode: {error}"))
                })?;
            }
        }
        let is_delta = bundle.kind() == BundleKind::Delta;
        let signatures = bundle.signatures.as_ref();
        let mut verifier = self
            .verification
            .start(signatures, is_delta)
            .map_err(LoadError::signature)?;
        let mut documents = MergedDocuments::default();
        let mut modules = Vec::new();
        for file in files {
            let name = file_name(&file.path);
            if is_signatures(&file.path) {
                continue;
            }
            verifier
                .check(&self.display_path(&file.path), &file)
                .map_err(LoadError::signature)?;
            if file.path.strip_suffix(".rego").is_some() {
                modules.push(file);
            } else if let Some(kind) = document_kind(name) {
                let start = Instant::now();
                let added = self.add_document(&mut documents, &file, kind);
                times.documents = Some(times.documents.unwrap_or_default() + start.elapsed());
                added.map_err(LoadError::content)?;
                bundle.document_files.push(file.path);
            } else if file.path.ends_with(MANIFEST) {
                bundle.manifest = Manifest::read(&file.bytes).map_err(|error| {
                    LoadError::content(format!("bundle load failed on manifest decode: {error}"))
                })?;
                bundle.has_manifest = true;
            } else {
                bundle.files.push(file);
            }
        }
        bundle.documents = documents.finish();
        let modules: Vec<_> = modules
            .into_iter()
            .map(|file| (next_source(), file))
            .collect();
        let start = Instant::now();
        let parsed = parallel::map(
            &modules,
            |(_, file)| file.bytes.len(),
            |(id, file)| self.module(&bundle.manifest, *id, file),
        );
        times.modules = Some(start.elapsed());
        for ((_, file), module) in modules.into_iter().zip(parsed) {
            let (path, module) = (file.path, module?);
            bundle.modules.push(BundleModule { path, module });
        }
        bundle.check_kind().map_err(LoadError::content)?;
        verifier.finish().map_err(LoadError::signature)?;
        bundle.manifest.check().map_err(LoadError::content)?;
        bundle
            .check(&|path| self.display_path(path))
            .map_err(LoadError::content)?;
        Ok(bundle)
    }

    /// Returns the path of a file for messages. In a folder it begins with the folder.
    fn display_path(&self, path: &str) -> String {
        if self.in_folder {
            Bundle::module_id(&self.name, path)
        } else {
            path.to_owned()
        }
    }

    fn add_document(
        &self,
        documents: &mut MergedDocuments,
        file: &BundleFile,
        kind: NamedFileKind,
    ) -> Result<(), String> {
        let value = match kind {
            NamedFileKind::Json => {
                json::read(&file.bytes).map_err(|_| json::error_message(&file.bytes))
            }
            _ => yaml::read(&file.bytes).map_err(|error| error.to_string()),
        };
        let value = value.map_err(|error| {
            format!(
                "bundle load failed on {}: {error}",
                self.display_path(&file.path)
            )
        })?;
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        // OPA removes slashes and periods at the beginning
        let folder = folder.trim_start_matches(['/', '.']);
        let document_path: Vec<String> = match folder {
            "" => Vec::new(),
            folder => folder.split('/').map(str::to_owned).collect(),
        };
        let path = &file.path;
        if document_path.is_empty() && !matches!(value, Value(Repr::Object(_))) {
            return Err(format!(
                "bundle load failed on {path}: root value must be object"
            ));
        }
        if documents.insert(&document_path, value) {
            return Ok(());
        }
        Err(format!(
            "bundle load failed on {path}: failed to insert data file from path {folder}"
        ))
    }

    fn module(
        &self,
        manifest: &Manifest,
        id: SourceId,
        file: &BundleFile,
    ) -> Result<Arc<Module>, LoadError> {
        let mut options = self.options;
        if options.version != Version::V0CompatV1 {
            options.version = manifest
                .version_of(&file.path, options.version)
                .map_err(LoadError::content)?;
        }
        let name = self.display_path(&file.path);
        let failed = |diagnostics| {
            LoadError::bundle_syntax(syntax_errors(&diagnostics, &file.bytes), diagnostics)
        };
        let text = module_text(&name, &file.bytes, &options).map_err(failed)?;
        let parsed = self.parsed.get(&Bundle::module_id(&self.name, &file.path));
        if let Some(module) = parsed.filter(|module| {
            is_of_bundle(module.source.id)
                && module.version == options.version
                && *module.source.name == *name
                && *module.source.text == *text
        }) {
            return Ok(module.clone());
        }
        let source = Source::new(id, &*name, text);
        parse_module(&source, &options)
            .map(Arc::new)
            .map_err(failed)
    }
}

fn is_signatures(path: &str) -> bool {
    file_name(path) == SIGNATURES
}

/// Returns the kind of a file with documents, or `None` for other files.
fn document_kind(name: &str) -> Option<NamedFileKind> {
    match name {
        "data.json" => Some(NamedFileKind::Json),
        "data.yaml" | "data.yml" => Some(NamedFileKind::Yaml),
        _ => None,
    }
}

/// Returns an id of a source that no engine assigns, because engines count from zero. Ids repeat after 2^30 modules.
pub(super) fn next_source() -> SourceId {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    SourceId(FIRST_SOURCE + NEXT.fetch_add(1, Ordering::Relaxed) % (FIRST_SOURCE / 2))
}

/// Lowest id of the sources of bundles.
const FIRST_SOURCE: u32 = 1 << 31;

/// Returns `true` for an id of [`next_source`], which means the same source in each engine.
fn is_of_bundle(id: SourceId) -> bool {
    id.0 >= FIRST_SOURCE
}
