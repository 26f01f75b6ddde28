//! Large stored objects with a few changes, which are kept separately so that the object is not copied.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::slice;

use super::Arena;
use super::keys::SortedPositions;
use super::object::ArenaObject;
use crate::value::object::ObjectIter;
use crate::value::{Object, RefRepr, Value, ValueRef};

/// An object that differs from a stored one in a few pairs.
pub struct Overlaid<'e> {
    base: &'e Object,
    /// Changed keys, in order.
    keys: &'e [ValueRef<'e>],
    /// Their values; `None` for a removed pair.
    values: &'e [Option<ValueRef<'e>>],
    len: usize,
}

impl<'e> Overlaid<'e> {
    /// Minimum ratio of stored pairs to changes. Below it a copy of the object costs less than two lookups.
    pub const SHARE: usize = 8;

    /// Returns the number of keys after the changes.
    #[inline]
    pub fn size(&self) -> usize {
        self.len
    }

    /// Returns the stored object, without the changes.
    pub fn base(&self) -> &'e Object {
        self.base
    }

    /// Returns the changes in key order.
    pub fn changes(&self) -> impl Iterator<Item = (ValueRef<'e>, Option<ValueRef<'e>>)> + use<'e> {
        self.keys.iter().copied().zip(self.values.iter().copied())
    }

    /// Returns the value under a key, or `None` if it is missing or removed.
    #[inline(never)]
    pub fn get(&self, key: ValueRef<'_>) -> Option<ValueRef<'e>> {
        match self.keys.binary_search_by(|other| other.cmp(&key)) {
            Ok(index) => self.values.get(index).copied().flatten(),
            Err(_) => self.base.get(key).map(Value::borrow),
        }
    }

    /// Returns the pairs in key order.
    pub fn iter(&self) -> OverlaidPairs<'e> {
        OverlaidPairs {
            base: self.base.iter().peekable(),
            keys: self.keys.iter(),
            values: self.values.iter(),
        }
    }

    /// Returns an owned copy, which shares unchanged parts.
    pub fn to_object(&self) -> Object {
        let mut object = self.base.clone();
        for (key, value) in self.changes() {
            match value {
                Some(value) => object.insert(key.to_value(), value.to_value()),
                None => object.remove(key),
            }
        }
        object
    }
}

/// The pairs of an overlaid object, in key order.
#[derive(Clone)]
pub struct OverlaidPairs<'e> {
    base: Peekable<ObjectIter<'e>>,
    keys: slice::Iter<'e, ValueRef<'e>>,
    values: slice::Iter<'e, Option<ValueRef<'e>>>,
}

impl<'e> Iterator for OverlaidPairs<'e> {
    type Item = (ValueRef<'e>, ValueRef<'e>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let borrow_pair = |(key, value): (&'e Value, &'e Value)| (key.borrow(), value.borrow());
            let Some(changed_key) = self.keys.as_slice().first() else {
                return self.base.next().map(borrow_pair);
            };
            let order = match self.base.peek() {
                Some((key, _)) => key.borrow().cmp(changed_key),
                None => Ordering::Greater,
            };
            if order == Ordering::Less {
                return self.base.next().map(borrow_pair);
            }
            self.keys.next();
            let value = self.values.next().copied().flatten();
            // an equal key keeps its stored notation
            let key = match order {
                Ordering::Equal => self
                    .base
                    .next()
                    .map_or(*changed_key, |(key, _)| key.borrow()),
                _ => *changed_key,
            };
            if let Some(value) = value {
                return Some((key, value));
            }
        }
    }
}

impl Arena {
    /// Creates an object from a stored one and changes in key order: a new value, or `None` to remove the key.
    pub fn overlaid<'e>(
        &'e self,
        base: &'e Object,
        keys: &'e [ValueRef<'e>],
        values: &'e [Option<ValueRef<'e>>],
    ) -> ValueRef<'e> {
        let mut len = base.len();
        for (key, value) in keys.iter().zip(values) {
            match (base.get(*key), value) {
                (None, Some(_)) => len += 1,
                (Some(_), None) => len -= 1,
                _ => {}
            }
        }
        let new = values.iter().map(|value| value.unwrap_or_default());
        let new = self.bump().alloc_slice_fill_iter(new);
        let Some(extent) = self.size_with_extra(keys, new, 2 * len) else {
            return ValueRef(RefRepr::Null);
        };
        let overlaid = self.bump().alloc(Overlaid {
            base,
            keys,
            values,
            len,
        });
        ValueRef(RefRepr::ArenaObject(self.bump().alloc(
            ArenaObject::of_overlaid(overlaid, extent, SortedPositions::as_inserted(self)),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::RefRepr;
    use crate::value::Repr;

    fn stored() -> Object {
        let pair = |number: i64| {
            (
                Value(Repr::Int(2 * number)),
                Value::from(format!("value number {number}")),
            )
        };
        Object::from_sorted((0..200).map(pair).collect())
    }

    #[test]
    fn changed_objects_equal_copies() {
        let (base, arena) = (stored(), Arena::new());
        let keys = [-1, 0, 7, 8, 12, 99, 398, 500].map(|number| ValueRef(RefRepr::Int(number)));
        let truth = Some(ValueRef(RefRepr::Bool(true)));
        let values = [truth, None, None, truth, None, truth, None, truth];
        let mut copy = base.clone();
        for (key, value) in keys.iter().zip(values) {
            match value {
                Some(value) => copy.insert(key.to_value(), value.to_value()),
                None => copy.remove(*key),
            }
        }
        let overlaid = arena.overlaid(
            &base,
            arena.bump().alloc_slice_copy(&keys),
            arena.bump().alloc_slice_copy(&values),
        );
        let object = overlaid.as_object().unwrap();
        assert_eq!(object.len(), copy.len());
        let pairs = copy
            .iter()
            .map(|(key, value)| (key.borrow(), value.borrow()));
        assert!(object.iter().eq(pairs));
        for key in -2..502 {
            let expected = copy.get(ValueRef(RefRepr::Int(key))).map(Value::borrow);
            assert_eq!(object.get(ValueRef(RefRepr::Int(key))), expected, "{key}");
        }
        let copy_value = Value(Repr::Object(copy));
        assert_eq!(overlaid, copy_value.borrow());
        assert_eq!(overlaid.to_value(), copy_value);
        assert!(!object.has_text_keys());
    }

    #[test]
    fn equal_keys_keep_their_notation() {
        let (base, arena) = (stored(), Arena::new());
        let keys = arena
            .bump()
            .alloc_slice_copy(&[ValueRef(RefRepr::Decimal(1, 40))]);
        let values = arena
            .bump()
            .alloc_slice_copy(&[Some(ValueRef(RefRepr::Null))]);
        let object = arena.overlaid(&base, keys, values);
        let pair = object.as_object().unwrap().iter().nth(2).unwrap();
        assert_eq!(
            (pair.0.rego_text().to_string(), pair.1),
            ("4".to_owned(), ValueRef(RefRepr::Null))
        );
    }
}
