//! Order, equality and hash of values: null, Booleans, numbers, strings, arrays, objects, sets.

use std::cmp::Ordering;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ptr;
use std::sync::{Arc, LazyLock};

use solon_syntax::stack;

use super::{ArenaObject, Kind, RefRepr, SharedText, Short, stored_order};
use crate::value::ValueRef;

pub(super) static STATE: LazyLock<foldhash::fast::RandomState> =
    LazyLock::new(foldhash::fast::RandomState::default);

/// Returns a hash of a type that consists of values. Equal for equal ones within one process.
pub fn hash_of(made_of_values: &impl Hash) -> u64 {
    STATE.hash_one(made_of_values)
}

/// Returns the hash of a value. Equal for equal values within one process.
#[inline]
pub fn hash(value: ValueRef<'_>) -> u64 {
    // inlined for the most frequent kinds of keys
    match &value {
        ValueRef(RefRepr::Short(short)) => hash_short(short),
        ValueRef(RefRepr::Text(text)) => hash_bytes(text.as_bytes()),
        ValueRef(RefRepr::ArenaText(text)) => hash_bytes(text.as_bytes()),
        _ => STATE.hash_one(value),
    }
}

/// Returns the hash of a longer string.
#[inline]
fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = STATE.build_hasher();
    hasher.write(bytes);
    hasher.finish()
}

/// Returns the hash of a string that is read in place.
#[inline]
pub fn hash_short(short: &Short) -> u64 {
    let mut hasher = STATE.build_hasher();
    let (first, last) = short.as_u64_pair();
    hasher.write_u64(first);
    hasher.write_u64(last);
    hasher.finish()
}

/// Returns `true` if two values are equal. Inlined for the most frequent kinds of keys.
#[inline]
pub fn same_key(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    match (&a, &b) {
        (ValueRef(RefRepr::Short(a)), ValueRef(RefRepr::Short(b))) => a == b,
        _ => a == b,
    }
}

impl PartialEq for ValueRef<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        // compared in place: copying a value whose fields were just written stalls on store forwarding
        match (self, other) {
            (ValueRef(RefRepr::Null), ValueRef(RefRepr::Null)) => true,
            (ValueRef(RefRepr::Bool(a)), ValueRef(RefRepr::Bool(b))) => a == b,
            (ValueRef(RefRepr::Int(a)), ValueRef(RefRepr::Int(b))) => a == b,
            (ValueRef(RefRepr::Short(a)), ValueRef(RefRepr::Short(b))) => a == b,
            // the length of a string determines its representation
            (
                ValueRef(RefRepr::Short(_)),
                ValueRef(RefRepr::Text(_) | RefRepr::Bytes(_) | RefRepr::ArenaText(_)),
            )
            | (
                ValueRef(RefRepr::Text(_) | RefRepr::Bytes(_) | RefRepr::ArenaText(_)),
                ValueRef(RefRepr::Short(_)),
            ) => false,
            (ValueRef(RefRepr::ArenaText(a)), ValueRef(RefRepr::ArenaText(b))) => {
                a.as_bytes() == b.as_bytes()
            }
            (ValueRef(RefRepr::Text(a)), ValueRef(RefRepr::Text(b))) => {
                a.ptr_eq(b) || a.as_bytes() == b.as_bytes()
            }
            (ValueRef(RefRepr::Object(a)), ValueRef(RefRepr::Object(b))) => {
                stored_order::are_equal(a, b)
            }
            (ValueRef(RefRepr::ArenaObject(a)), ValueRef(RefRepr::ArenaObject(b)))
                if let Some((left_values, right_values)) = shared_shape_values(a, b) =>
            {
                // the last members differ most often
                left_values.iter().rev().eq(right_values.iter().rev())
            }
            (a, b) => equal(*a, *b),
        }
    }
}

impl Eq for ValueRef<'_> {}

/// Returns `true` if both are the same compound. It may be large, so this check comes first.
#[inline]
pub fn same(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    match (a, b) {
        (ValueRef(RefRepr::Array(a)), ValueRef(RefRepr::Array(b))) => a.ptr_eq(b),
        (ValueRef(RefRepr::Object(a)), ValueRef(RefRepr::Object(b))) => a.ptr_eq(b),
        (ValueRef(RefRepr::Set(a)), ValueRef(RefRepr::Set(b))) => Arc::ptr_eq(a, b),
        (ValueRef(RefRepr::ArenaArray(a)), ValueRef(RefRepr::ArenaArray(b))) => ptr::eq(a, b),
        (ValueRef(RefRepr::ArenaObject(a)), ValueRef(RefRepr::ArenaObject(b))) => ptr::eq(a, b),
        (ValueRef(RefRepr::ArenaSet(a)), ValueRef(RefRepr::ArenaSet(b))) => ptr::eq(a, b),
        _ => false,
    }
}

// One function for each kind, with plain loops: values may be deeply nested and stacks small.

