//! Bundles that are folders, by OPA's rules: policies, documents in files named `data.json`, `data.yaml` or `data.yml`,
//! and a manifest that says which documents the bundle owns.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use solon_syntax::ast::{Module, Version};
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_module};

use super::{Documents, Found, Ignore, Kind, Walk, Wanted, read_document};
use crate::bundle::{FileKind, Files, Links, LoadError};
use crate::value::Value;

/// The file of a bundle that says which documents it owns.
const MANIFEST: &str = ".manifest";

/// What a bundle brings.
#[derive(Debug)]
pub struct Bundle {
    /// Module texts by name, which is their path.
    pub modules: BTreeMap<String, String>,
    /// The documents, merged.
    pub documents: Value,
    /// How long reading documents took; nothing where there were none.
    pub reading: Option<Duration>,
    /// The documents it owns, each as the steps to it.
    pub roots: Vec<Vec<String>>,
}

/// The fields of a manifest that say what is loaded, and how.
#[derive(Default, Deserialize)]
struct Manifest {
    roots: Option<Vec<String>>,
    rego_version: Option<u8>,
    #[serde(default)]
    file_rego_versions: BTreeMap<String, u8>,
}

impl Bundle {
    /// Loads a folder.
    pub fn load(
        files: &dyn Files,
        name: &str,
        ignore: &Ignore,
        options: &ParseOptions,
    ) -> Result<Self, String> {
        match files.look(Path::new(name), Links::Followed) {
            Err(error) => {
                let error = LoadError::system("stat", name, &error);
                return Err(format!("error reading \"{name}\": {error}"));
            }
            Ok(FileKind::Folder) => {}
            Ok(_) => {
                return Err(format!("bundle {name}: bundles are read from folders only"));
            }
        }
        Self::of_folder(files, name, ignore, options)
            .map_err(|what| format!("bundle {name}: {what}"))
    }

    /// Returns the files that a load of the folder reads.
    pub fn files(files: &dyn Files, name: &str, ignore: &Ignore) -> Vec<PathBuf> {
        let found = Walk::new(files, Wanted::All, ignore).find_in_folder(name);
        let found = found.into_iter().filter_map(Result::ok);
        let read = found.filter(|file| file.kind == Kind::Module || is_data(file));
        let manifest = Path::new(name).join(MANIFEST);
        read.map(Found::into_path).chain([manifest]).collect()
    }

    fn of_folder(
        files: &dyn Files,
        name: &str,
        ignore: &Ignore,
        options: &ParseOptions,
    ) -> Result<Self, String> {
        let manifest = manifest(files, &Path::new(name).join(MANIFEST), options)?;
        let steps = |root: String| {
            let steps = root.split('/').filter(|step| !step.is_empty());
            steps.map(str::to_owned).collect()
        };
        let roots = manifest.roots.unwrap_or_else(|| vec![String::new()]);
        let mut bundle = Self {
            modules: BTreeMap::new(),
            documents: Value::Null,
            reading: None,
            roots: roots.into_iter().map(steps).collect(),
        };
        for (at, root) in bundle.roots.iter().enumerate() {
            if let Some(refused) = overlap(root, bundle.roots.iter().skip(at + 1)) {
                return Err(refused);
            }
        }
        let mut documents = Documents::default();
        for found in Walk::new(files, Wanted::All, ignore).find_in_folder(name) {
            let file = found.map_err(|error| error.to_string())?;
            match file.kind {
                Kind::Module => {
                    let text = file
                        .text(files, options)
                        .map_err(|error| error.to_string())?;
                    bundle.modules.insert(file.name, text);
                }
                _ if is_data(&file) => {
                    let start = Instant::now();
                    add(files, &mut documents, &file)?;
                    bundle.reading = Some(bundle.reading.unwrap_or_default() + start.elapsed());
                }
                _ => {}
            }
        }
        bundle.documents = documents.finish();
        bundle.check(options)?;
        Ok(bundle)
    }

