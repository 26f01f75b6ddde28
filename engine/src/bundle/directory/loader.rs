//! Loading what commands name.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use solon_syntax::ast::Version;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_module};

use super::{
    Bundle, Documents, Found, Ignore, Kind, Roots, Schemas, Walk, Wanted, document_of,
    read_document, schemas,
};
use crate::bundle::{Files, LoadError, LoadErrors};
use crate::uri::file_path;
use crate::value::{Value, json};

/// What was loaded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// Module texts by name, which is their path.
    pub modules: BTreeMap<String, String>,
    /// The documents, merged: an object.
    pub documents: Value,
    /// How long reading documents took; nothing where there were none.
    pub reading: Option<Duration>,
}

impl Loaded {
    /// With what else was loaded; `None` when their documents cannot be merged.
    pub fn with(mut self, other: Self) -> Option<Self> {
        let mut documents = Documents::default();
        let merged =
            documents.insert(&[], self.documents) && documents.insert(&[], other.documents);
        self.modules.extend(other.modules);
        merged.then(|| Self {
            modules: self.modules,
            documents: documents.finish(),
            reading: sum(self.reading, other.reading),
        })
    }
}

/// Two times together, if there is one.
fn sum(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

/// What a file holds.
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
    wanted: Wanted,
    ignore: Ignore,
    options: ParseOptions,
}

impl<'f> Loader<'f> {
    /// Loads modules of Rego v1 and documents, all that there are.
    pub fn new(files: &'f dyn Files) -> Self {
        Self {
            files,
            wanted: Wanted::All,
            ignore: Ignore::default(),
            options: ParseOptions::of(Version::V1),
        }
    }

    /// What is read of folders.
    #[must_use]
    pub fn wanted(self, wanted: Wanted) -> Self {
        Self { wanted, ..self }
    }

    /// Patterns of names of files and folders that are passed over: `*`, `?`, `[a-z]`, `\` before a character that stands
    /// for itself; each may be a list with commas.
    #[must_use]
    pub fn ignore(self, patterns: &[String]) -> Self {
        let ignore = Ignore::new(patterns);
        Self { ignore, ..self }
    }

    /// How modules are parsed.
    #[must_use]
    pub fn parse_options(self, options: ParseOptions) -> Self {
        Self { options, ..self }
    }

    /// Loads bundles, which are folders, as one. A folder that is named twice is one bundle.
    ///
    /// # Errors
    /// The first fault; or, where bundles own the same documents, one that names all of these bundles.
    pub fn load_bundles<P: AsRef<str>>(&self, paths: &[P]) -> Result<Loaded, LoadErrors> {
        let refused = |what| LoadErrors(vec![LoadError::File(what)]);
        let mut roots = Roots::default();
        let (mut modules, mut documents) = (BTreeMap::new(), Documents::default());
        let mut reading = None;
        let mut seen = HashSet::new();
        for path in paths.iter().map(AsRef::as_ref) {
            if !seen.insert(path) {
                continue;
            }
            let folder = file_path(path).map_err(refused)?;
            let bundle = Bundle::load(self.files, &folder, &self.ignore, &self.options);
            let mut bundle = bundle.map_err(refused)?;
            modules.append(&mut bundle.modules);
            documents.insert(&[], bundle.documents);
            reading = sum(reading, bundle.reading);
            roots.add(path, bundle.roots);
        }
        if let Some(overlap) = roots.overlap() {
            return Err(LoadError::Roots(overlap).into());
        }
        Ok(Loaded {
            modules,
            documents: documents.finish(),
            reading,
        })
    }

    /// Returns the files that [`Self::load`] reads, without reading them. Paths at which nothing is found are left out.
    pub fn files<P: AsRef<str>>(&self, paths: &[P]) -> Vec<PathBuf> {
        let find = |path: &P| Walk::new(self.files, self.wanted, &self.ignore).find(path.as_ref());
        let found = paths.iter().flat_map(find).filter_map(Result::ok);
        found.map(Found::into_path).collect()
    }