fn equal(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    let kind = a.kind();
    kind == b.kind()
        && match kind {
            Kind::Null => true,
            Kind::Boolean => a.is_truthy() == b.is_truthy(),
            Kind::Number => compare_numbers(a, b) == Ordering::Equal,
            Kind::String => a.text_or_empty().as_bytes() == b.text_or_empty().as_bytes(),
            Kind::Array => stack::level(|| equal_arrays(a, b)),
            Kind::Object => stack::level(|| equal_objects(a, b)),
            Kind::Set => stack::level(|| equal_sets(a, b)),
        }
}

#[inline(never)]
fn equal_arrays(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    if same(a, b) {
        return true;
    }
    let (left, right) = (a, b);
    let (Some(a), Some(b)) = (a.as_array(), b.as_array()) else {
        return false;
    };
    if a.len() != b.len() {
        return false;
    }
    if left.exceeds_traversal_limit() || right.exceeds_traversal_limit() {
        return false;
    }
    let (mut a, mut b) = (a.iter(), b.iter());
    while let (Some(a), Some(b)) = (a.next(), b.next()) {
        if a != b {
            return false;
        }
    }
    true
}

#[inline(never)]
fn equal_objects(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    if same(a, b) {
        return true;
    }
    let (left, right) = (a, b);
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else {
        return false;
    };
    if a.len() != b.len() {
        return false;
    }
    if left.exceeds_traversal_limit() || right.exceeds_traversal_limit() {
        return false;
    }
    let (mut pairs, mut right_pairs) = (a.iter(), b.iter());
    while let (Some((a, left_value)), Some((b, right_value))) = (pairs.next(), right_pairs.next()) {
        if a != b || left_value != right_value {
            return false;
        }
    }
    true
}

#[inline(never)]
fn equal_sets(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    if same(a, b) {
        return true;
    }
    let (left, right) = (a, b);
    let (Some(a), Some(b)) = (a.as_set(), b.as_set()) else {
        return false;
    };
    if a.len() != b.len() {
        return false;
    }
    if left.exceeds_traversal_limit() || right.exceeds_traversal_limit() {
        return false;
    }
    let (mut a, mut b) = (a.iter(), b.iter());
    while let (Some(a), Some(b)) = (a.next(), b.next()) {
        if a != b {
            return false;
        }
    }
    true
}

impl PartialOrd for ValueRef<'_> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ValueRef<'_> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (ValueRef(RefRepr::Int(a)), ValueRef(RefRepr::Int(b))) => a.cmp(b),
            (ValueRef(RefRepr::Short(a)), ValueRef(RefRepr::Short(b))) => a.cmp(b),
            (ValueRef(RefRepr::ArenaText(a)), ValueRef(RefRepr::ArenaText(b))) => {
                compare_bytes(a.as_bytes(), b.as_bytes())
            }
            (ValueRef(RefRepr::ArenaText(a)), ValueRef(RefRepr::Text(b))) => {
                compare_bytes(a.as_bytes(), b.as_bytes())
            }
            (ValueRef(RefRepr::Text(a)), ValueRef(RefRepr::ArenaText(b))) => {
                compare_bytes(a.as_bytes(), b.as_bytes())
            }
            (ValueRef(RefRepr::Text(a)), ValueRef(RefRepr::Text(b))) => compare_texts_stored(a, b),
            (ValueRef(RefRepr::Bool(a)), ValueRef(RefRepr::Bool(b))) => a.cmp(b),
            (ValueRef(RefRepr::Object(a)), ValueRef(RefRepr::Object(b))) => {
                stored_order::order(a, b)
            }
            (ValueRef(RefRepr::ArenaObject(a)), ValueRef(RefRepr::ArenaObject(b)))
                if let Some((left_values, right_values)) = shared_shape_values(a, b) =>
            {
                left_values.cmp(right_values)
            }
            (a, b) => compare(*a, *b),
        }
    }
}

/// Compares two strings. Their first 16 bytes decide most often.
#[inline]
fn compare_bytes(a: &[u8], b: &[u8]) -> Ordering {
    if let (Some(first), Some(second)) = (a.first_chunk::<16>(), b.first_chunk::<16>()) {
        let (first, second) = (u128::from_be_bytes(*first), u128::from_be_bytes(*second));
        if first != second {
            return first.cmp(&second);
        }
    }
    a.cmp(b)
}

/// Returns the values of two objects of the same shape, in the order of its keys, if they are so flat that the stack
/// need not be checked.
#[inline]
fn shared_shape_values<'a, 'b>(
    a: &'a ArenaObject<'_>,
    b: &'b ArenaObject<'_>,
) -> Option<(&'a [ValueRef<'a>], &'b [ValueRef<'b>])> {
    let is_one = Arc::ptr_eq(a.shape()?, b.shape()?) && a.is_flat() && b.is_flat();
    is_one.then(|| (a.values(), b.values()))
}

