//! Changes of one document in a persistent tree.

use solon_syntax::stack;

use crate::limits;
use crate::value::{Excess, Items, Kind, Object, Repr, Value};

use super::path::{bad_index, index};
use super::{Path, StoreError};

/// An operation on a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Sets a document, or inserts it into an array before the element at the index. `-` appends.
    Add,
    /// Sets a document that must exist.
    Replace,
    /// Removes a document that must exist.
    Remove,
}

/// Returns `true` if two documents have the same text: they are equal, and their numbers have the same notation.
pub(crate) fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value(Repr::Array(a)), Value(Repr::Array(b))) => {
            let mut pairs = a.iter().zip(b.iter());
            a.len() == b.len() && stack::level(|| pairs.all(|(a, b)| is_same(a, b)))
        }
        (Value(Repr::Object(a)), Value(Repr::Object(b))) => {
            let mut pairs = a.iter().zip(b.iter());
            let is_same_pair =
                |((a, x), (b, y)): ((&Value, &Value), (&Value, &Value))| a == b && is_same(x, y);
            a.len() == b.len() && stack::level(|| pairs.all(is_same_pair))
        }
        (Value(Repr::Int(a)), Value(Repr::Int(b))) => a == b,
        _ if a.kind() == Kind::Number => {
            a == b && a.rego_text().to_string() == b.rego_text().to_string()
        }
        _ => a == b,
    }
}

/// Rejects a document that would be nested deeper than a parsed document may be, or that has more nodes, counting
/// shared ones each time, than one transaction may write. Copies of copies grow exponentially.
pub(super) fn check_extent(path: &Path, value: &Value, parts: &mut u32) -> Result<(), StoreError> {
    let excess = match limits::VALUE_NESTING.checked_sub(path.segments().len()) {
        Some(levels) => excess(value, levels, parts),
        None => Some(Excess::Depth),
    };
    let message = match excess {
        None => return Ok(()),
        Some(Excess::Depth) => {
            format!(
                "document nests deeper than {} levels",
                limits::VALUE_NESTING
            )
        }
        Some(Excess::Nodes) => format!("documents of more than {} nodes", limits::VALUE_NODES),
    };
    Err(StoreError::invalid_patch(message))
}

/// Rejects a copy that exceeds the remaining bytes of copied text.
pub(super) fn check_copy(value: &Value, remaining_bytes: &mut usize) -> Result<(), StoreError> {
    if takes_text(value, remaining_bytes) {
        return Ok(());
    }
    let message = format!("copies of more than {} bytes of text", limits::COPIED_TEXT);
    Err(StoreError::invalid_patch(message))
}

/// Deducts the strings and keys of a value from the remaining bytes. Returns `false` if there are not enough.
fn takes_text(value: &Value, remaining_bytes: &mut usize) -> bool {
    match value {
        Value(Repr::Array(items)) => {
            stack::level(|| items.iter().all(|item| takes_text(item, remaining_bytes)))
        }
        Value(Repr::Set(set)) => stack::level(|| {
            set.items()
                .iter()
                .all(|item| takes_text(item, remaining_bytes))
        }),
        Value(Repr::Object(object)) => stack::level(|| {
            let mut pairs = object.iter();
            pairs.all(|(key, value)| {
                takes_text(key, remaining_bytes) && takes_text(value, remaining_bytes)
            })
        }),
        scalar => {
            let length = scalar.borrow().text_or_empty().as_bytes().len();
            let rest = remaining_bytes.checked_sub(length);
            *remaining_bytes = rest.unwrap_or_default();
            rest.is_some()
        }
    }
}

fn excess(value: &Value, levels: usize, parts: &mut u32) -> Option<Excess> {
    let Some(remaining_nodes) = parts.checked_sub(1) else {
        return Some(Excess::Nodes);
    };
    *parts = remaining_nodes;
    let mut excess_below = |value: &Value| {
        let Some(levels) = levels.checked_sub(1) else {
            return Some(Excess::Depth);
        };
        match value {
            Value(Repr::Array(_) | Repr::Set(_) | Repr::Object(_)) => {
                stack::level(|| excess(value, levels, parts))
            }
            // most nodes are scalars
            _ => excess(value, levels, parts),
        }
    };
    match value {
        Value(Repr::Array(items)) => items.iter().find_map(excess_below),
        Value(Repr::Set(set)) => set.items().iter().find_map(excess_below),
        Value(Repr::Object(object)) => object
            .iter()
            .find_map(|(key, value)| excess_below(key).or_else(|| excess_below(value))),
        _ => None,
    }
}

pub(super) fn write(
    root: &mut Value,
    operation: Operation,
    path: &Path,
    value: Value,
) -> Result<(), StoreError> {
    if path.is_root() {
        return write_root(root, operation, value);
    }
    write_below(root, path.segments(), operation, path, value)
}

