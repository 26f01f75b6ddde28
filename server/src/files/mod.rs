//! Policies and documents from the file system, by OPA's rules: a folder gives its `.rego`, `.json`, `.yaml` and
//! `.yml` files at any depth; a document's place is its folder's path below the named one; a file that is named
//! directly sits at the root; `a.b:path` puts everything below `data.a.b`.

mod documents;
mod error;
mod ignore;
mod source;
mod walk;

pub use documents::Documents;
pub use error::{LoadError, LoadErrors};
pub use ignore::Ignore;
pub use source::source_text;
pub use walk::{Found, Kind, Wanted, find};

use std::collections::BTreeMap;

use solon::Value;
use solon_syntax::ast::Version;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_module};

/// What was loaded.
#[derive(Debug)]
pub struct Loaded {
    /// Module texts by name, which is their path.
    pub modules: BTreeMap<String, String>,
    /// The documents, merged.
    pub documents: Value,
}

/// How files are loaded.
#[derive(Clone, Debug)]
pub struct Loader {
    /// What is read.
    pub wanted: Wanted,
    /// Names that are passed over.
    pub ignore: Ignore,
    /// The Rego that modules are written in.
    pub version: Version,
}

impl Loader {
    /// Loads paths as commands name them. All faults are reported, not only the first.
    pub fn load(&self, paths: &[String]) -> Result<Loaded, LoadErrors> {
        let mut faults = Vec::new();
        let mut modules = BTreeMap::new();
        let mut documents = Documents::default();
        for found in paths
            .iter()
            .flat_map(|path| find(path, self.wanted, &self.ignore))
        {
            let added = found.and_then(|file| match file.kind {
                Kind::Module => file
                    .text()
                    .map(|text| drop(modules.insert(file.name, text))),
                _ => documents.add(&file),
            });
            faults.extend(added.err());
        }
        if faults.is_empty() {
            return Ok(Loaded {
                modules,
                documents: documents.finish(),
            });
        }
        // nobody will compile these modules, so what is wrong with them is found here
        let mut all: Vec<_> = modules
            .iter()
            .flat_map(|(name, text)| self.refused(name, text))
            .collect();
        all.append(&mut faults);
        Err(LoadErrors(all))
    }

    fn refused(&self, name: &str, text: &str) -> Vec<LoadError> {
        let source = Source::new(SourceId(0), name, text);
        let options = ParseOptions {
            version: self.version,
            ..ParseOptions::default()
        };
        let refused = parse_module(&source, &options)
            .err()
            .map(|diagnostics| diagnostics.0);
        refused
            .into_iter()
            .flatten()
            .map(LoadError::Syntax)
            .collect()
    }
}
