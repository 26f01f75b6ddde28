//! The one order, equality and hash of values: null, booleans, numbers, strings, arrays, objects, sets.

use std::cmp::Ordering;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::LazyLock;

use super::V;

static STATE: LazyLock<foldhash::fast::RandomState> =
    LazyLock::new(foldhash::fast::RandomState::default);

/// Hash of a value, equal for equal values within one process.
#[inline]
pub fn hash(value: V<'_>) -> u64 {
    let mut hasher = STATE.build_hasher();
    value.hash(&mut hasher);
    hasher.finish()
}

impl PartialEq for V<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (V::Null, V::Null) => true,
            (V::Bool(a), V::Bool(b)) => a == b,
            (V::Int(a), V::Int(b)) => a == b,
            (V::Short(a), V::Short(b)) => a == b,
            // a string's length decides how it is held
            (V::Short(_), V::Text(_) | V::NewText(_))
            | (V::Text(_) | V::NewText(_), V::Short(_)) => false,
            (V::Array(a), V::Array(b)) if std::ptr::eq(a, b) => true,
            (V::Object(a), V::Object(b)) if std::ptr::eq(a, b) => true,
            (V::Set(a), V::Set(b)) if std::ptr::eq(a, b) => true,
            (a, b) => equal(a, b),
        }
    }
}

impl Eq for V<'_> {}

fn equal(a: V<'_>, b: V<'_>) -> bool {
    if a.kind() != b.kind() {
        return false;
    }
    if let (Some(a), Some(b)) = (a.as_number(), b.as_number()) {
        return a.compare(b) == Ordering::Equal;
    }
    if let (Some(a), Some(b)) = (a.as_text(), b.as_text()) {
        return a.as_bytes() == b.as_bytes();
    }
    if let (Some(a), Some(b)) = (a.as_array(), b.as_array()) {
        return a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a == b);
    }
    if let (Some(a), Some(b)) = (a.as_object(), b.as_object()) {
        return a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a == b);
    }
    if let (Some(a), Some(b)) = (a.as_set(), b.as_set()) {
        return a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a == b);
    }
    a == b
}

impl PartialOrd for V<'_> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for V<'_> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (*self, *other) {
            (V::Int(a), V::Int(b)) => a.cmp(&b),
            (V::Short(a), V::Short(b)) => a.as_bytes().cmp(b.as_bytes()),
            (V::Bool(a), V::Bool(b)) => a.cmp(&b),
            (a, b) => compare(a, b),
        }
    }
}

fn compare(a: V<'_>, b: V<'_>) -> Ordering {
    let kinds = a.kind().cmp(&b.kind());
    if kinds != Ordering::Equal {
        return kinds;
    }
    if let (Some(a), Some(b)) = (a.as_number(), b.as_number()) {
        return a.compare(b);
    }
    if let (Some(a), Some(b)) = (a.as_text(), b.as_text()) {
        return a.as_bytes().cmp(b.as_bytes());
    }
    if let (Some(a), Some(b)) = (a.as_array(), b.as_array()) {
        return a.iter().cmp(b.iter());
    }
    if let (Some(a), Some(b)) = (a.as_object(), b.as_object()) {
        return a.iter().cmp(b.iter());
    }
    if let (Some(a), Some(b)) = (a.as_set(), b.as_set()) {
        return a.iter().cmp(b.iter());
    }
    match (a, b) {
        (V::Bool(a), V::Bool(b)) => a.cmp(&b),
        _ => Ordering::Equal,
    }
}

impl Hash for V<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        match *self {
            V::Null => state.write_u8(0),
            V::Bool(b) => state.write_u8(1 + u8::from(b)),
            V::Int(i) => state.write_i64(i),
            V::Decimal(..) | V::Number(_) | V::NewNumber(_) => {
                if let Some(number) = self.as_number() {
                    number.hash_into(state);
                }
            }
            V::Short(_) | V::Text(_) | V::NewText(_) => {
                if let Some(text) = self.as_text() {
                    state.write(text.as_bytes());
                }
            }
            V::Array(_) | V::NewArray(_) => {
                if let Some(items) = self.as_array() {
                    state.write_u8(3);
                    for item in items.iter() {
                        item.hash(state);
                    }
                }
            }
            V::Object(_) | V::NewObject(_) => {
                if let Some(object) = self.as_object() {
                    state.write_u8(4);
                    for (key, value) in object.iter() {
                        key.hash(state);
                        value.hash(state);
                    }
                }
            }
            V::Set(_) | V::NewSet(_) => {
                if let Some(set) = self.as_set() {
                    state.write_u8(5);
                    for item in set.iter() {
                        item.hash(state);
                    }
                }
            }
        }
    }
}
