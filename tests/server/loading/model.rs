//! A model of the documents and policies in force: files, overlaid by the writes of clients in order.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// State of a path that a client has changed.
#[derive(Clone, Debug)]
enum Left {
    Value(Value),
    Nothing,
    /// An object that was created as a parent of another document.
    Object,
}

/// Files by name, and the writes of clients.
#[derive(Default)]
pub struct Model {
    /// Documents of files, by the path of their folder's document, and their content.
    pub documents: BTreeMap<String, (Vec<String>, Value)>,
    /// Policies of files: the number of the package and its value.
    pub modules: BTreeMap<String, (usize, usize)>,
    /// Numbers of packages of files that clients replaced or removed.
    hidden: BTreeSet<usize>,
    /// Policies of clients: the number of the package and its value, by id.
    pub clients: BTreeMap<String, (usize, usize)>,
    left: Vec<(Vec<String>, Left)>,
}

/// Returns the text of a policy. Two policies of one package conflict, and all values have the same length.
pub fn module(package: usize, value: usize) -> String {
    let value = 1_000_000 + value;
    format!("package pol.m{package}\n\ndefault v := 0\n\nv := {value} if true\n")
}

/// Returns the number of the package in a policy's text.
pub fn package(text: &str) -> usize {
    let rest = text.strip_prefix("package pol.m").unwrap();
    rest.split('\n').next().unwrap().parse().unwrap()
}

impl Model {
    /// Returns the documents of files alone.
    fn given(&self) -> Value {
        let mut root = Value::Object(Map::new());
        for (place, value) in self.documents.values() {
            merge(&mut root, place, value);
        }
        root
    }

    /// Returns the base documents in force.
    pub fn base(&self) -> Value {
        let mut root = self.given();
        for (path, left) in &self.left {
            match left {
                Left::Value(value) => {
                    let (last, parents) = path.split_last().unwrap();
                    object_at(&mut root, parents).insert(last.clone(), value.clone());
                }
                Left::Object => {
                    object_at(&mut root, path);
                }
                Left::Nothing => {
                    let (last, parents) = path.split_last().unwrap();
                    let pointer = pointer(parents);
                    if let Some(Value::Object(object)) = root.pointer_mut(&pointer) {
                        object.remove(last);
                    }
                }
            }
        }
        root
    }

    /// Returns all documents in force.
    pub fn data(&self) -> Value {
        let mut root = self.base();
        let files = self
            .modules
            .values()
            .filter(|(package, _)| !self.hidden.contains(package));
        let packages: Map<String, Value> = files
            .chain(self.clients.values())
            .map(|(package, value)| {
                let value = serde_json::json!({"v": 1_000_000 + value});
                (format!("m{package}"), value)
            })
            .collect();
        if !packages.is_empty() {
            root["pol"] = Value::Object(packages);
        }
        root
    }

    /// Records that a client has written a policy under an id.
    pub fn put_policy(&mut self, id: &str, package: usize, value: usize) {
        self.hidden.insert(package);
        self.clients.insert(id.to_owned(), (package, value));
    }

    /// Records that a client has removed a policy.
    pub fn delete_policy(&mut self, id: &str, package: usize) {
        self.hidden.insert(package);
        self.clients.remove(id);
    }

    /// Writes a document of a client. Returns `false` if that is a conflict.
    pub fn put(&mut self, path: &[String], value: Value) -> bool {
        let base = self.base();
        for length in 0..path.len() {
            match base.pointer(&pointer(&path[..length])) {
                Some(Value::Object(_)) => {}
                Some(_) => return false,
                None => {
                    // the objects from this level on are created
                    for made in length..path.len() {
                        self.left.push((path[..made].to_vec(), Left::Object));
                    }
                    break;
                }
            }
        }
        self.forget(path);
        self.left.push((path.to_vec(), Left::Value(value)));
        true
    }

    /// Removes a document of a client. Returns `false` if it does not exist.
    pub fn delete(&mut self, path: &[String]) -> bool {
        if self.base().pointer(&pointer(path)).is_none() {
            return false;
        }
        self.forget(path);
        let is_within = self
            .left
            .iter()
            .any(|(other, left)| matches!(left, Left::Value(_)) && path.starts_with(other));
        let given = self.given();
        let (_, parents) = path.split_last().unwrap();
        if is_within || given.pointer(&pointer(path)).is_some() {
            self.left.push((path.to_vec(), Left::Nothing));
        } else if !given
            .pointer(&pointer(parents))
            .is_some_and(Value::is_object)
        {
            // the parent objects still exist
            self.left.push((parents.to_vec(), Left::Object));
        }
        true
    }

    fn forget(&mut self, path: &[String]) {
        self.left.retain(|(other, _)| !other.starts_with(path));
    }
}

/// Returns a path as a JSON pointer. Its keys contain no escapes.
pub fn pointer(path: &[String]) -> String {
    path.iter().map(|key| format!("/{key}")).collect()
}

fn merge(root: &mut Value, place: &[String], value: &Value) {
    let object = object_at(root, place);
    for (key, value) in value.as_object().unwrap() {
        object.insert(key.clone(), value.clone());
    }
}

/// Returns the object at a path. Replaces any other value by an empty object.
fn object_at<'v>(root: &'v mut Value, path: &[String]) -> &'v mut Map<String, Value> {
    let mut place = root;
    for key in path {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = place
            .as_object_mut()
            .unwrap()
            .entry(key.clone())
            .or_insert(Value::Null);
    }
    if !place.is_object() {
        *place = Value::Object(Map::new());
    }
    place.as_object_mut().unwrap()
}
