//! Order and equality of stored values by reference: the same as for borrowed values, without converting to these.

use std::cmp::Ordering;
use std::sync::Arc;

use solon_syntax::stack;

use super::order::compare_texts_stored;
use super::{Object, Repr, Value};

impl PartialEq for Value {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self(Repr::Short(a)), Self(Repr::Short(b))) => a == b,
            (Self(Repr::Int(a)), Self(Repr::Int(b))) => a == b,
            (Self(Repr::Text(a)), Self(Repr::Text(b))) => {
                a.ptr_eq(b) || a.as_bytes() == b.as_bytes()
            }
            (Self(Repr::Array(a)), Self(Repr::Array(b))) => {
                a.ptr_eq(b) || stack::level(|| equal_items(a, b))
            }
            (Self(Repr::Object(a)), Self(Repr::Object(b))) => are_equal(a, b),
            (Self(Repr::Set(a)), Self(Repr::Set(b))) => {
                Arc::ptr_eq(a, b) || stack::level(|| equal_items(a.items(), b.items()))
            }
            _ => self.borrow() == other.borrow(),
        }
    }
}

impl Ord for Value {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self(Repr::Short(a)), Self(Repr::Short(b))) => a.cmp(b),
            (Self(Repr::Int(a)), Self(Repr::Int(b))) => a.cmp(b),
            (Self(Repr::Text(a)), Self(Repr::Text(b))) => compare_texts_stored(a, b),
            (Self(Repr::Array(a)), Self(Repr::Array(b))) => stack::level(|| compare_items(a, b)),
            (Self(Repr::Object(a)), Self(Repr::Object(b))) => order(a, b),
            (Self(Repr::Set(a)), Self(Repr::Set(b))) => {
                stack::level(|| compare_items(a.items(), b.items()))
            }
            _ => self.borrow().cmp(&other.borrow()),
        }
    }
}

/// Returns `true` if two objects are equal. Shared objects are equal without a comparison.
#[inline]
pub(super) fn are_equal(a: &Object, b: &Object) -> bool {
    a.ptr_eq(b) || stack::level(|| equal_objects(a, b))
}

#[inline]
pub(super) fn order(a: &Object, b: &Object) -> Ordering {
    if a.ptr_eq(b) {
        return Ordering::Equal;
    }
    stack::level(|| compare_objects(a, b))
}

// plain loops, since values may be deeply nested and stacks small

#[inline(never)]
fn equal_items(a: &[Value], b: &[Value]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    for (a, b) in a.iter().zip(b) {
        if a != b {
            return false;
        }
    }
    true
}

#[inline(never)]
fn equal_objects(a: &Object, b: &Object) -> bool {
    if let (Some((shape, values)), Some((other, other_values))) = (a.shaped(), b.shaped()) {
        return (Arc::ptr_eq(shape, other) || equal_items(shape.keys(), other.keys()))
            && equal_items(values, other_values);
    }
    if a.len() != b.len() {
        return false;
    }
    for ((a, left_value), (b, right_value)) in a.iter().zip(b.iter()) {
        if a != b || left_value != right_value {
            return false;
        }
    }
    true
}

#[inline(never)]
fn compare_items(a: &[Value], b: &[Value]) -> Ordering {
    for (a, b) in a.iter().zip(b) {
        let order = a.cmp(b);
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

#[inline(never)]
fn compare_objects(a: &Object, b: &Object) -> Ordering {
    for ((a, left_value), (b, right_value)) in a.iter().zip(b.iter()) {
        let mut order = a.cmp(b);
        if order == Ordering::Equal {
            order = left_value.cmp(right_value);
        }
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}