fn compare(a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    let kind = a.kind();
    let kinds = kind.cmp(&b.kind());
    if kinds != Ordering::Equal {
        return kinds;
    }
    match kind {
        Kind::Null => Ordering::Equal,
        Kind::Boolean => a.is_truthy().cmp(&b.is_truthy()),
        Kind::Number => compare_numbers(a, b),
        Kind::String => compare_texts(a, b),
        Kind::Array => stack::level(|| compare_arrays(a, b)),
        Kind::Object => stack::level(|| compare_objects(a, b)),
        Kind::Set => stack::level(|| compare_sets(a, b)),
    }
}

fn compare_numbers(a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => a.compare(b),
        _ => Ordering::Equal,
    }
}

/// Compares two stored strings. Equal ones of one document often share their allocation.
#[inline]
pub(super) fn compare_texts_stored(a: &SharedText, b: &SharedText) -> Ordering {
    if a.ptr_eq(b) {
        return Ordering::Equal;
    }
    compare_bytes(a.as_bytes(), b.as_bytes())
}

fn compare_texts(a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    match (a.as_text(), b.as_text()) {
        (Some(a), Some(b)) => a.as_bytes().cmp(b.as_bytes()),
        _ => Ordering::Equal,
    }
}

#[inline(never)]
fn compare_arrays(a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    if same(a, b) || a.exceeds_traversal_limit() || b.exceeds_traversal_limit() {
        return Ordering::Equal;
    }
    let (Some(a), Some(b)) = (a.as_array(), b.as_array()) else {
        return Ordering::Equal;
    };
    let (mut items, mut right_items) = (a.iter(), b.iter());
    while let (Some(a), Some(b)) = (items.next(), right_items.next()) {
        let order = a.cmp(&b);
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

#[inline(never)]
fn compare_objects(a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    if same(a, b) || a.exceeds_traversal_limit() || b.exceeds_traversal_limit() {
        return Ordering::Equal;
    }
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else {
        return Ordering::Equal;
    };
    let (mut pairs, mut right_pairs) = (a.iter(), b.iter());
    while let (Some((a, left_value)), Some((b, right_value))) = (pairs.next(), right_pairs.next()) {
        let mut order = a.cmp(&b);
        if order == Ordering::Equal {
            order = left_value.cmp(&right_value);
        }
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

#[inline(never)]
fn compare_sets(a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    if same(a, b) || a.exceeds_traversal_limit() || b.exceeds_traversal_limit() {
        return Ordering::Equal;
    }
    let (Some(a), Some(b)) = (a.as_set(), b.as_set()) else {
        return Ordering::Equal;
    };
    let (mut items, mut right_items) = (a.iter(), b.iter());
    while let (Some(a), Some(b)) = (items.next(), right_items.next()) {
        let order = a.cmp(&b);
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

impl Hash for ValueRef<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            ValueRef(RefRepr::Null) => state.write_u8(0),
            ValueRef(RefRepr::Bool(b)) => state.write_u8(1 + u8::from(*b)),
            ValueRef(RefRepr::Int(i)) => state.write_i64(*i),
            ValueRef(RefRepr::Short(short)) => {
                let (first, last) = short.as_u64_pair();
                state.write_u64(first);
                state.write_u64(last);
            }
            ValueRef(RefRepr::Decimal(..) | RefRepr::Number(_) | RefRepr::ArenaNumber(_)) => {
                hash_number(*self, state);
            }
            ValueRef(RefRepr::Text(text)) => state.write(text.as_bytes()),
            ValueRef(RefRepr::Bytes(bytes)) => state.write(bytes.as_bytes()),
            ValueRef(RefRepr::ArenaText(text)) => state.write(text.as_bytes()),
            ValueRef(RefRepr::Array(_) | RefRepr::ArenaArray(_)) => {
                stack::level(|| hash_array(*self, state));
            }
            ValueRef(RefRepr::Object(_) | RefRepr::ArenaObject(_)) => {
                stack::level(|| hash_object(*self, state));
            }
            ValueRef(RefRepr::Set(_) | RefRepr::ArenaSet(_)) => {
                stack::level(|| hash_set(*self, state));
            }
        }
    }
}

fn hash_number<H: Hasher>(value: ValueRef<'_>, state: &mut H) {
    if let Some(number) = value.as_number() {
        number.hash_into(state);
    }
}

fn hash_array<H: Hasher>(value: ValueRef<'_>, state: &mut H) {
    if value.exceeds_traversal_limit() {
        return;
    }
    state.write_u8(3);
    let Some(items) = value.as_array() else {
        return;
    };
    for item in items.iter() {
        item.hash(state);
    }
}

fn hash_object<H: Hasher>(value: ValueRef<'_>, state: &mut H) {
    if value.exceeds_traversal_limit() {
        return;
    }
    state.write_u8(4);
    let Some(object) = value.as_object() else {
        return;
    };
    for (key, value) in object.iter() {
        key.hash(state);
        value.hash(state);
    }
}

fn hash_set<H: Hasher>(value: ValueRef<'_>, state: &mut H) {
    if value.exceeds_traversal_limit() {
        return;
    }
    state.write_u8(5);
    let Some(set) = value.as_set() else { return };
    for item in set.iter() {
        item.hash(state);
    }
}
