//! A document that is being changed. What no operation touched stays a value; objects and arrays open up where
//! one passes through. Sets do not: changing a member changes what it is known by, so they are made anew.

use std::collections::HashMap;

use crate::builtins::arrays::allot;
use crate::builtins::operands::plain_int;
use crate::builtins::{Call, Fault};
use crate::value::{Kind, V};

/// A document or a part of one.
pub enum Tree<'e> {
    /// Not opened.
    Value(V<'e>),
    /// An object.
    Object {
        /// As it was when it was opened, for messages.
        original: V<'e>,
        /// What is or was under its keys.
        slots: HashMap<V<'e>, Slot<'e>>,
    },
    /// An array.
    Array {
        /// As it was when it was opened, for messages.
        original: V<'e>,
        /// Its elements.
        items: Vec<Tree<'e>>,
    },
}

/// What an object has under a key.
pub enum Slot<'e> {
    /// A value.
    Held(Box<Tree<'e>>),
    /// A value that was deleted, and what it was.
    Deleted(&'static str),
}

/// What an operation does at the end of its path.
#[derive(Clone, Copy)]
pub enum Change<'e> {
    /// Puts a value there.
    Insert(V<'e>),
    /// Takes away what is there.
    Delete,
}

impl<'e> Tree<'e> {
    /// Opens an object or an array.
    fn open(&mut self, call: &mut Call<'e>) -> Result<(), Fault> {
        let Self::Value(value) = *self else {
            return Ok(());
        };
        if let Some(object) = value.as_object() {
            allot(call, object.len())?;
            let held = |value| Slot::Held(Box::new(Self::Value(value)));
            *self = Self::Object {
                original: value,
                slots: object
                    .iter()
                    .map(|(key, value)| (key, held(value)))
                    .collect(),
            };
        } else if let Some(array) = value.as_array() {
            allot(call, array.len())?;
            *self = Self::Array {
                original: value,
                items: array.iter().map(Self::Value).collect(),
            };
        }
        Ok(())
    }

    /// The value that it has become.
    pub fn value(&self, call: &mut Call<'e>) -> Result<V<'e>, Fault> {
        match self {
            Self::Value(value) => Ok(*value),
            Self::Object { slots, .. } => {
                allot(call, slots.len())?;
                let mut pairs = Vec::with_capacity(slots.len());
                for (key, slot) in slots {
                    if let Slot::Held(tree) = slot {
                        pairs.push((*key, tree.value(call)?));
                    }
                }
                Ok(call.arena.object_from(pairs))
            }
            Self::Array { items, .. } => {
                allot(call, items.len())?;
                let mut list = call.arena.list();
                for item in items {
                    list.push(item.value(call)?);
                }
                Ok(call.arena.array_of(list.into_bump_slice()))
            }
        }
    }

    /// What a path leads to.
    pub fn get(&mut self, call: &mut Call<'e>, path: &[V<'e>]) -> Result<V<'e>, Fault> {
        let mut tree = self;
        for (depth, key) in path.iter().enumerate() {
            if let Self::Value(value) = tree
                && value.kind() == Kind::Set
            {
                let mut member = Self::Value(set_member(*value, *key)?);
                let rest = path.get(depth + 1..).unwrap_or_default();
                return member.get(call, rest);
            }
            tree = tree.step(call, *key)?;
        }
        tree.value(call)
    }

    /// Changes what a path, which is not empty, leads to.
    pub fn change(
        &mut self,
        call: &mut Call<'e>,
        path: &[V<'e>],
        change: Change<'e>,
    ) -> Result<(), Fault> {
        let Some((last, parents)) = path.split_last() else {
            return Ok(());
        };
        let mut tree = self;
        for (depth, key) in parents.iter().enumerate() {
            if let Self::Value(value) = tree
                && value.kind() == Kind::Set
            {
                let old = set_member(*value, *key)?;
                let mut member = Self::Value(old);
                let rest = path.get(depth + 1..).unwrap_or_default();
                member.change(call, rest, change)?;
                let new = member.value(call)?;
                *value = with_member(call, *value, Some(old), Some(new))?;
                return Ok(());
            }
            tree = tree.step(call, *key)?;
        }
        tree.open(call)?;
        match tree {
            Self::Object { slots, .. } => change_slot(slots, *last, change),
            Self::Array { items, .. } => change_item(items, *last, change),
            Self::Value(value) if value.kind() == Kind::Set => {
                *value = change_member(call, *value, *last, change)?;
                Ok(())
            }
            Self::Value(value) => Err(scalar("", *value)),
        }
    }

    /// The part under a key.
    fn step(&mut self, call: &mut Call<'e>, key: V<'e>) -> Result<&mut Self, Fault> {
        self.open(call)?;
        match self {
            Self::Object { original, slots } => {
                let missing = || absent(&key, "object", *original);
                match slots.get_mut(&key).ok_or_else(missing)? {
                    Slot::Held(tree) => Ok(tree),
                    Slot::Deleted(what) => Err(Fault::error(format!(
                        "cannot unfold the already deleted {what} node for key {key}"
                    ))),
                }
            }
            Self::Array { original, items } => {
                let index = index(key, items.len())?;
                let missing = || absent(&index, "array", *original);
                let at = usize::try_from(index).ok();
                at.and_then(|at| items.get_mut(at)).ok_or_else(missing)
            }
            Self::Value(value) => Err(scalar(&format!(" for path {key}"), *value)),
        }
    }
}

fn absent(key: &dyn std::fmt::Display, what: &str, of: V<'_>) -> Fault {
    Fault::error(format!("path {key} does not exist in {what} term {of}"))
}

fn scalar(place: &str, value: V<'_>) -> Fault {
    let name = match value.kind() {
        Kind::Null => "Null",
        Kind::Boolean => "Boolean",
        Kind::Number => "Number",
        _ => "String",
    };
    Fault::error(format!(
        "expected composite type{place}, found value: {value} (type: ast.{name})"
    ))
}

fn change_slot<'e>(
    slots: &mut HashMap<V<'e>, Slot<'e>>,
    key: V<'e>,
    change: Change<'e>,
) -> Result<(), Fault> {
    let slot = match change {
        Change::Insert(value) => Slot::Held(Box::new(Tree::Value(value))),
        Change::Delete => match slots.get(&key) {
            None => return Err(no_child(key)),
            Some(Slot::Deleted(what)) => {
                return Err(Fault::error(format!(
                    "cannot delete the already deleted {what} node for key {key}"
                )));
            }
            Some(Slot::Held(tree)) => Slot::Deleted(match **tree {
                Tree::Value(value) if value.kind() < Kind::Array => "scalar",
                _ => "composite",
            }),
        },
    };
    // the key is spelled as it was written last
    slots.remove(&key);
    slots.insert(key, slot);
    Ok(())
}