    /// Returns the files that [`Self::load_bundles`] reads, without reading them, and the manifest of each bundle, even if there is
    /// none.
    pub fn bundle_files<P: AsRef<str>>(&self, paths: &[P]) -> Vec<PathBuf> {
        let folders = paths
            .iter()
            .filter_map(|path| file_path(path.as_ref()).ok());
        let files = folders.flat_map(|folder| Bundle::files(self.files, &folder, &self.ignore));
        files.collect()
    }

    /// Loads JSON schemas: a file is `schema` itself, a folder gives each of its files at its path.
    ///
    /// # Errors
    /// All faults.
    pub fn load_schemas(&self, path: &str) -> Result<Schemas, LoadErrors> {
        schemas::load(self.files, path)
    }

    /// Loads files and folders.
    ///
    /// # Errors
    /// All faults, not only the first; what is wrong with the texts of modules is among them then.
    pub fn load<P: AsRef<str>>(&self, paths: &[P]) -> Result<Loaded, LoadErrors> {
        let mut modules = BTreeMap::new();
        let mut documents = Documents::default();
        // modules and faults in the order they were found
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut reading = None;
        let find = |path: &P| Walk::new(self.files, self.wanted, &self.ignore).find(path.as_ref());
        for file in paths.iter().flat_map(find) {
            if let Ok(file) = &file
                && !seen.insert(file.identity())
            {
                continue;
            }
            let start = Instant::now();
            let added = file
                .map_err(LoadErrors::from)
                .and_then(|file| match self.read(&file)? {
                    Content::Module(text) => {
                        modules.insert(file.name.clone(), text);
                        found.push(Ok(file.name));
                        Ok(())
                    }
                    Content::Document(value) => {
                        reading = sum(reading, Some(start.elapsed()));
                        Ok(documents.add(&file, value)?)
                    }
                });
            found.extend(added.err().into_iter().flat_map(|errors| errors.0).map(Err));
        }
        if found.iter().all(Result::is_ok) {
            return Ok(Loaded {
                modules,
                documents: documents.finish(),
                reading,
            });
        }
        // nobody will compile these modules, so what is wrong with them is found here
        let faults = found.into_iter().flat_map(|one| match one {
            Ok(name) => modules
                .get(&name)
                .map_or_else(Vec::new, |text| self.refused(&name, text)),
            Err(fault) => vec![fault],
        });
        Err(LoadErrors(faults.collect()))
    }

    /// Reads a file.
    fn read(&self, file: &Found) -> Result<Content, LoadErrors> {
        match file.kind {
            Kind::Module => file.text(self.files, &self.options).map(Content::Module),
            Kind::Json | Kind::Yaml => Ok(Content::Document(read_document(self.files, file)?)),
            Kind::Unknown => self.recognized(file, &file.bytes(self.files)?),
        }
    }

    /// Returns the module or document in a file with an unknown extension.
    fn recognized(&self, file: &Found, bytes: &[u8]) -> Result<Content, LoadErrors> {
        if let Ok(text) = file.text_of(bytes, &self.options)
            && self.refused(&file.name, &text).is_empty()
        {
            return Ok(Content::Module(text));
        }
        // YAML would make a string of a number of JSON that is out of range
        if json::is_valid(bytes) {
            return Ok(Content::Document(document_of(
                &file.name,
                Kind::Json,
                bytes,
            )?));
        }
        let document = document_of(&file.name, Kind::Yaml, bytes);
        let document = document.map(Content::Document);
        document.map_err(|_| LoadError::within(&file.name, "can't recognize file type").into())
    }

    fn refused(&self, name: &str, text: &str) -> Vec<LoadError> {
        let source = Source::new(SourceId(0), name, text);
        let refused = parse_module(&source, &self.options).err();
        refused.map_or_else(Vec::new, |diagnostics| LoadErrors::from(diagnostics).0)
    }
}
