//! Objects in the arena: hashed when built, and sorted when their order is first needed.

use std::cell::Cell;
use std::sync::Arc;

use super::Arena;
use super::keys::{ArenaKeyTable, SCAN, SortedPositions, append_key, insert_key};
use super::overlaid::{Overlaid, OverlaidPairs};
use super::value_size::ValueSize;
use crate::index::Indexed as _;
use crate::value::{RefRepr, Shape, ValueRef, search};

/// An object in the arena: distinct keys, sorted on first use of their order.
pub struct ArenaObject<'e> {
    keys: &'e [ValueRef<'e>],
    values: &'e [ValueRef<'e>],
    table: Option<ArenaKeyTable<'e>>,
    order: SortedPositions<'e>,
    extent: ValueSize,
    /// The shape, if it is known at compile time. Then the keys are sorted.
    shape: Option<&'e Arc<Shape>>,
    /// Set if the object is a stored one with a few changes. It then has no pairs of its own.
    overlaid: Option<&'e Overlaid<'e>>,
}

impl<'e> ArenaObject<'e> {
    /// Returns the shape, if it is known at compile time. Then values are in the order of its keys.
    #[inline]
    pub fn shape(&self) -> Option<&'e Arc<Shape>> {
        self.shape
    }

    #[inline]
    pub(super) fn extent(&self) -> ValueSize {
        self.extent
    }

    #[inline]
    pub(super) fn arena(&self) -> &'e Arena {
        self.order.arena()
    }

    /// Creates an object that differs from a stored one in a few pairs.
    pub(super) fn of_overlaid(
        overlaid: &'e Overlaid<'e>,
        extent: ValueSize,
        order: SortedPositions<'e>,
    ) -> Self {
        Self {
            keys: &[],
            values: &[],
            table: None,
            order,
            extent,
            shape: None,
            overlaid: Some(overlaid),
        }
    }

    /// Returns the stored object and the changes, if the object consists of these.
    #[inline]
    pub fn overlaid(&self) -> Option<&'e Overlaid<'e>> {
        self.overlaid
    }

    /// Returns `true` if keys and values may be traversed without checks of depth and size.
    #[inline]
    pub fn is_flat(&self) -> bool {
        self.overlaid.is_none() && self.extent.is_flat()
    }

    /// Returns the number of keys. O(1).
    #[inline]
    pub fn len(&self) -> usize {
        match self.overlaid {
            None => self.keys.len(),
            Some(overlaid) => overlaid.size(),
        }
    }

    /// Returns `true` if it has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value under a key, or `None` if the object does not have it. Larger objects have a hash table.
    #[inline]
    pub fn get(&self, key: ValueRef<'_>) -> Option<ValueRef<'e>> {
        if let Some(overlaid) = self.overlaid {
            return overlaid.get(key);
        }
        let index = match &self.table {
            Some(table) => table.find(self.keys, key)?,
            None if self.keys.len() > SCAN => {
                self.keys.binary_search_by(|other| other.cmp(&key)).ok()?
            }
            None => search::position_in_flight(self.keys, key)?,
        };
        self.values.get(index).copied()
    }

    /// Returns the keys in the order of insertion. Empty if the object [differs from a stored one](Self::overlaid).
    pub fn keys(&self) -> &'e [ValueRef<'e>] {
        self.keys
    }

    /// Returns the values in the order of [`Self::keys`].
    pub fn values(&self) -> &'e [ValueRef<'e>] {
        self.values
    }

    /// Returns the pairs in key order.
    #[inline]
    pub fn iter(&self) -> ArenaPairs<'e> {
        if let Some(overlaid) = self.overlaid {
            return ArenaPairs::Overlaid(overlaid.iter());
        }
        ArenaPairs::InArena(InArenaPairs {
            keys: self.keys,
            values: self.values,
            order: self.order.sorted_positions(self.keys),
            at: 0,
        })
    }
}

/// The pairs of an object in the arena, in key order.
#[derive(Clone)]
pub enum ArenaPairs<'e> {
    /// Pairs in the arena.
    InArena(InArenaPairs<'e>),
    /// Pairs of a stored object with a few changes.
    Overlaid(OverlaidPairs<'e>),
}

impl<'e> Iterator for ArenaPairs<'e> {
    type Item = (ValueRef<'e>, ValueRef<'e>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::InArena(pairs) => pairs.next(),
            Self::Overlaid(pairs) => pairs.next(),
        }
    }

    /// A loop for each variant, instead of a dispatch for each pair.
    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, f: F) -> B {
        match self {
            Self::InArena(pairs) => pairs.fold(init, f),
            Self::Overlaid(pairs) => pairs.fold(init, f),
        }
    }
}

/// Pairs in the arena, in key order.
#[derive(Clone)]
pub struct InArenaPairs<'e> {
    keys: &'e [ValueRef<'e>],
    values: &'e [ValueRef<'e>],
    order: Option<&'e [Cell<u32>]>,
    at: usize,
}

