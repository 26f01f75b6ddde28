//! Loading files, folders and bundles.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use solon_syntax::ast::{Module, Version};
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parallel, parse_module};

use super::{
    FileSelection, FileToLoad, Ignore, MergedDocuments, NamedFileKind, Schemas, Walk, document_of,
    read_document, schemas,
};
use crate::bundle::roots::BundleRoots;
use crate::bundle::{
    Bundle, BundleLimits, BundleReader, FileKind, Files, Links, LoadError, LoadErrors, Manifest,
    PatchOperation, ReadTimes, Verification, folder,
};
use crate::store::{DataSnapshot, Transaction};
use crate::uri::file_path;
use crate::value::{Value, json};

/// The modules and documents of loaded files.
#[derive(Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// Texts of modules by name. The name of a module is the path of its file.
    pub modules: BTreeMap<String, String>,
    /// Modules that are already parsed, by the same names: those of bundles.
    pub parsed: BTreeMap<String, Arc<Module>>,
    /// The manifests of bundles, by the names that the bundles were loaded by.
    pub manifests: BTreeMap<String, Manifest>,
    /// The documents, merged: an object.
    pub documents: Value,
    /// Time that reading documents took. `None` if there were none.
    pub reading: Option<Duration>,
}

impl Loaded {
    /// Returns the document of `data.system.bundles`, or `None` if no bundles were loaded.
    pub fn bundle_facts(&self) -> Option<Value> {
        let facts =
            |(name, manifest): (&String, &Manifest)| (Value::string(name), manifest.facts(""));
        let facts: Vec<_> = self.manifests.iter().map(facts).collect();
        (!facts.is_empty()).then(|| Value::object(facts))
    }

    /// Returns the text of the module with the file name of a message, or `None` if there is none.
    pub fn text(&self, file: &str) -> Option<&str> {
        if let Some(text) = self.modules.get(file) {
            return Some(text);
        }
        let mut parsed = self.parsed.values();
        let module = parsed.find(|module| &*module.source.name == file)?;
        Some(&module.source.text)
    }

    /// Returns the union with other files. Modules of `other` replace modules with the same name. `None` if the documents cannot be
    /// merged.
    pub fn with(mut self, other: Self) -> Option<Self> {
        let mut documents = MergedDocuments::default();
        let merged =
            documents.insert(&[], self.documents) && documents.insert(&[], other.documents);
        self.modules.extend(other.modules);
        self.parsed.extend(other.parsed);
        self.manifests.extend(other.manifests);
        merged.then(|| Self {
            modules: self.modules,
            parsed: self.parsed,
            manifests: self.manifests,
            documents: documents.finish(),
            reading: sum(self.reading, other.reading),
        })
    }
}

/// Returns the documents after the changes of delta bundles.
fn patched(documents: Value, patches: &[PatchOperation]) -> Result<Value, String> {
    if patches.is_empty() {
        return Ok(documents);
    }
    let mut transaction = Transaction::new(&DataSnapshot::new(documents, 0));
    for operation in patches {
        operation
            .apply(&mut transaction)
            .map_err(|error| error.to_string())?;
    }
    Ok(transaction.root().clone())
}

/// Returns the sum of two times. `None` if there is none.
fn sum(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

enum Content {
    Module(String),
    Document(Value),
}

/// Loads policies and documents by the paths that commands name, by OPA's rules: a folder gives its `.rego`, `.json`,
/// `.yaml` and `.yml` files at any depth; a document's place is its folder's path below the named one; a file that is
/// named directly sits at the root; `a.b:path` puts everything below `data.a.b`.
///
/// ```
/// use solon::bundle::{Loader, MemoryFiles};
///
/// let mut files = MemoryFiles::default();
/// files.insert("policies/p.rego", "package p\nallow := data.users.alice");
/// files.insert("policies/users/data.yaml", "alice: true");
/// let loaded = Loader::new(&files).load(&["policies"]).unwrap();
/// assert_eq!(loaded.documents.pointer("/users/alice"), Some(&true.into()));
/// ```
#[derive(Clone)]
pub struct Loader<'f> {
    files: &'f dyn Files,
    selection: FileSelection,
    ignore: Ignore,
    options: ParseOptions,
    verification: Verification,
}

impl<'f> Loader<'f> {
    /// Creates a loader of all modules and documents, with Rego v1 and without verification of signatures.
    pub fn new(files: &'f dyn Files) -> Self {
        Self {
            files,
            selection: FileSelection::All,
            ignore: Ignore::default(),
            options: ParseOptions::from_version(Version::V1),
            verification: Verification::skip(),
        }
    }

