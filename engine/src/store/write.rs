//! Changing one document inside a tree of shared ones.

use std::sync::Arc;

use crate::limits;
use crate::value::{Object, Value};

use super::path::index;
use super::{Path, StoreError};

/// What is done to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Sets it, or inserts it into an array.
    Add,
    /// Sets it; it must exist.
    Replace,
    /// Takes it away; it must exist.
    Remove,
}

/// Refuses a document that would nest deeper than documents that are read may.
pub(super) fn check_depth(path: &Path, value: &Value) -> Result<(), StoreError> {
    let left = limits::NESTING.checked_sub(path.segments().len());
    if left.is_some_and(|left| nests_within(value, left)) {
        return Ok(());
    }
    Err(StoreError::InvalidPatch {
        message: format!("document nests deeper than {} levels", limits::NESTING),
    })
}

fn nests_within(value: &Value, levels: usize) -> bool {
    let below = |value: &Value| levels > 0 && nests_within(value, levels - 1);
    match value {
        Value::Array(items) => items.iter().all(below),
        Value::Set(set) => set.items().iter().all(below),
        Value::Object(object) => object.iter().all(|(key, value)| below(key) && below(value)),
        _ => true,
    }
}

pub(super) fn write(
    root: &mut Value,
    operation: Operation,
    path: &Path,
    value: Value,
) -> Result<(), StoreError> {
    let Some((last, parents)) = path.segments().split_last() else {
        return write_root(root, operation, value);
    };
    let mut parent = root;
    for segment in parents {
        parent = child_mut(parent, segment).ok_or_else(|| StoreError::not_found(path))?;
    }
    match parent {
        Value::Object(object) => {
            let key = Value::string(last);
            if operation != Operation::Add && object.get(key.borrow()).is_none() {
                return Err(StoreError::not_found(path));
            }
            let object = Arc::make_mut(object);
            match operation {
                Operation::Remove => drop(object.remove(key.borrow())),
                _ => drop(object.insert(key, value)),
            }
            Ok(())
        }
        Value::Array(items) => {
            write_element(items, operation, last, value).ok_or_else(|| StoreError::not_found(path))
        }
        _ => Err(StoreError::not_found(path)),
    }
}

fn write_root(root: &mut Value, operation: Operation, value: Value) -> Result<(), StoreError> {
    if operation == Operation::Remove {
        return Err(StoreError::InvalidPatch {
            message: "root cannot be removed".into(),
        });
    }
    if !matches!(value, Value::Object(_)) {
        return Err(StoreError::InvalidPatch {
            message: "root must be object".into(),
        });
    }
    *root = value;
    Ok(())
}

fn write_element(
    items: &mut Arc<Vec<Value>>,
    operation: Operation,
    at: &str,
    value: Value,
) -> Option<()> {
    if operation == Operation::Add && at == "-" {
        Arc::make_mut(items).push(value);
        return Some(());
    }
    let at = index(at)?;
    let bound = if operation == Operation::Add {
        items.len() + 1
    } else {
        items.len()
    };
    if at >= bound {
        return None;
    }
    let items = Arc::make_mut(items);
    match operation {
        Operation::Add => items.insert(at, value),
        Operation::Replace => *items.get_mut(at)? = value,
        Operation::Remove => drop(items.remove(at)),
    }
    Some(())
}

fn child_mut<'a>(value: &'a mut Value, segment: &str) -> Option<&'a mut Value> {
    match value {
        Value::Object(object) => {
            let key = Value::string(segment);
            // look before copying: a path that leads nowhere must not unshare anything
            object.get(key.borrow())?;
            Arc::make_mut(object).get_mut(key.borrow())
        }
        Value::Array(items) => {
            let at = index(segment)?;
            items.get(at)?;
            Arc::make_mut(items).get_mut(at)
        }
        _ => None,
    }
}

pub(super) fn make_parents(root: &mut Value, path: &Path) -> Result<(), StoreError> {
    let Some((_, parents)) = path.segments().split_last() else {
        return Ok(());
    };
    let mut place = root;
    for segment in parents {
        match place {
            Value::Object(object) => {
                let key = Value::string(segment);
                let object = Arc::make_mut(object);
                if object.get(key.borrow()).is_none() {
                    object.insert(key.clone(), Value::Object(Arc::new(Object::default())));
                }
                place = object
                    .get_mut(key.borrow())
                    .ok_or_else(|| StoreError::not_found(path))?;
            }
            Value::Array(_) => {
                place = child_mut(place, segment).ok_or_else(|| StoreError::not_found(path))?
            }
            _ => {
                return Err(StoreError::Conflict {
                    message: path.to_string(),
                });
            }
        }
    }
    match place {
        Value::Object(_) | Value::Array(_) => Ok(()),
        _ => Err(StoreError::Conflict {
            message: path.to_string(),
        }),
    }
}