impl<'e> Iterator for InArenaPairs<'e> {
    type Item = (ValueRef<'e>, ValueRef<'e>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let index = match self.order {
            Some(order) => order.get(self.at)?.get() as usize,
            None => self.at,
        };
        self.at += 1;
        Some((*self.keys.get(index)?, *self.values.get(index)?))
    }

    /// A plain loop if the order of insertion is the key order.
    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut f: F) -> B {
        if self.order.is_none() {
            let pairs = self.keys.iter().zip(self.values).skip(self.at);
            return pairs.fold(init, |all, (key, value)| f(all, (*key, *value)));
        }
        let mut all = init;
        for pair in self {
            all = f(all, pair);
        }
        all
    }
}

/// Outcome of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// The key is new.
    New,
    /// The key exists with an equal value.
    Same,
    /// The key exists with another value, which is kept.
    Conflict,
}

/// Builder of an object in the arena, by insertion of pairs.
pub struct ObjectBuilder<'e> {
    arena: &'e Arena,
    keys: bumpalo::collections::Vec<'e, ValueRef<'e>>,
    values: bumpalo::collections::Vec<'e, ValueRef<'e>>,
    table: Option<ArenaKeyTable<'e>>,
}

impl<'e> ObjectBuilder<'e> {
    /// Creates an empty builder, whose memory is in the arena.
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            keys: arena.list(),
            values: arena.list(),
            table: None,
        }
    }

    /// Creates an empty builder with capacity for `pairs`.
    pub fn with_room(arena: &'e Arena, pairs: usize) -> Self {
        let list = || bumpalo::collections::Vec::with_capacity_in(pairs, arena.bump());
        Self {
            arena,
            keys: list(),
            values: list(),
            table: None,
        }
    }

    /// Adds a pair, unless the key exists.
    #[inline]
    pub fn put(&mut self, key: ValueRef<'e>, value: ValueRef<'e>) -> Put {
        match insert_key(&mut self.keys, &mut self.table, self.arena, key) {
            Ok(()) => {
                self.values.push(value);
                Put::New
            }
            Err(index) if self.values.get(index).is_some_and(|old| *old == value) => Put::Same,
            Err(_) => Put::Conflict,
        }
    }

    /// Adds a pair whose key differs from all others.
    #[inline]
    pub fn append(&mut self, key: ValueRef<'e>, value: ValueRef<'e>) {
        let code = match &self.table {
            Some(table) => table.code(&key),
            None => 0,
        };
        append_key(&mut self.keys, &mut self.table, self.arena, key, code);
        self.values.push(value);
    }

    /// Sets the value under a key. An existing equal key is kept.
    #[inline]
    pub fn set(&mut self, key: ValueRef<'e>, value: ValueRef<'e>) {
        match insert_key(&mut self.keys, &mut self.table, self.arena, key) {
            Ok(()) => self.values.push(value),
            Err(index) => *self.values.item_mut(index) = value,
        }
    }

    /// Returns the value under a key, or `None` if the object does not have it. Larger objects have a hash table.
    pub fn get(&self, key: ValueRef<'_>) -> Option<ValueRef<'e>> {
        let index = match &self.table {
            Some(table) => table.find(&self.keys, key)?,
            None => search::position_in_flight(&self.keys, key)?,
        };
        self.values.get(index).copied()
    }

    /// Returns the number of keys. O(1).
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns `true` if it has no keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the object, or `null` if a limit was reached; the evaluation then ends.
    pub fn finish(self) -> ValueRef<'e> {
        match self.arena.size_of_pairs(&self.keys, &self.values) {
            Some(extent) => self.finish_at(extent),
            None => ValueRef(RefRepr::Null),
        }
    }

    fn finish_at(self, extent: ValueSize) -> ValueRef<'e> {
        ValueRef(RefRepr::ArenaObject(self.arena.bump().alloc(ArenaObject {
            extent,
            order: SortedPositions::new(self.arena, self.keys.len()),
            keys: self.keys.into_bump_slice(),
            values: self.values.into_bump_slice(),
            table: self.table,
            shape: None,
            overlaid: None,
        })))
    }
}

/// Builder of an object whose values are known last: it maps distinct keys to positions.
pub struct KeyPositions<'e> {
    arena: &'e Arena,
    keys: bumpalo::collections::Vec<'e, ValueRef<'e>>,
    table: Option<ArenaKeyTable<'e>>,
}

