//! A bounded hash: of a few leaves, whatever the size of the value.
//!
//! Values that are asked for again are mostly told apart by their first members. Who keeps values by such a hash compares
//! those that share one, and turns to [`order::hash`](super::order::hash) when these are many.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use super::order::STATE;
use super::{Value, ValueRef};

/// Members of a container that are looked at.
const MEMBERS: usize = 6;

/// Strings and numbers among them that are enough.
const SCALARS: usize = 3;

/// Bytes up to which a string counts as a whole: messages are mostly alike where they begin and where they end.
const WHOLE: usize = 256;

/// Bytes of a longer string that count at its start, and at its end.
const ENDS: usize = 24;

impl ValueRef<'_> {
    /// Where a stored collection lies: no two that live lie in one place.
    #[inline]
    pub fn stored_at(&self) -> Option<usize> {
        match self {
            Self::Array(items) => Some(items.address()),
            Self::Object(object) => Some(object.address()),
            Self::Set(set) => Some(Arc::as_ptr(set).addr()),
            _ => None,
        }
    }
}

/// Hash of a few leaves of a value, equal for equal values within one process.
#[inline]
pub fn prefix_hash(value: ValueRef<'_>) -> u64 {
    let mut state = STATE.build_hasher();
    match value {
        ValueRef::Array(items) => {
            let items = items.iter().map(Value::borrow);
            add_members(items, &mut state);
        }
        ValueRef::ArenaArray(items) => add_members(items.iter().copied(), &mut state),
        ValueRef::Object(object) if let Some((_, values)) = object.shaped() => {
            add_members(values.iter().map(Value::borrow), &mut state);
        }
        ValueRef::ArenaObject(object) if object.shape().is_some() => {
            add_members(object.values().iter().copied(), &mut state);
        }
        ValueRef::Object(_) | ValueRef::ArenaObject(_) => {
            if let Some(object) = value.as_object() {
                let values = object.iter().map(|(_, value)| value);
                add_members_of(object.len(), values, &mut state);
            }
        }
        ValueRef::Set(_) | ValueRef::ArenaSet(_) => {
            if let Some(set) = value.as_set() {
                add_members_of(set.len(), set.iter(), &mut state);
            }
        }
        leaf => {
            add_scalar(&leaf, &mut state);
        }
    }
    state.finish()
}

fn add_members<'v>(members: impl ExactSizeIterator<Item = ValueRef<'v>>, state: &mut impl Hasher) {
    add_members_of(members.len(), members, state);
}

/// Adds the first members. What tells containers of one sort apart are values more often than keys, and strings and
/// numbers more often than what is in containers within them.
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

/// Adds a string or number as it is, of a container only the length; whether it is a leaf.
#[inline]
fn add_scalar(value: &ValueRef<'_>, state: &mut impl Hasher) -> bool {
    let length = match value {
        ValueRef::Array(items) => items.len(),
        ValueRef::ArenaArray(items) => items.len(),
        ValueRef::Object(object) => object.len(),
        ValueRef::ArenaObject(object) => object.len(),
        ValueRef::Set(set) => set.items().len(),
        ValueRef::ArenaSet(set) => set.len(),
        ValueRef::Text(_) | ValueRef::Bytes(_) | ValueRef::ArenaText(_) => {
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
