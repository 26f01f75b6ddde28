//! Documents that `with` replaces, merged with base documents.

use std::collections::BTreeMap;
use std::rc::Rc;

use solon_syntax::source::Span;

use super::error::Halt;
use crate::builtins::EvalErrorCode;
use crate::program::Program;
use crate::value::{Arena, RefRepr, ValueRef};

/// Replaced documents by path below `data`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Overlay<'e> {
    /// Replaces this document.
    Value(ValueRef<'e>),
    /// Replaces documents below this one.
    Node(BTreeMap<ValueRef<'e>, Overlay<'e>>),
}

impl<'e> Overlay<'e> {
    /// Returns the replacements below a key. Returns `None` if there are none, or the whole document is replaced.
    pub fn child(&self, key: ValueRef<'e>) -> Option<&Overlay<'e>> {
        match self {
            Self::Value(_) => None,
            Self::Node(children) => children.get(&key),
        }
    }

    /// Replaces the document at a path.
    pub fn put(&mut self, arena: &'e Arena, path: &[ValueRef<'e>], value: ValueRef<'e>) {
        let Some((key, rest)) = path.split_first() else {
            *self = Self::Value(value);
            return;
        };
        match self {
            Self::Value(old) => *old = patched(arena, Some(*old), path, value),
            Self::Node(children) => {
                children
                    .entry(*key)
                    .or_insert_with(|| Self::Node(BTreeMap::new()))
                    .put(arena, rest, value);
            }
        }
    }
}

/// The values that `with` sets in the input. All values below it are written at once.
#[derive(Default)]
pub(crate) struct Patches<'e> {
    whole: Option<ValueRef<'e>>,
    below: Option<Overlay<'e>>,
}

impl<'e> Patches<'e> {
    /// Writes a value at a path. Values on the path that are not objects become objects.
    pub fn put(&mut self, arena: &'e Arena, path: &[ValueRef<'e>], value: ValueRef<'e>) {
        if path.is_empty() {
            self.whole = Some(value);
            self.below = None;
        } else {
            let below = self.below.get_or_insert(Overlay::Node(BTreeMap::new()));
            below.put(arena, path, value);
        }
    }

    /// Returns the input with all values written, or `None` if nothing defines it.
    pub fn put_in(self, arena: &'e Arena, input: Option<ValueRef<'e>>) -> Option<ValueRef<'e>> {
        match self.below {
            Some(below) => Some(replaced(arena, self.whole.or(input), &below)),
            None => self.whole,
        }
    }
}

/// Adds the replacement of one more document.
pub(crate) fn overlay<'e>(
    arena: &'e Arena,
    documents: &mut Option<Rc<Overlay<'e>>>,
    path: &[ValueRef<'e>],
    value: ValueRef<'e>,
) {
    let documents = documents.get_or_insert_with(|| Rc::new(Overlay::Node(BTreeMap::new())));
    Rc::make_mut(documents).put(arena, path, value);
}

/// Returns the error of an expression that replaces a document at a path with a step that is not a string.
#[cold]
pub(crate) fn no_document(program: &Program, span: Span) -> Halt {
    let message = "bad document path".into();
    Halt::error(program, EvalErrorCode::Conflict, span, message)
}

/// Copies a document with a value written at a path. Values on the path that are not objects become objects.
fn patched<'e>(
    arena: &'e Arena,
    old: Option<ValueRef<'e>>,
    path: &[ValueRef<'e>],
    value: ValueRef<'e>,
) -> ValueRef<'e> {
    let Some((key, rest)) = path.split_first() else {
        return value;
    };
    let object = old.and_then(|value| value.as_object());
    let inner = patched(
        arena,
        object.and_then(|object| object.get(*key)),
        rest,
        value,
    );
    let pairs = object.into_iter().flat_map(|object| object.iter());
    arena.object_from(pairs.chain(std::iter::once((*key, inner))))
}

