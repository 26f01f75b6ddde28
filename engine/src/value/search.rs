//! Search for a key among keys: the innermost loop of most policies.

use std::cmp::Ordering;

use super::{RefRepr, Repr, Value, ValueRef};

/// Returns the position of a key among a few keys in any order, or `None`. O(n).
#[inline]
pub fn position(keys: &[Value], key: ValueRef<'_>) -> Option<usize> {
    match key {
        ValueRef(RefRepr::Short(short)) => keys
            .iter()
            .position(|other| matches!(other, Value(Repr::Short(other)) if *other == short)),
        ValueRef(RefRepr::Text(text)) => keys.iter().position(
            |other| matches!(other, Value(Repr::Text(other)) if other.as_bytes() == text.as_bytes()),
        ),
        _ => keys.iter().position(|other| other.borrow() == key),
    }
}

/// Returns the position of a key among a few borrowed keys in any order, or `None`. O(n).
#[inline]
pub fn position_in_flight(keys: &[ValueRef<'_>], key: ValueRef<'_>) -> Option<usize> {
    match key {
        ValueRef(RefRepr::Short(short)) => keys
            .iter()
            .position(|other| matches!(other, ValueRef(RefRepr::Short(other)) if *other == short)),
        _ => keys.iter().position(|other| *other == key),
    }
}

/// Returns the position of a key among sorted keys, or as an error that for its insertion. O(log n).
#[inline]
pub fn find(keys: &[Value], key: ValueRef<'_>) -> Result<usize, usize> {
    match key {
        ValueRef(RefRepr::Short(short)) => {
            // one comparison per step, and one more at the end
            let rank = short.rank();
            let index = keys.partition_point(|other| match other {
                Value(Repr::Short(other)) => other.rank() < rank,
                other => other.borrow() < key,
            });
            match keys.get(index) {
                Some(Value(Repr::Short(key_at_index))) if *key_at_index == short => Ok(index),
                _ => Err(index),
            }
        }
        _ => keys.binary_search_by(|other| other.borrow().cmp(&key)),
    }
}

/// Returns the number of sorted keys that are less than or equal to a key.
#[inline]
pub fn not_greater(keys: &[Value], key: ValueRef<'_>) -> usize {
    match key {
        ValueRef(RefRepr::Short(short)) => {
            let rank = short.rank();
            keys.partition_point(|other| match other {
                Value(Repr::Short(other)) => other.rank() <= rank,
                other => other.borrow().cmp(&key) != Ordering::Greater,
            })
        }
        _ => keys.partition_point(|other| other.borrow() <= key),
    }
}
