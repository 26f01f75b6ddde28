//! A document that is being changed. Values that no operation passes through stay values; objects and arrays on the
//! path of an operation are opened. Sets are not: changing a member changes its identity, so sets are rebuilt.

mod object;

use solon_syntax::stack;

use crate::bug::Within as _;
use crate::builtins::arrays::allot;
use crate::builtins::operands::plain_int;
use crate::builtins::{BuiltinContext, BuiltinError};
use crate::index::Indexed as _;
use crate::value::{Kind, ValueRef};
use object::{PairChanges, PairState};

/// A document or part of one. Most nodes are never opened, so all nodes must be small.
pub enum PatchTree<'e> {
    Value(ValueRef<'e>),
    /// An object that operations changed or passed through.
    Object(Box<Opened<'e, PairChanges<'e>>>),
    Array(Box<Opened<'e, Vec<PatchTree<'e>>>>),
}

pub struct Opened<'e, P: Default> {
    /// Value when it was opened, for messages.
    original: ValueRef<'e>,
    nodes: P,
}

/// Not recursive, because documents may nest deeper than the stack allows.
impl<P: Default> Drop for Opened<'_, P> {
    #[inline]
    fn drop(&mut self) {
        if stack::is_short() {
            stack::level(|| drop(std::mem::take(&mut self.nodes)));
        }
    }
}