    /// Sets the kinds of files that are read from folders. Default: modules and documents.
    #[must_use]
    pub fn with_selection(self, selection: FileSelection) -> Self {
        Self { selection, ..self }
    }

    /// Sets patterns of names of files and folders that are skipped: `*`, `?`, `[a-z]`, `\` before a literal character. Each may be a
    /// list with commas.
    #[must_use]
    pub fn ignore(self, patterns: &[String]) -> Self {
        let ignore = Ignore::new(patterns);
        Self { ignore, ..self }
    }

    /// Sets how signatures of bundles are verified. By default they are ignored.
    #[must_use]
    pub fn verification(self, verification: Verification) -> Self {
        Self {
            verification,
            ..self
        }
    }

    /// Sets how modules are parsed.
    #[must_use]
    pub fn parse_options(self, options: ParseOptions) -> Self {
        Self { options, ..self }
    }

    /// Loads bundles, which are folders or archives, and merges them. A path that occurs twice is one bundle.
    ///
    /// # Errors
    /// One error: that of the first invalid bundle; or, if bundles own the same documents, one that names all of these bundles.
    pub fn load_bundles<P: AsRef<str>>(&self, paths: &[P]) -> Result<Loaded, LoadErrors> {
        let mut roots = BundleRoots::default();
        let (mut modules, mut parsed) = (BTreeMap::new(), BTreeMap::new());
        let mut documents = MergedDocuments::default();
        let mut patches = Vec::new();
        let mut manifests = BTreeMap::new();
        let mut reading = None;
        let mut loaded_names = HashSet::new();
        for name in paths.iter().map(AsRef::as_ref) {
            if !loaded_names.insert(name) {
                continue;
            }
            let path = file_path(name).map_err(LoadError::from)?;
            let reader = BundleReader::new(&*path)
                .ignoring(self.ignore.clone())
                .verification(self.verification.clone())
                .parse_options(self.options);
            let mut times = ReadTimes::default();
            let bundle = reader.read_path_timed(self.files, &path, &mut times)?;
            roots.add(name, bundle.manifest.root_paths());
            documents.insert(&[], bundle.owned_documents());
            for module in bundle.modules {
                let id = Bundle::module_id(&path, &module.path);
                modules.insert(id.clone(), module.module.source.text.to_string());
                parsed.insert(id, module.module);
            }
            patches.extend(bundle.patch);
            manifests.insert(name.to_owned(), bundle.manifest);
            reading = sum(reading, times.documents);
        }
        if let Some(overlap) = roots.overlap() {
            return Err(LoadError::activation(overlap).into());
        }
        Ok(Loaded {
            modules,
            parsed,
            manifests,
            documents: patched(documents.finish(), &patches).map_err(LoadError::activation)?,
            reading,
        })
    }

    /// Returns the files that [`Self::load`] reads, without reading them. Paths that do not exist are left out.
    pub fn files<P: AsRef<str>>(&self, paths: &[P]) -> Vec<PathBuf> {
        let find =
            |path: &P| Walk::new(self.files, self.selection, &self.ignore).find(path.as_ref());
        let files = paths.iter().flat_map(find).filter_map(Result::ok);
        files.map(FileToLoad::into_path).collect()
    }

