//! A hash of bounded cost: it covers only the first members of a value.
//!
//! Lookups by whole values most often differ in their first members. A table with this hash must compare the values
//! that share one, and switch to [`order::hash`](super::order::hash) when there are many.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use super::order::STATE;
use super::{RefRepr, Value, ValueRef};

/// Maximum number of members that are hashed.
const MEMBERS: usize = 6;

/// Maximum number of scalars that are hashed.
const SCALARS: usize = 3;

/// Maximum length of a string that is hashed completely, in bytes: messages often have the same start and the same end.
const WHOLE: usize = 256;

/// Number of bytes of a longer string that are hashed at its start, and at its end.
const ENDS: usize = 24;

impl ValueRef<'_> {
    /// Returns the address of a stored collection, which is unique among live ones.
    #[inline]
    pub(crate) fn stored_at(&self) -> Option<usize> {
        match self {
            Self(RefRepr::Array(items)) => Some(items.address()),
            Self(RefRepr::Object(object)) => Some(object.address()),
            Self(RefRepr::Set(set)) => Some(Arc::as_ptr(set).addr()),
            _ => None,
        }
    }
}

/// Returns a hash of the first scalars of a value. Equal for equal values within one process.
#[inline]
pub fn prefix_hash(value: ValueRef<'_>) -> u64 {
    let mut state = STATE.build_hasher();
    match value {
        ValueRef(RefRepr::Array(items)) => {
            let items = items.iter().map(Value::borrow);
            add_members(items, &mut state);
        }
        ValueRef(RefRepr::ArenaArray(items)) => add_members(items.iter().copied(), &mut state),
        ValueRef(RefRepr::Object(object)) if let Some((_, values)) = object.shaped() => {
            add_members(values.iter().map(Value::borrow), &mut state);
        }
        ValueRef(RefRepr::ArenaObject(object)) if object.shape().is_some() => {
            add_members(object.values().iter().copied(), &mut state);
        }
        ValueRef(RefRepr::Object(_) | RefRepr::ArenaObject(_)) => {
            if let Some(object) = value.as_object() {
                let values = object.iter().map(|(_, value)| value);
                add_members_of(object.len(), values, &mut state);
            }
        }
        ValueRef(RefRepr::Set(_) | RefRepr::ArenaSet(_)) => {
            if let Some(set) = value.as_set() {
                add_members_of(set.len(), set.iter(), &mut state);
            }
        }
        scalar => {
            add_scalar(&scalar, &mut state);
        }
    }
    state.finish()
}

fn add_members<'v>(members: impl ExactSizeIterator<Item = ValueRef<'v>>, state: &mut impl Hasher) {
    add_members_of(members.len(), members, state);
}

/// Hashes the first members. Similar containers differ in values more often than in keys, and in scalars more often
/// than in nested containers.
fn add_members_of<'v>(
    length: usize,
    members: impl Iterator<Item = ValueRef<'v>>,
    state: &mut impl Hasher,
) {
    state.write_usize(length);
    let mut scalars = 0;
    for member in members.take(MEMBERS) {
        scalars += usize::from(add_scalar(&member, state));
        if scalars == SCALARS {
            break;
        }
    }
}

/// Hashes a scalar completely, and only the length of a container. Returns `true` for a scalar.
#[inline]
fn add_scalar(value: &ValueRef<'_>, state: &mut impl Hasher) -> bool {
    let length = match value {
        ValueRef(RefRepr::Array(items)) => items.len(),
        ValueRef(RefRepr::ArenaArray(items)) => items.len(),
        ValueRef(RefRepr::Object(object)) => object.len(),
        ValueRef(RefRepr::ArenaObject(object)) => object.len(),
        ValueRef(RefRepr::Set(set)) => set.items().len(),
        ValueRef(RefRepr::ArenaSet(set)) => set.len(),
        ValueRef(RefRepr::Text(_) | RefRepr::Bytes(_) | RefRepr::ArenaText(_)) => {
            add_text(value, state);
            return true;
        }
        _ => {
            value.hash(state);
            return true;
        }
    };
    state.write_usize(length);
    false
}

fn add_text(value: &ValueRef<'_>, state: &mut impl Hasher) {
    let text = value.text_or_empty();
    let bytes = text.as_bytes();
    match (bytes.first_chunk::<ENDS>(), bytes.last_chunk::<ENDS>()) {
        (Some(first), Some(last)) if bytes.len() > WHOLE => {
            state.write_usize(bytes.len());
            state.write(first);
            state.write(last);
        }
        _ => value.hash(state),
    }
}