    /// Whether all that is in the bundle lies below its roots.
    fn check(&self, options: &ParseOptions) -> Result<(), String> {
        let roots: Vec<String> = self.roots.iter().map(|root| root.join("/")).collect();
        let roots = roots.join(" ");
        for (name, text) in &self.modules {
            let module = parsed(name, text, options)?;
            let steps = module.package.path.iter().skip(1);
            let steps: Vec<String> = steps
                .filter_map(|step| Some(step.as_string()?.to_string()))
                .collect();
            if !self.roots.iter().any(|root| steps.starts_with(root)) {
                return Err(format!(
                    "manifest roots [{roots}] do not permit '{}' in module '{name}'",
                    module.package
                ));
            }
        }
        match self.foreign(&self.documents, &mut Vec::new()) {
            Some(path) => Err(format!(
                "manifest roots [{roots}] do not permit data at path '/{path}' (hint: check bundle directory structure)"
            )),
            None => Ok(()),
        }
    }

    /// The path of a document that no root permits.
    fn foreign(&self, document: &Value, path: &mut Vec<String>) -> Option<String> {
        if self.roots.iter().any(|root| path.starts_with(root)) {
            return None;
        }
        match document {
            Value::Object(object) if self.roots.iter().any(|root| root.starts_with(path)) => {
                object.iter().find_map(|(key, inner)| {
                    path.push(key.borrow().text_or_empty().to_str().into_owned());
                    let found = self.foreign(inner, path);
                    path.pop();
                    found
                })
            }
            _ => Some(path.join("/")),
        }
    }
}

/// What is wrong when a root is one of others, or lies above or below one.
fn overlap<'r>(
    root: &[String],
    mut others: impl Iterator<Item = &'r Vec<String>>,
) -> Option<String> {
    let other = others.find(|other| root.starts_with(other) || other.starts_with(root))?;
    let (root, other) = (root.join("/"), other.join("/"));
    Some(format!(
        "manifest has overlapped roots: '{root}' and '{other}'"
    ))
}

fn manifest(files: &dyn Files, path: &Path, options: &ParseOptions) -> Result<Manifest, String> {
    let Ok(text) = files.read(path) else {
        return Ok(Manifest::default());
    };
    let refused =
        |what: &dyn fmt::Display| format!("bundle load failed on manifest decode: {what}");
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| refused(&error))?;
    let known = match options.version {
        Version::V0 => 0,
        Version::V1 | Version::V0CompatV1 => 1,
    };
    let mut versions = manifest.file_rego_versions.values();
    let versions = versions.by_ref().chain(&manifest.rego_version);
    match versions.copied().find(|version| *version != known) {
        Some(other) => Err(refused(&format_args!(
            "policies of rego_version {other} cannot be read beside those of {known}"
        ))),
        None => Ok(manifest),
    }
}

/// Whether a bundle's documents are in a file of this name.
fn is_data(file: &Found) -> bool {
    let name = Path::new(&file.name).file_name();
    let name = name.and_then(|name| name.to_str());
    matches!(name, Some("data.json" | "data.yaml" | "data.yml"))
}

fn add(files: &dyn Files, documents: &mut Documents, file: &Found) -> Result<(), String> {
    let value =
        read_document(files, file).map_err(|error| format!("bundle load failed on {error}"))?;
    let place = file.place.join("/");
    let path = Path::new(&file.name).file_name().unwrap_or_default();
    let path = Path::new("/").join(&place).join(path);
    let refused = |what: &dyn fmt::Display| {
        let path = path.display();
        Err(format!("bundle load failed on {path}: {what}"))
    };
    if file.place.is_empty() && !matches!(value, Value::Object(_)) {
        return refused(&"root value must be object");
    }
    if documents.insert(&file.place, value) {
        return Ok(());
    }
    refused(&format_args!(
        "failed to insert data file from path {place}"
    ))
}

fn parsed(name: &str, text: &str, options: &ParseOptions) -> Result<Module, String> {
    let source = Source::new(SourceId(0), name, text);
    parse_module(&source, options).map_err(|diagnostics| diagnostics.to_string())
}