impl<'e> KeyPositions<'e> {
    /// Creates an empty builder, whose memory is in the arena.
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            keys: arena.list(),
            table: None,
        }
    }

    /// Returns the key at a position, or `None` after the last.
    #[inline]
    pub fn key(&self, index: usize) -> Option<&ValueRef<'e>> {
        self.keys.get(index)
    }

    /// Returns the position of an existing key, or `None`.
    pub fn find(&self, key: ValueRef<'_>) -> Option<usize> {
        match &self.table {
            Some(table) => table.find(&self.keys, key),
            None => search::position_in_flight(&self.keys, key),
        }
    }

    /// Returns the position of a key. A new key gets the next position.
    #[inline]
    pub fn find_or_insert(&mut self, key: ValueRef<'e>) -> usize {
        let next = self.keys.len();
        match insert_key(&mut self.keys, &mut self.table, self.arena, key) {
            Ok(()) => next,
            Err(index) => index,
        }
    }

    /// Returns the object of all keys. Each key has a value at its position in `values`.
    pub fn finish(self, values: bumpalo::collections::Vec<'e, ValueRef<'e>>) -> ValueRef<'e> {
        let builder = ObjectBuilder {
            arena: self.arena,
            keys: self.keys,
            values,
            table: self.table,
        };
        builder.finish()
    }
}

impl Arena {
    /// Creates an object of a parser, which limits nesting itself, with copies of keys and values. The last of pairs
    /// with equal keys wins.
    pub fn object_of<'e>(&'e self, keys: &[ValueRef<'e>], values: &[ValueRef<'e>]) -> ValueRef<'e> {
        let mut remaining_keys = keys;
        let distinct = |remaining_keys: &mut &[ValueRef<'e>]| match remaining_keys.split_last() {
            Some((last, rest)) => {
                *remaining_keys = rest;
                !rest.contains(last)
            }
            None => true,
        };
        if keys.len() > SCAN || !(0..keys.len()).all(|_| distinct(&mut remaining_keys)) {
            let mut object = ObjectBuilder::new(self);
            for (key, value) in keys.iter().zip(values) {
                object.set(*key, *value);
            }
            return object.finish_at(ValueSize::PARSED);
        }
        let keys = self.bump.alloc_slice_copy(keys);
        self.parsed_object(keys, values)
    }

    /// Creates an object of a parser with few distinct keys and a copy of the values.
    #[inline]
    fn parsed_object<'e>(
        &'e self,
        keys: &'e [ValueRef<'e>],
        values: &[ValueRef<'e>],
    ) -> ValueRef<'e> {
        let values = self.bump.alloc_slice_copy(values);
        let order = SortedPositions::new(self, keys.len());
        self.untabled(ValueSize::PARSED, keys, values, order, None)
    }

    /// Creates an object without a hash table.
    #[inline]
    fn untabled<'e>(
        &'e self,
        extent: ValueSize,
        keys: &'e [ValueRef<'e>],
        values: &'e [ValueRef<'e>],
        order: SortedPositions<'e>,
        shape: Option<&'e Arc<Shape>>,
    ) -> ValueRef<'e> {
        ValueRef(RefRepr::ArenaObject(self.bump.alloc(ArenaObject {
            keys,
            values,
            table: None,
            order,
            extent,
            shape,
            overlaid: None,
        })))
    }

    /// Creates an object of a parser that shares the keys of another one.
    #[inline]
    pub fn object_like<'e>(
        &'e self,
        like: &ArenaObject<'e>,
        values: &[ValueRef<'e>],
    ) -> ValueRef<'e> {
        if like.table.is_some() || values.len() != like.keys.len() {
            return self.object_of(like.keys, values);
        }
        self.parsed_object(like.keys, values)
    }

    /// Creates an object of distinct sorted keys.
    pub fn sorted_object<'e>(
        &'e self,
        keys: &'e [ValueRef<'e>],
        values: &'e [ValueRef<'e>],
    ) -> ValueRef<'e> {
        self.ordered_object(keys, values, None)
    }

    /// Creates an object of distinct sorted keys that are scalars.
    #[inline]
    pub fn object_of_plain_keys<'e>(
        &'e self,
        keys: &'e [ValueRef<'e>],
        values: &'e [ValueRef<'e>],
    ) -> ValueRef<'e> {
        match self.size_with_extra(&[], values, keys.len()) {
            Some(extent) => self.untabled(
                extent,
                keys,
                values,
                SortedPositions::as_inserted(self),
                None,
            ),
            None => ValueRef(RefRepr::Null),
        }
    }

    /// Creates an object with a shape of few keys, and values in their order.
    #[inline]
    pub fn object_of_shape<'e>(
        &'e self,
        shape: &'e Arc<Shape>,
        values: &'e [ValueRef<'e>],
    ) -> ValueRef<'e> {
        self.ordered_object(self.in_flight(shape.keys()), values, Some(shape))
    }

    #[inline]
    fn ordered_object<'e>(
        &'e self,
        keys: &'e [ValueRef<'e>],
        values: &'e [ValueRef<'e>],
        shape: Option<&'e Arc<Shape>>,
    ) -> ValueRef<'e> {
        match self.size_of_pairs(keys, values) {
            Some(extent) => self.untabled(
                extent,
                keys,
                values,
                SortedPositions::as_inserted(self),
                shape,
            ),
            None => ValueRef(RefRepr::Null),
        }
    }

    /// Maximum number of keys for [`Self::object_of_shape`].
    pub const SHAPED: usize = SCAN;
}