/// Writes a document at `keys` below `parent`. Errors name the whole path.
pub(super) fn write_below(
    parent: &mut Value,
    keys: &[String],
    operation: Operation,
    path: &Path,
    value: Value,
) -> Result<(), StoreError> {
    match keys {
        [] => Ok(()),
        [last] => write_member(parent, operation, last, path, value),
        [key, keys @ ..] => step(parent, key, path, |parent| {
            stack::level(|| write_below(parent, keys, operation, path, value))
        }),
    }
}

fn write_member(
    parent: &mut Value,
    operation: Operation,
    last: &str,
    path: &Path,
    value: Value,
) -> Result<(), StoreError> {
    match parent {
        Value(Repr::Object(object)) => {
            let key = Value::string(last);
            if operation != Operation::Add && object.get(key.borrow()).is_none() {
                return Err(StoreError::not_found(path));
            }
            match operation {
                Operation::Remove => object.remove(key.borrow()),
                _ => object.insert(key, value),
            }
            Ok(())
        }
        Value(Repr::Array(items)) => {
            let position = element_position(items.len(), operation, last, path)?;
            write_element(items, operation, position, value);
            Ok(())
        }
        _ => Err(StoreError::not_found(path)),
    }
}

/// Changes the document at a path in place.
pub(super) fn change_at(
    root: &mut Value,
    path: &Path,
    change: &mut dyn FnMut(&mut Value),
) -> Result<(), StoreError> {
    change_below(root, path.segments(), path, change)
}

fn change_below(
    parent: &mut Value,
    keys: &[String],
    path: &Path,
    change: &mut dyn FnMut(&mut Value),
) -> Result<(), StoreError> {
    let Some((key, keys)) = keys.split_first() else {
        change(parent);
        return Ok(());
    };
    step(parent, key, path, |parent| {
        stack::level(|| change_below(parent, keys, path, change))
    })
}

fn write_root(root: &mut Value, operation: Operation, value: Value) -> Result<(), StoreError> {
    if operation == Operation::Remove {
        return Err(StoreError::invalid_patch("root cannot be removed"));
    }
    if !matches!(value, Value(Repr::Object(_))) {
        return Err(StoreError::invalid_patch("root must be object"));
    }
    *root = value;
    Ok(())
}

/// Returns the position of a change in an array. `-` is the position after its end, which is valid for additions only.
pub(super) fn element_position(
    length: usize,
    operation: Operation,
    key: &str,
    path: &Path,
) -> Result<usize, StoreError> {
    let adds = operation == Operation::Add;
    let position = if adds && key == "-" {
        Some(length)
    } else {
        index(key.as_bytes())
    };
    position
        .filter(|position| *position < length + usize::from(adds))
        .ok_or_else(|| StoreError::bad_index(path, bad_index(key)))
}

fn write_element(items: &mut Items, operation: Operation, position: usize, value: Value) {
    match operation {
        Operation::Add => items.insert(position, value),
        Operation::Replace => drop(items.change(position, |item| *item = value)),
        Operation::Remove => items.remove(position),
    }
}

/// Changes a child with `change`.
///
/// # Errors
/// The parent has no such child.
fn step(
    parent: &mut Value,
    key: &str,
    path: &Path,
    change: impl FnOnce(&mut Value) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let missing = if matches!(parent, Value(Repr::Array(_))) {
        StoreError::bad_index(path, bad_index(key))
    } else {
        StoreError::not_found(path)
    };
    let result = match parent {
        Value(Repr::Object(object)) => object.change(Value::string(key).borrow(), change),
        Value(Repr::Array(items)) => {
            index(key.as_bytes()).and_then(|index| items.change(index, change))
        }
        _ => None,
    };
    result.unwrap_or(Err(missing))
}

/// Creates the objects that are missing above a path.
pub(super) fn make_parents(root: &mut Value, path: &Path) -> Result<(), StoreError> {
    let Some((_, parents)) = path.segments().split_last() else {
        return Ok(());
    };
    make_below(root, parents, path)
}

pub(super) fn make_below(
    parent: &mut Value,
    parents: &[String],
    path: &Path,
) -> Result<(), StoreError> {
    let conflict = || StoreError::Conflict {
        message: path.to_string(),
    };
    let Some((key, keys)) = parents.split_first() else {
        return match parent {
            Value(Repr::Object(_) | Repr::Array(_)) => Ok(()),
            _ => Err(conflict()),
        };
    };
    match parent {
        Value(Repr::Object(object)) => {
            if object.get_str(key).is_none() {
                object.insert(Value::string(key), Value(Repr::Object(Object::default())));
            }
        }
        Value(Repr::Array(_)) => {}
        _ => return Err(conflict()),
    }
    step(parent, key, path, |parent| {
        stack::level(|| make_below(parent, keys, path))
    })
}
