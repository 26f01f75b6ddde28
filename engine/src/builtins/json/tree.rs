//! A document that is being changed. What no operation touched stays a value; objects and arrays open up where
//! one passes through. Sets do not: changing a member changes what it is known by, so they are made anew.

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::builtins::arrays::allot;
use crate::builtins::operands::plain_int;
use crate::builtins::{BuiltinContext, Fault};
use crate::impossible::{Within as _, impossible};
use crate::value::{Kind, ObjectBuilder, ObjectView, V};

/// A document or a part of one.
pub enum Tree<'e> {
    /// Not opened.
    Value(V<'e>),
    /// An object.
    Object {
        /// As it was when it was opened, for messages.
        original: V<'e>,
        /// What operations changed or passed through. Most parts of a document are never opened, so that all have to
        /// be small.
        slots: Box<Slots<'e>>,
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
    Held(Tree<'e>),
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
    fn open(&mut self, call: &mut BuiltinContext<'e>) -> Result<(), Fault> {
        let Self::Value(value) = *self else {
            return Ok(());
        };
        if let Some(object) = value.as_object() {
            allot(call, object.len())?;
            *self = Self::Object {
                original: value,
                slots: Box::default(),
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
    pub fn value(&self, call: &mut BuiltinContext<'e>) -> Result<V<'e>, Fault> {
        match self {
            Self::Value(value) => Ok(*value),
            Self::Object { original, slots } => {
                let object = original.as_object();
                let length =
                    object.map_or_else(|| impossible("an object that is none"), ObjectView::len);
                allot(call, length + slots.changed.len())?;
                let most = length + slots.changed.len();
                let mut pairs = ObjectBuilder::with_room(call.arena, most);
                let mut seen: SmallVec<[bool; Slots::SCANNED]> =
                    SmallVec::from_elem(false, slots.changed.len());
                if let Some(object) = object {
                    for (key, value) in object.iter() {
                        let Some(place) = slots.place(key) else {
                            pairs.append(key, value);
                            continue;
                        };
                        if let Some(seen) = seen.get_mut(place) {
                            *seen = true;
                        }
                        if let Some(Changed {
                            key,
                            slot: Slot::Held(tree),
                        }) = slots.changed.get(place)
                        {
                            let value = tree.value(call)?;
                            pairs.append(*key, value);
                        }
                    }
                }
                for (Changed { key, slot }, seen) in slots.changed.iter().zip(seen) {
                    if let Slot::Held(tree) = slot
                        && !seen
                    {
                        let value = tree.value(call)?;
                        pairs.append(*key, value);
                    }
                }
                Ok(pairs.finish())
            }
            Self::Array { items, .. } => {
                allot(call, items.len())?;
                let mut list =
                    bumpalo::collections::Vec::with_capacity_in(items.len(), call.arena.bump());
                for item in items {
                    list.push(match item {
                        Self::Value(value) => *value,
                        item => item.value(call)?,
                    });
                }
                Ok(call.arena.array_of(list.into_bump_slice()))
            }
        }
    }

    /// What a path leads to.
    pub fn get(&mut self, call: &mut BuiltinContext<'e>, path: &[V<'e>]) -> Result<V<'e>, Fault> {
        let mut tree = self;
        for (depth, key) in path.iter().enumerate() {
            if let Self::Value(value) = tree
                && value.kind() == Kind::Set
            {
                let mut member = Self::Value(set_member(*value, *key)?);
                let rest = path.within(depth + 1..);
                return member.get(call, rest);
            }
            tree = tree.step(call, *key)?;
        }
        tree.value(call)
    }

    /// Changes what a path, which is not empty, leads to.
    pub fn change(
        &mut self,
        call: &mut BuiltinContext<'e>,
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
                let rest = path.within(depth + 1..);
                member.change(call, rest, change)?;
                let new = member.value(call)?;
                *value = with_member(call, *value, Some(old), Some(new))?;
                return Ok(());
            }
            tree = tree.step(call, *key)?;
        }
        tree.open(call)?;
        match tree {
            Self::Object { original, slots } => change_slot(*original, slots, *last, change),
            Self::Array { items, .. } => change_item(items, *last, change),
            Self::Value(value) if value.kind() == Kind::Set => {
                *value = change_member(call, *value, *last, change)?;
                Ok(())
            }
            Self::Value(value) => Err(scalar("", *value)),
        }
    }

    /// The part under a key.
    fn step(&mut self, call: &mut BuiltinContext<'e>, key: V<'e>) -> Result<&mut Self, Fault> {
        self.open(call)?;
        match self {
            Self::Object { original, slots } => {
                let missing = || absent(&key, "object", *original);
                match slots.open(*original, key).ok_or_else(missing)? {
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
    original: V<'e>,
    slots: &mut Slots<'e>,
    key: V<'e>,
    change: Change<'e>,
) -> Result<(), Fault> {
    let slot = match change {
        Change::Insert(value) => Slot::Held(Tree::Value(value)),
        Change::Delete => {
            let is_scalar = match slots.find(key).map(|changed| &changed.slot) {
                Some(Slot::Deleted(what)) => {
                    return Err(Fault::error(format!(
                        "cannot delete the already deleted {what} node for key {key}"
                    )));
                }
                Some(Slot::Held(Tree::Value(value))) => value.kind() < Kind::Array,
                Some(Slot::Held(_)) => false,
                None => match original.lookup(key) {
                    Some(value) => value.kind() < Kind::Array,
                    None => return Err(no_child(key)),
                },
            };
            Slot::Deleted(if is_scalar { "scalar" } else { "composite" })
        }
    };
    slots.set(Changed { key, slot });
    Ok(())
}

/// What differs from an object's own pairs, by key.
#[derive(Default)]
pub struct Slots<'e> {
    changed: Vec<Changed<'e>>,
    /// Their places by key, when they are many.
    places: HashMap<V<'e>, usize, foldhash::fast::RandomState>,
}

/// A key, spelled as the first path that went through it or the last operation on it wrote it.
struct Changed<'e> {
    key: V<'e>,
    slot: Slot<'e>,
}

impl<'e> Slots<'e> {
    /// Changes up to which a scan beats a table.
    const SCANNED: usize = 16;

    fn place(&self, key: V<'e>) -> Option<usize> {
        if self.changed.len() <= Self::SCANNED {
            return self.changed.iter().position(|known| known.key == key);
        }
        self.places.get(&key).copied()
    }

    fn find(&self, key: V<'e>) -> Option<&Changed<'e>> {
        self.changed.get(self.place(key)?)
    }

    /// What is under a key, to be changed inside.
    fn open(&mut self, original: V<'e>, key: V<'e>) -> Option<&mut Slot<'e>> {
        if self.place(key).is_none() {
            let value = original.as_object()?.get(key)?;
            let slot = Slot::Held(Tree::Value(value));
            self.set(Changed { key, slot });
        }
        let place = self.place(key)?;
        self.changed.get_mut(place).map(|changed| &mut changed.slot)
    }

    fn set(&mut self, changed: Changed<'e>) {
        let place = self.place(changed.key);
        if let Some(held) = place.and_then(|at| self.changed.get_mut(at)) {
            *held = changed;
            return;
        }
        self.changed.push(changed);
        if self.changed.len() > Self::SCANNED {
            let keys = self.changed.iter().map(|changed| changed.key).enumerate();
            let known = self.places.len();
            self.places
                .extend(keys.skip(known).map(|(at, key)| (key, at)));
        }
    }
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
    let index = written_index(&text);
    let index = index.ok_or_else(|| Fault::error("invalid string for indexing"))?;
    if text.len() > 1 && text.starts_with('0') {
        return Err(Fault::error("leading zeros are not allowed in JSON paths"));
    }
    Ok(index)
}

/// The whole number that a text stands for; there may be zeros behind a point, and nothing in front of it.
fn written_index(text: &str) -> Option<i64> {
    const LONGEST: usize = 19;
    if let Ok(index) = text.parse() {
        return Some(index);
    }
    let (whole, zeros) = text.split_once('.')?;
    if text.len() > LONGEST || zeros.bytes().any(|byte| byte != b'0') {
        return None;
    }
    match whole {
        "" | "+" | "-" => Some(0),
        _ => whole.parse().ok(),
    }
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
    call: &mut BuiltinContext<'e>,
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
    call: &mut BuiltinContext<'e>,
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
