//! Finding a key among keys: the innermost loop of most policies.

use std::cmp::Ordering;

use super::{V, Value};

/// The position of a key among a few keys in any order.
#[inline]
pub fn position(keys: &[Value], key: V<'_>) -> Option<usize> {
    match key {
        V::Short(short) => keys
            .iter()
            .position(|other| matches!(other, Value::Short(other) if *other == short)),
        V::Text(text) => keys.iter().position(
            |other| matches!(other, Value::Text(other) if other.as_bytes() == text.as_bytes()),
        ),
        _ => keys.iter().position(|other| other.borrow() == key),
    }
}

/// The position of a key among a few keys in flight, in any order.
#[inline]
pub fn position_in_flight(keys: &[V<'_>], key: V<'_>) -> Option<usize> {
    match key {
        V::Short(short) => keys
            .iter()
            .position(|other| matches!(other, V::Short(other) if *other == short)),
        _ => keys.iter().position(|other| *other == key),
    }
}

/// The position of a key among sorted keys, or where it would stand.
#[inline]
pub fn find(keys: &[Value], key: V<'_>) -> Result<usize, usize> {
    match key {
        V::Short(short) => {
            // one comparison a step, and one more at the end
            let rank = short.rank();
            let at = keys.partition_point(|other| match other {
                Value::Short(other) => other.rank() < rank,
                other => other.borrow() < key,
            });
            match keys.get(at) {
                Some(Value::Short(found)) if *found == short => Ok(at),
                _ => Err(at),
            }
        }
        _ => keys.binary_search_by(|other| other.borrow().cmp(&key)),
    }
}

/// How many of some sorted keys are not greater than a key.
#[inline]
pub fn not_greater(keys: &[Value], key: V<'_>) -> usize {
    match key {
        V::Short(short) => {
            let rank = short.rank();
            keys.partition_point(|other| match other {
                Value::Short(other) => other.rank() <= rank,
                other => other.borrow().cmp(&key) != Ordering::Greater,
            })
        }
        _ => keys.partition_point(|other| other.borrow() <= key),
    }
}