fn no_child(key: V<'_>) -> Fault {
    Fault::error(format!("cannot delete child key {key} that does not exist"))
}

fn change_item<'e>(items: &mut Vec<Tree<'e>>, key: V<'e>, change: Change<'e>) -> Result<(), Fault> {
    let index = index(key, items.len())?;
    let at = usize::try_from(index).unwrap_or(usize::MAX);
    let out = |what: &str| {
        Err(Fault::error(format!(
            "index for array {what} out of bounds"
        )))
    };
    match change {
        Change::Insert(_) if at > items.len() => out("insertion"),
        Change::Insert(value) => {
            items.insert(at, Tree::Value(value));
            Ok(())
        }
        Change::Delete if at >= items.len() => out("delete"),
        Change::Delete => {
            items.remove(at);
            Ok(())
        }
    }
}

/// The index that a key stands for; `-` is the one behind the last.
fn index(key: V<'_>, length: usize) -> Result<i64, Fault> {
    if let Some(number) = key.as_number() {
        return plain_int(number).ok_or_else(|| Fault::error("invalid number type for indexing"));
    }
    let Some(text) = key.as_text() else {
        return Err(Fault::error("invalid type for indexing"));
    };
    let text = text.to_str();
    if text == "-" {
        return Ok(i64::try_from(length).unwrap_or(i64::MAX));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(Fault::error("leading zeros are not allowed in JSON paths"));
    }
    text.parse()
        .map_err(|_| Fault::error("invalid string for indexing"))
}

/// The member of a set that equals a key.
fn set_member<'e>(set: V<'e>, key: V<'e>) -> Result<V<'e>, Fault> {
    let held = set.as_set().is_some_and(|set| set.contains(key));
    held.then_some(key).ok_or_else(|| match key.as_text() {
        Some(text) => absent(&text.to_str(), "set", set),
        None => absent(&key, "set", set),
    })
}

fn change_member<'e>(
    call: &mut Call<'e>,
    set: V<'e>,
    key: V<'e>,
    change: Change<'e>,
) -> Result<V<'e>, Fault> {
    match change {
        Change::Insert(value) if value != key => Err(Fault::error(format!(
            "set key {key} does not equal value to be inserted {value}"
        ))),
        Change::Insert(value) => with_member(call, set, None, Some(value)),
        Change::Delete => {
            set_member(set, key).map_err(|_| no_child(key))?;
            with_member(call, set, Some(key), None)
        }
    }
}

/// A set without one member and with another.
fn with_member<'e>(
    call: &mut Call<'e>,
    set: V<'e>,
    without: Option<V<'e>>,
    with: Option<V<'e>>,
) -> Result<V<'e>, Fault> {
    let Some(members) = set.as_set() else {
        return Ok(set);
    };
    allot(call, members.len())?;
    let others = members
        .iter_unordered()
        .filter(|member| Some(*member) != without);
    Ok(call.arena.set_from(others.chain(with)))
}