/// Returns a document with all replacements applied.
pub(crate) fn replaced<'e>(
    arena: &'e Arena,
    value: Option<ValueRef<'e>>,
    overlay: &Overlay<'e>,
) -> ValueRef<'e> {
    with_overlay(arena, value, overlay, |_, _, new| new)
}

/// Returns a document with all replacements applied, as a read of an enclosing document sees it: an object that is
/// replaced is merged with its replacement.
pub(crate) fn replaced_below<'e>(
    arena: &'e Arena,
    value: Option<ValueRef<'e>>,
    overlay: &Overlay<'e>,
) -> ValueRef<'e> {
    with_overlay(arena, value, overlay, united)
}

/// Applies the replacements. `join` combines an old document with the new one at the same path.
fn with_overlay<'e>(
    arena: &'e Arena,
    value: Option<ValueRef<'e>>,
    overlay: &Overlay<'e>,
    join: fn(&'e Arena, Option<ValueRef<'e>>, ValueRef<'e>) -> ValueRef<'e>,
) -> ValueRef<'e> {
    match overlay {
        Overlay::Value(new) => join(arena, value, *new),
        Overlay::Node(children) => {
            let object = value.and_then(|value| value.as_object());
            let kept = object.into_iter().flat_map(|object| object.iter());
            let new = children.iter().map(|(key, inner)| {
                let old = object.and_then(|object| object.get(*key));
                (*key, with_overlay(arena, old, inner, join))
            });
            arena.object_from(kept.chain(new))
        }
    }
}

/// Merges a value with an older one: keys that only the old one has are added, if both are objects.
pub(crate) fn united<'e>(
    arena: &'e Arena,
    old: Option<ValueRef<'e>>,
    new: ValueRef<'e>,
) -> ValueRef<'e> {
    let (Some(old), Some(added)) = (old.and_then(|value| value.as_object()), new.as_object())
    else {
        return new;
    };
    let added = added
        .iter()
        .map(|(key, value)| (key, united(arena, old.get(key), value)));
    arena.object_from(old.iter().chain(added))
}

/// Returns the value below a path of keys.
pub(crate) fn descend<'e>(
    value: Option<ValueRef<'e>>,
    keys: &[ValueRef<'e>],
) -> Option<ValueRef<'e>> {
    keys.iter()
        .try_fold(value?, |value, key| value.lookup(*key))
}

/// Returns `true` if the key is hidden when `data` is read as a whole. Documents of the system are found by their name
/// only.
pub(crate) fn is_system(key: ValueRef<'_>) -> bool {
    key.string_bytes() == Some(b"system")
}

/// Returns the keys of a document in order: keys, indexes or members. Scalars have none.
pub(crate) fn document_keys(value: ValueRef<'_>) -> Vec<ValueRef<'_>> {
    if let Some(object) = value.as_object() {
        return object.iter().map(|(key, _)| key).collect();
    }
    if let Some(array) = value.as_array() {
        return (0_i64..)
            .take(array.len())
            .map(|it| ValueRef(RefRepr::Int(it)))
            .collect();
    }
    value
        .as_set()
        .into_iter()
        .flat_map(|set| set.iter())
        .collect()
}

/// Returns the keys of a base document with its replacements, in order, and then those that only rules have.
pub(crate) fn merged_keys<'e>(
    is_root: bool,
    rules: impl Iterator<Item = ValueRef<'e>>,
    base: Option<ValueRef<'e>>,
    overlay: Option<&Overlay<'e>>,
) -> Vec<ValueRef<'e>> {
    // with a replacement, only objects matter
    let base = base.filter(|base| overlay.is_none() || base.as_object().is_some());
    let mut keys = base.map_or_else(Vec::new, document_keys);
    keys.retain(|key| !is_root || !is_system(*key));
    if let Some(Overlay::Node(children)) = overlay {
        keys.extend(children.keys().copied());
        keys.sort();
        keys.dedup();
    }
    let new: Vec<ValueRef<'e>> = rules
        .filter(|key| keys.binary_search(key).is_err())
        .collect();
    keys.extend(new);
    keys
}
