//! Documents from files, merged into one.

use std::collections::HashSet;

use solon::Value;
use solon::value::{json, yaml};

use super::{Found, Kind, LoadError};
use crate::wire::malformed_json;

/// Documents on their way into one.
#[derive(Debug)]
pub struct Documents {
    merged: Value,
    /// Each document at its place with its file's name, to say who else defined a value.
    read: Vec<(String, Value)>,
    names: HashSet<String>,
}

impl Default for Documents {
    fn default() -> Self {
        Self {
            merged: Value::object(Vec::new()),
            read: Vec::new(),
            names: HashSet::new(),
        }
    }
}

impl Documents {
    /// Reads a file. One that was read before is not read again.
    pub fn add(&mut self, file: &Found) -> Result<(), LoadError> {
        if !self.names.insert(file.name.clone()) {
            return Ok(());
        }
        let value = read_document(file)?;
        if !matches!(value, Value::Object(_)) {
            return Err(LoadError::within(
                &file.name,
                "document must be of type object",
            ));
        }
        let placed = placed(&file.place, value);
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

    /// Puts a document at a place; `false` when there is another one that it cannot be merged with.
    pub fn insert(&mut self, place: &[String], value: Value) -> bool {
        let placed = placed(place, value);
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

/// A document within the objects that lead to its place.
fn placed(place: &[String], value: Value) -> Value {
    place.iter().rev().fold(value, |inner, key| {
        Value::object(vec![(Value::string(key), inner)])
    })
}

/// The document of a file.
pub(super) fn read_document(file: &Found) -> Result<Value, LoadError> {
    let bytes = file.bytes()?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    match file.kind {
        Kind::Json => {
            json::read(bytes).map_err(|_| LoadError::within(&file.name, malformed_json(bytes)))
        }
        _ => yaml::read(bytes).map_err(|error| {
            LoadError::within(
                &file.name,
                format!("error converting YAML to JSON: {error}"),
            )
        }),
    }
}

/// Where two documents cannot be merged: two values at one place, not both objects.
fn conflict(a: &Value, b: &Value, path: &str) -> Option<String> {
    let (Value::Object(a), Value::Object(b)) = (a, b) else {
        return Some(path.to_owned());
    };
    b.iter().find_map(|(key, value)| {
        let other = a.get(key.borrow())?;
        conflict(
            other,
            value,
            &format!("{path}.{}", key.borrow().text_or_empty().to_str()),
        )
    })
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from.iter() {
                if into.change(key.borrow(), |old| merge(old, value)).is_none() {
                    into.insert(key.clone(), value.clone());
                }
            }
        }
        (into, from) => *into = from.clone(),
    }
}