/// Change that an operation makes at the end of its path.
#[derive(Clone, Copy)]
pub enum TreeChange<'e> {
    Insert(ValueRef<'e>),
    Replace(ValueRef<'e>),
    Delete,
}

impl<'e> PatchTree<'e> {
    /// Opens an object or an array.
    fn open(&mut self, call: &mut BuiltinContext<'e>) -> Result<(), BuiltinError> {
        let Self::Value(value) = *self else {
            return Ok(());
        };
        if let Some(object) = value.as_object() {
            allot(call, object.len())?;
            *self = Self::Object(Box::new(Opened {
                original: value,
                nodes: PairChanges::default(),
            }));
        } else if let Some(array) = value.as_array() {
            allot(call, array.len())?;
            *self = Self::Array(Box::new(Opened {
                original: value,
                nodes: array.iter().map(Self::Value).collect(),
            }));
        }
        Ok(())
    }

    /// Returns the current value. Rebuilds opened objects and arrays.
    pub fn value(&self, call: &mut BuiltinContext<'e>) -> Result<ValueRef<'e>, BuiltinError> {
        match self {
            Self::Value(value) => Ok(*value),
            Self::Object(node) => stack::level(|| node.value(call)),
            Self::Array(node) => stack::level(|| node.value(call)),
        }
    }

    /// Returns the value at a path.
    ///
    /// # Errors
    /// No value has this path.
    pub fn get(
        &mut self,
        call: &mut BuiltinContext<'e>,
        path: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let mut tree = self;
        for (depth, key) in path.iter().enumerate() {
            if let Some(set) = tree.set() {
                let mut member = Self::Value(set_member(set, *key)?);
                let rest = path.within(depth + 1..);
                return stack::level(|| member.get(call, rest));
            }
            tree = tree.step(call, *key)?;
        }
        tree.value(call)
    }

    /// Changes the value at a path, which must not be empty.
    pub fn change(
        &mut self,
        call: &mut BuiltinContext<'e>,
        path: &[ValueRef<'e>],
        change: TreeChange<'e>,
    ) -> Result<(), BuiltinError> {
        let Some((last, parents)) = path.split_last() else {
            return Ok(());
        };
        let mut tree = self;
        for (depth, key) in parents.iter().enumerate() {
            if let Some(set) = tree.set() {
                // a member that lost something can no longer be looked up by its old value
                if let TreeChange::Replace(value) = change {
                    let path = path.within(depth..);
                    tree.change(call, path, TreeChange::Delete)?;
                    return tree.change(call, path, TreeChange::Insert(value));
                }
                let old = set_member(set, *key)?;
                let mut member = Self::Value(old);
                let rest = path.within(depth + 1..);
                stack::level(|| member.change(call, rest, change))?;
                let new = member.value(call)?;
                *tree = Self::Value(with_member(call, set, Some(old), Some(new))?);
                return Ok(());
            }
            tree = tree.step(call, *key)?;
        }
        tree.open(call)?;
        match tree {
            Self::Object(node) => node.change(*last, change),
            Self::Array(node) => change_item(&mut node.nodes, *last, change),
            Self::Value(value) if value.kind() == Kind::Set => {
                *value = change_member(call, *value, *last, change)?;
                Ok(())
            }
            Self::Value(value) => Err(scalar("", *value)),
        }
    }

    /// Returns the set if it is an unopened set.
    #[inline]
    fn set(&self) -> Option<ValueRef<'e>> {
        match self {
            Self::Value(value) if value.kind() == Kind::Set => Some(*value),
            _ => None,
        }
    }

    /// Returns the child under a key.
    fn step(
        &mut self,
        call: &mut BuiltinContext<'e>,
        key: ValueRef<'e>,
    ) -> Result<&mut Self, BuiltinError> {
        self.open(call)?;
        match self {
            Self::Object(node) => {
                let original = node.original;
                let missing = || absent(&key.rego_text(), "object", original);
                match node.nodes.open(original, key).ok_or_else(missing)? {
                    PairState::Present(tree) => Ok(tree),
                    PairState::Deleted(kind) => Err(BuiltinError::error(format!(
                        "cannot unfold the already deleted {kind} node for key {key}",
                        key = key.rego_text()
                    ))),
                }
            }
            Self::Array(node) => {
                let original = node.original;
                let index = index(key, node.nodes.len())?;
                let missing = || absent(&index, "array", original);
                let index = usize::try_from(index).ok();
                index
                    .and_then(|index| node.nodes.get_mut(index))
                    .ok_or_else(missing)
            }
            Self::Value(value) => Err(scalar(
                &format!(" for path {key}", key = key.rego_text()),
                *value,
            )),
        }
    }
}

impl<'e> Opened<'e, Vec<PatchTree<'e>>> {
    fn value(&self, call: &mut BuiltinContext<'e>) -> Result<ValueRef<'e>, BuiltinError> {
        allot(call, self.nodes.len())?;
        let mut list =
            bumpalo::collections::Vec::with_capacity_in(self.nodes.len(), call.arena.bump());
        for item in &self.nodes {
            list.push(match item {
                PatchTree::Value(value) => *value,
                item => item.value(call)?,
            });
        }
        Ok(call.arena.array_of(list.into_bump_slice()))
    }
}

fn absent(key: &dyn std::fmt::Display, kind: &str, term: ValueRef<'_>) -> BuiltinError {
    BuiltinError::error(format!(
        "path {key} does not exist in {kind} term {term}",
        term = term.rego_text()
    ))
}

fn scalar(kind_of_parent: &str, value: ValueRef<'_>) -> BuiltinError {
    let name = match value.kind() {
        Kind::Null => "Null",
        Kind::Boolean => "Boolean",
        Kind::Number => "Number",
        _ => "String",
    };
    BuiltinError::error(format!(
        "expected composite type{kind_of_parent}, found value: {value} (type: ast.{name})",
        value = value.rego_text()
    ))
}

fn no_child(key: ValueRef<'_>) -> BuiltinError {
    BuiltinError::error(format!(
        "cannot delete child key {key} that does not exist",
        key = key.rego_text()
    ))
}

fn change_item<'e>(
    items: &mut Vec<PatchTree<'e>>,
    key: ValueRef<'e>,
    change: TreeChange<'e>,
) -> Result<(), BuiltinError> {
    let index = index(key, items.len())?;
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    let out = |violation: &str| {
        Err(BuiltinError::error(format!(
            "index for array {violation} out of bounds"
        )))
    };
    match change {
        TreeChange::Insert(_) if index > items.len() => out("insertion"),
        TreeChange::Insert(value) => {
            items.insert(index, PatchTree::Value(value));
            Ok(())
        }
        TreeChange::Delete | TreeChange::Replace(_) if index >= items.len() => out("delete"),
        TreeChange::Delete => {
            items.remove(index);
            Ok(())
        }
        TreeChange::Replace(value) => {
            *items.item_mut(index) = PatchTree::Value(value);
            Ok(())
        }
    }
}

/// Parses an index. `-` is the index after the last element.
fn index(key: ValueRef<'_>, length: usize) -> Result<i64, BuiltinError> {
    if let Some(number) = key.as_number() {
        return plain_int(number)
            .ok_or_else(|| BuiltinError::error("invalid number type for indexing"));
    }
    let Some(text) = key.as_text() else {
        return Err(BuiltinError::error("invalid type for indexing"));
    };
    let text = text.to_str();
    if text == "-" {
        return Ok(i64::try_from(length).unwrap_or(i64::MAX));
    }
    let index = written_index(&text);
    let index = index.ok_or_else(|| BuiltinError::error("invalid string for indexing"))?;
    if text.len() > 1 && text.starts_with('0') {
        return Err(BuiltinError::error(
            "leading zeros are not allowed in JSON paths",
        ));
    }
    Ok(index)
}

/// Parses an integer. Zeros may follow a decimal point, and the integer part may be missing.
fn written_index(text: &str) -> Option<i64> {
    const LONGEST: usize = 19;
    if let Ok(index) = text.parse() {
        return Some(index);
    }
    let (integer, zeros) = text.split_once('.')?;
    if text.len() > LONGEST || zeros.bytes().any(|byte| byte != b'0') {
        return None;
    }
    match integer {
        "" | "+" | "-" => Some(0),
        _ => integer.parse().ok(),
    }
}

/// Returns the member of a set that equals a key.
///
/// # Errors
/// The set does not contain the key.
fn set_member<'e>(set: ValueRef<'e>, key: ValueRef<'e>) -> Result<ValueRef<'e>, BuiltinError> {
    let is_member = set.as_set().is_some_and(|set| set.contains(key));
    is_member.then_some(key).ok_or_else(|| match key.as_text() {
        Some(text) => absent(&text.to_str(), "set", set),
        None => absent(&key.rego_text(), "set", set),
    })
}

fn change_member<'e>(
    call: &mut BuiltinContext<'e>,
    set: ValueRef<'e>,
    key: ValueRef<'e>,
    change: TreeChange<'e>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let removed = match change {
        TreeChange::Insert(_) => None,
        TreeChange::Replace(_) | TreeChange::Delete => {
            Some(set_member(set, key).map_err(|_| no_child(key))?)
        }
    };
    let with = match change {
        TreeChange::Insert(value) | TreeChange::Replace(value) => Some(value),
        TreeChange::Delete => None,
    };
    if let Some(value) = with.filter(|value| *value != key) {
        return Err(BuiltinError::error(format!(
            "set key {key} does not equal value to be inserted {value}",
            key = key.rego_text(),
            value = value.rego_text()
        )));
    }
    with_member(call, set, removed, with)
}

/// Returns a set without `removed` and with `with`. Visits every member.
fn with_member<'e>(
    call: &mut BuiltinContext<'e>,
    set: ValueRef<'e>,
    removed: Option<ValueRef<'e>>,
    with: Option<ValueRef<'e>>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let Some(members) = set.as_set() else {
        return Ok(set);
    };
    allot(call, members.len())?;
    let other_members = members
        .iter_unordered()
        .filter(|member| Some(*member) != removed);
    Ok(call.arena.set_from(other_members.chain(with)))
}