    /// Returns the files that [`Self::load_bundles`] reads, without reading them, and the manifest of each folder, even if there is
    /// none.
    pub fn bundle_files<P: AsRef<str>>(&self, paths: &[P]) -> Vec<PathBuf> {
        let paths = paths
            .iter()
            .filter_map(|path| file_path(path.as_ref()).ok());
        let of_bundle = |path: std::borrow::Cow<'_, str>| {
            let path = Path::new(&*path);
            if self.files.look(path, Links::Followed) != Ok(FileKind::Folder) {
                return vec![path.to_owned()];
            }
            let folder_files = folder::list(
                self.files,
                path,
                &self.ignore,
                &BundleLimits::default(),
                false,
            );
            let folder_files = folder_files.unwrap_or_default().into_iter();
            let mut files: Vec<PathBuf> = folder_files.map(|file| file.location).collect();
            let manifest = path.join(".manifest");
            if !files.contains(&manifest) {
                files.push(manifest);
            }
            files
        };
        paths.flat_map(of_bundle).collect()
    }

    /// Loads JSON schemas. The schema of a file is `schema`; those of a folder are at the paths of their files.
    ///
    /// # Errors
    /// The errors of all files that cannot be read or parsed. Schemas are not compiled.
    pub fn load_schemas(&self, path: &str) -> Result<Schemas, LoadErrors> {
        schemas::load(self.files, path)
    }

    /// Loads files and folders into memory. Modules are returned as text and are not parsed.
    ///
    /// # Errors
    /// The errors of all files that cannot be read or parsed, in their order. If there are some, modules are parsed as well, and their
    /// syntax errors are among them.
    pub fn load<P: AsRef<str>>(&self, paths: &[P]) -> Result<Loaded, LoadErrors> {
        let mut modules = BTreeMap::new();
        let mut documents = MergedDocuments::default();
        // modules and faults in the order they were found
        let mut results = Vec::new();
        let mut reading = None;
        let files = self.distinct_files(paths);
        let read = |file: &Result<FileToLoad, LoadError>| {
            let start = Instant::now();
            let content = match file {
                Ok(file) => self.read(file),
                Err(error) => Err(error.clone().into()),
            };
            (content, start.elapsed())
        };
        let contents = parallel::map(&files, |_| parallel::FILE_BYTES, read);
        for (file, (content, time)) in files.into_iter().zip(contents) {
            let added = file
                .map_err(LoadErrors::from)
                .and_then(|file| match content? {
                    Content::Module(text) => {
                        modules.insert(file.name.clone(), text);
                        results.push(Ok(file.name));
                        Ok(())
                    }
                    Content::Document(value) => {
                        reading = sum(reading, Some(time));
                        Ok(documents.add(&file, value)?)
                    }
                });
            results.extend(added.err().into_iter().flat_map(|errors| errors.0).map(Err));
        }
        if results.iter().all(Result::is_ok) {
            return Ok(Loaded {
                modules,
                parsed: BTreeMap::new(),
                manifests: BTreeMap::new(),
                documents: documents.finish(),
                reading,
            });
        }
        // these modules are not compiled later, so their errors are reported here
        let faults = results.into_iter().flat_map(|result| match result {
            Ok(name) => modules
                .get(&name)
                .map_or_else(Vec::new, |text| self.syntax_errors(&name, text)),
            Err(error) => vec![error],
        });
        Err(LoadErrors(faults.collect()))
    }

    /// Returns the files of some paths, each once, and the faults of finding them.
    fn distinct_files<P: AsRef<str>>(&self, paths: &[P]) -> Vec<Result<FileToLoad, LoadError>> {
        let find =
            |path: &P| Walk::new(self.files, self.selection, &self.ignore).find(path.as_ref());
        let mut files: Vec<_> = paths.iter().flat_map(find).collect();
        // one path leads to each file once
        if paths.len() > 1 {
            let mut identities = HashSet::new();
            files.retain(|file| match file {
                Ok(file) => identities.insert(file.identity()),
                Err(_) => true,
            });
        }
        files
    }

    fn read(&self, file: &FileToLoad) -> Result<Content, LoadErrors> {
        match file.kind {
            NamedFileKind::Module => file.text(self.files, &self.options).map(Content::Module),
            NamedFileKind::Json | NamedFileKind::Yaml => {
                Ok(Content::Document(read_document(self.files, file)?))
            }
            NamedFileKind::Unknown => self.recognized(file, &file.bytes(self.files)?),
        }
    }

    /// Returns the module or document in a file with an unknown extension.
    fn recognized(&self, file: &FileToLoad, bytes: &[u8]) -> Result<Content, LoadErrors> {
        if let Ok(text) = file.text_of(bytes, &self.options)
            && self.syntax_errors(&file.name, &text).is_empty()
        {
            return Ok(Content::Module(text));
        }
        // YAML would make a string of a number of JSON that is out of range
        if json::is_valid(bytes) {
            let value = document_of(&file.name, NamedFileKind::Json, bytes)?;
            return Ok(Content::Document(value));
        }
        let document = document_of(&file.name, NamedFileKind::Yaml, bytes);
        let document = document.map(Content::Document);
        document.map_err(|_| LoadError::in_file(&file.name, "can't recognize file type").into())
    }

    fn syntax_errors(&self, name: &str, text: &str) -> Vec<LoadError> {
        let source = Source::new(SourceId(0), name, text);
        let result = parse_module(&source, &self.options).err();
        result.map_or_else(Vec::new, |diagnostics| LoadErrors::from(diagnostics).0)
    }
}
