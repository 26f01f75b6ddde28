//! Documents from files, merged into one.

use solon_syntax::print::write_key;

use super::{FileToLoad, NamedFileKind};
use crate::bundle::{Files, LoadError};
use crate::value::{Repr, Value, json, yaml};

/// Documents of several files, merged into one object.
#[derive(Debug)]
pub struct MergedDocuments {
    merged: Value,
    /// The documents at their paths, each with the name of its file, for messages about conflicts.
    read: Vec<(String, Value)>,
}

impl Default for MergedDocuments {
    fn default() -> Self {
        Self {
            merged: Value::object(Vec::new()),
            read: Vec::new(),
        }
    }
}

impl MergedDocuments {
    /// Adds the document of a file.
    ///
    /// # Errors
    /// The document is at the root and not an object, or another file defines a different value at one of its paths. Nothing is added then.
    pub fn add(&mut self, file: &FileToLoad, value: Value) -> Result<(), LoadError> {
        let nested = nest_at_path(&file.document_path, value);
        if !matches!(nested, Value(Repr::Object(_))) {
            return Err(LoadError::in_file(
                &file.name,
                "document must be of type object",
            ));
        }
        if let Some(path) = conflict(&self.merged, &nested, "data") {
            let other = self
                .read
                .iter()
                .find(|(_, before)| conflict(before, &nested, "data").is_some());
            let other = other.map_or("another file", |(name, _)| name);
            let reason =
                format!("merge error: conflicting values at {path}, also defined in {other}");
            return Err(LoadError::in_file(&file.name, reason));
        }
        merge(&mut self.merged, &nested);
        self.read.push((file.name.clone(), nested));
        Ok(())
    }

    /// Adds a document at a path. Returns `false`, and adds nothing, if a document at one of its paths cannot be merged with it.
    pub fn insert(&mut self, document_path: &[String], value: Value) -> bool {
        let nested = nest_at_path(document_path, value);
        let fits = conflict(&self.merged, &nested, "data").is_none();
        if fits {
            merge(&mut self.merged, &nested);
        }
        fits
    }

    pub fn finish(self) -> Value {
        self.merged
    }
}

/// Returns a document within objects for the steps of its path.
fn nest_at_path(document_path: &[String], value: Value) -> Value {
    document_path.iter().rev().fold(value, |inner, key| {
        Value::object(vec![(Value::string(key), inner)])
    })
}

/// Reads and parses the document of a file.
///
/// # Errors
/// The file cannot be read, or is not a document. The error names it.
pub fn read_document(files: &dyn Files, file: &FileToLoad) -> Result<Value, LoadError> {
    document_of(&file.name, file.kind, &file.bytes(files)?)
}

/// Parses the document of a file, as JSON or YAML. The message of an error begins with the name of the file.
pub fn document_of(name: &str, kind: NamedFileKind, bytes: &[u8]) -> Result<Value, LoadError> {
    match kind {
        NamedFileKind::Json => {
            json::read(bytes).map_err(|_| LoadError::in_file(name, json::error_message(bytes)))
        }
        _ => yaml::read(bytes).map_err(|error| {
            LoadError::in_file(name, format!("error converting YAML to JSON: {error}"))
        }),
    }
}

/// Returns a path at which two documents have values that are not both objects, or `None` if the documents can be merged.
fn conflict(a: &Value, b: &Value, path: &str) -> Option<String> {
    let (Value(Repr::Object(a)), Value(Repr::Object(b))) = (a, b) else {
        return Some(path.to_owned());
    };
    b.iter().find_map(|(key, value)| {
        let other = a.get(key.borrow())?;
        conflict(
            other,
            value,
            &child_path(path, &key.borrow().text_or_empty().to_str()),
        )
    })
}

/// A reference with one more step.
fn child_path(path: &str, key: &str) -> String {
    let mut longer = path.to_owned();
    let _ = write_key(&mut longer, key);
    longer
}

fn merge(target: &mut Value, source: &Value) {
    match (target, source) {
        (Value(Repr::Object(target_object)), Value(Repr::Object(source_object))) => {
            for (key, value) in source_object.iter() {
                if target_object
                    .change(key.borrow(), |old| merge(old, value))
                    .is_none()
                {
                    target_object.insert(key.clone(), value.clone());
                }
            }
        }
        (target, source) => *target = source.clone(),
    }
}
