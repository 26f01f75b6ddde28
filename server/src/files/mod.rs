//! Policies and documents from the file system, by OPA's rules: a folder gives its `.rego`, `.json`, `.yaml` and
//! `.yml` files at any depth; a document's place is its folder's path below the named one; a file that is named
//! directly sits at the root; `a.b:path` puts everything below `data.a.b`.

mod bundle;
mod documents;
mod error;
mod ignore;
mod schemas;
mod source;
mod walk;

pub use bundle::Bundle;
pub use documents::Documents;
pub use error::{LoadError, LoadErrors};
pub use ignore::Ignore;
pub use schemas::{Schemas, load_schemas};
pub use source::source_text;
pub use walk::{Found, Kind, Wanted, find};

use documents::read_document;

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use solon::Value;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_module};

/// What was loaded.
#[derive(Debug)]
pub struct Loaded {
    /// Module texts by name, which is their path.
    pub modules: BTreeMap<String, String>,
    /// The documents, merged.
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

/// How files are loaded.
#[derive(Clone, Debug)]
pub struct Loader {
    /// What is read.
    pub wanted: Wanted,
    /// Names that are passed over.
    pub ignore: Ignore,
    /// How modules are parsed.
    pub options: ParseOptions,
}

impl Loader {
    /// Loads bundles, which are folders, as one. The first fault is reported.
    pub fn load_bundles(&self, paths: &[String]) -> Result<Loaded, String> {
        let mut bundles: Vec<Bundle> = Vec::new();
        let (mut modules, mut documents) = (BTreeMap::new(), Documents::default());
        let mut reading = None;
        for path in paths {
            let mut bundle = Bundle::load(path, &self.ignore, &self.options)?;
            if let Some(refused) = bundles.iter().find_map(|other| other.overlaps(&bundle)) {
                return Err(refused);
            }
            modules.append(&mut bundle.modules);
            documents.insert(&[], bundle.documents.clone());
            reading = sum(reading, bundle.reading);
            bundles.push(bundle);
        }
        Ok(Loaded {
            modules,
            documents: documents.finish(),
            reading,
        })
    }

    /// Loads paths as commands name them. All faults are reported, not only the first.
    pub fn load(&self, paths: &[String]) -> Result<Loaded, LoadErrors> {
        let mut modules = BTreeMap::new();
        let mut documents = Documents::default();
        // modules and faults in the order they were found
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut reading = None;
        for file in paths
            .iter()
            .flat_map(|path| find(path, self.wanted, &self.ignore))
        {
            if let Ok(file) = &file
                && !seen.insert(file.identity())
            {
                continue;
            }
            let start = Instant::now();
            let added = file.and_then(|file| match self.read(&file)? {
                Content::Module(text) => {
                    modules.insert(file.name.clone(), text);
                    found.push(Ok(file.name));
                    Ok(())
                }
                Content::Document(value) => {
                    reading = sum(reading, Some(start.elapsed()));
                    documents.add(&file, value)
                }
            });
            found.extend(added.err().map(Err));
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

    /// What a file holds. One whose name does not tell is a module, JSON or YAML, whichever it can be.
    fn read(&self, file: &Found) -> Result<Content, LoadError> {
        match file.kind {
            Kind::Module => file.text().map(Content::Module),
            Kind::Json | Kind::Yaml => read_document(file).map(Content::Document),
            Kind::Unknown => {
                let module = file.text();
                let module = module.is_ok_and(|text| self.refused(&file.name, &text).is_empty());
                let kinds = [
                    (Kind::Module, module),
                    (Kind::Json, true),
                    (Kind::Yaml, true),
                ];
                let kinds = kinds.into_iter().filter(|(_, possible)| *possible);
                let mut read = kinds.map(|(kind, _)| self.read(&file.taken_as(kind)));
                read.find(Result::is_ok).unwrap_or_else(|| {
                    Err(LoadError::within(&file.name, "can't recognize file type"))
                })
            }
        }
    }

    fn refused(&self, name: &str, text: &str) -> Vec<LoadError> {
        let source = Source::new(SourceId(0), name, text);
        let refused = parse_module(&source, &self.options)
            .err()
            .map(|diagnostics| diagnostics.0);
        refused
            .into_iter()
            .flatten()
            .map(LoadError::Syntax)
            .collect()
    }
}
