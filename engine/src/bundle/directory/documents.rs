//! Documents from files, merged into one.

use solon_syntax::print::write_key;

use super::{FileToLoad, NamedFileKind};
use crate::bundle::{Files, LoadError};
use crate::value::{Repr, Value, json, yaml};

/// Documents on their way into one.
#[derive(Debug)]
pub struct MergedDocuments {
    merged: Value,
    /// Each document at its document_path with its file's name, to say who else defined a value.
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
    /// Adds the document of a file. What goes below no path has to be an object.
    pub fn add(&mut self, file: &FileToLoad, value: Value) -> Result<(), LoadError> {
        let placed = placed(&file.document_path, value);
        if !matches!(placed, Value(Repr::Object(_))) {
            return Err(LoadError::within(
                &file.name,
                "document must be of type object",
            ));
        }
        if let Some(path) = conflict(&self.merged, &placed, "data") {
            let other = self
                .read
                .iter()
                .find(|(_, before)| conflict(before, &placed, "data").is_some());
            let other = other.map_or("another file", |(name, _)| name);
            let what =
                format!("merge error: conflicting values at {path}, also defined in {other}");
            return Err(LoadError::within(&file.name, what));
        }
        merge(&mut self.merged, &placed);
        self.read.push((file.name.clone(), placed));
        Ok(())
    }

    /// Puts a document at a document_path; `false` when there is another one that it cannot be merged with.
    pub fn insert(&mut self, document_path: &[String], value: Value) -> bool {
        let placed = placed(document_path, value);
        let fits = conflict(&self.merged, &placed, "data").is_none();
        if fits {
            merge(&mut self.merged, &placed);
        }
        fits
    }

    /// All of them as one.
    pub fn finish(self) -> Value {
        self.merged
    }
}

/// A document within the objects that lead to its document_path.
fn placed(document_path: &[String], value: Value) -> Value {
    document_path.iter().rev().fold(value, |inner, key| {
        Value::object(vec![(Value::string(key), inner)])
    })
}

/// The document of a file.
pub fn read_document(files: &dyn Files, file: &FileToLoad) -> Result<Value, LoadError> {
    document_of(&file.name, file.kind, &file.bytes(files)?)
}

/// The document of a file whose bytes were read.
pub fn document_of(name: &str, kind: NamedFileKind, bytes: &[u8]) -> Result<Value, LoadError> {
    match kind {
        NamedFileKind::Json => {
            json::read(bytes).map_err(|_| LoadError::within(name, json::error_message(bytes)))
        }
        _ => yaml::read(bytes).map_err(|error| {
            LoadError::within(name, format!("error converting YAML to JSON: {error}"))
        }),
    }
}

/// Path at which two documents cannot be merged, because it has two values that are not both objects.
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

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value(Repr::Object(into)), Value(Repr::Object(from))) => {
            for (key, value) in from.iter() {
                if into.change(key.borrow(), |old| merge(old, value)).is_none() {
                    into.insert(key.clone(), value.clone());
                }
            }
        }
        (into, from) => *into = from.clone(),
    }
}
