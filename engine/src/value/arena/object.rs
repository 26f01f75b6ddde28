//! Objects in the arena.

use std::cell::Cell;
use std::sync::Arc;

use super::Arena;
use super::keys::{Order, SCAN, Table, append_key, insert_key};
use super::overlaid::{Overlaid, OverlaidPairs};
use super::value_size::ValueSize;
use crate::index::Indexed as _;
use crate::value::{Shape, ValueRef, search};

/// An object in the arena: distinct keys, ordered when first asked for.
pub struct ArenaObject<'e> {
    keys: &'e [ValueRef<'e>],
    values: &'e [ValueRef<'e>],
    table: Option<Table<'e>>,
    order: Order<'e>,
    extent: ValueSize,
    /// The form, when the program knows it: then the keys are in order.
    shape: Option<&'e Arc<Shape>>,
    /// What stands in the place of all pairs, when they are those of a stored object but for a few.
    overlaid: Option<&'e Overlaid<'e>>,
}

impl<'e> ArenaObject<'e> {
    /// Its form, when the program knows it; the values are in the order of its keys then.
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

    /// An object that differs from a stored one in a few pairs.
    pub(super) fn of_overlaid(
        overlaid: &'e Overlaid<'e>,
        extent: ValueSize,
        order: Order<'e>,
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

    /// The stored object and what differs from it, when it is made of these.
    #[inline]
    pub fn overlaid(&self) -> Option<&'e Overlaid<'e>> {
        self.overlaid
    }

    /// Whether its own keys and values may be gone through without a look at how deep and how large they are.
    #[inline]
    pub fn is_flat(&self) -> bool {
        self.overlaid.is_none() && self.extent.is_flat()
    }

    /// Number of keys.
    #[inline]
    pub fn len(&self) -> usize {
        match self.overlaid {
            None => self.keys.len(),
            Some(overlaid) => overlaid.size(),
        }
    }

    /// Whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under a key.
    #[inline]
    pub fn get(&self, key: ValueRef<'_>) -> Option<ValueRef<'e>> {
        if let Some(overlaid) = self.overlaid {
            return overlaid.get(key);
        }
        let at = match &self.table {
            Some(table) => table.find(self.keys, key)?,
            None if self.keys.len() > SCAN => {
                self.keys.binary_search_by(|other| other.cmp(&key)).ok()?
            }
            None => search::position_in_flight(self.keys, key)?,
        };
        self.values.get(at).copied()
    }

    /// The keys in the order of insertion; none when it [differs from a stored one](Self::overlaid).
    pub fn keys(&self) -> &'e [ValueRef<'e>] {
        self.keys
    }

    /// The values in the order of insertion of their keys; as for these.
    pub fn values(&self) -> &'e [ValueRef<'e>] {
        self.values
    }

    /// The pairs in key order.
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
    /// All held in the arena.
    InArena(InArenaPairs<'e>),
    /// Those of a stored object but for a few.
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

    /// As for all objects.
    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, f: F) -> B {
        match self {
            Self::InArena(pairs) => pairs.fold(init, f),
            Self::Overlaid(pairs) => pairs.fold(init, f),
        }
    }
}

/// Pairs held in the arena, in key order.
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
        let at = match self.order {
            Some(order) => order.get(self.at)?.get() as usize,
            None => self.at,
        };
        self.at += 1;
        Some((*self.keys.get(at)?, *self.values.get(at)?))
    }

    /// As for all objects.
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

/// What became of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// The key is new.
    New,
    /// The key was there with an equal value.
    Same,
    /// The key was there with another value, which stays.
    Conflict,
}

/// An object being built.
pub struct ObjectBuilder<'e> {
    arena: &'e Arena,
    keys: bumpalo::collections::Vec<'e, ValueRef<'e>>,
    values: bumpalo::collections::Vec<'e, ValueRef<'e>>,
    table: Option<Table<'e>>,
}

impl<'e> ObjectBuilder<'e> {
    /// An empty object.
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            keys: arena.list(),
            values: arena.list(),
            table: None,
        }
    }

    /// An empty object with room for so many pairs.
    pub fn with_room(arena: &'e Arena, pairs: usize) -> Self {
        let list = || bumpalo::collections::Vec::with_capacity_in(pairs, arena.bump());
        Self {
            arena,
            keys: list(),
            values: list(),
            table: None,
        }
    }

    /// Adds a pair unless the key is there.
    #[inline]
    pub fn put(&mut self, key: ValueRef<'e>, value: ValueRef<'e>) -> Put {
        match insert_key(&mut self.keys, &mut self.table, self.arena, key) {
            Ok(()) => {
                self.values.push(value);
                Put::New
            }
            Err(at) if self.values.get(at).is_some_and(|old| *old == value) => Put::Same,
            Err(_) => Put::Conflict,
        }
    }

    /// Adds a pair whose key no other one equals.
    #[inline]
    pub fn append(&mut self, key: ValueRef<'e>, value: ValueRef<'e>) {
        let code = match &self.table {
            Some(table) => table.code(&key),
            None => 0,
        };
        append_key(&mut self.keys, &mut self.table, self.arena, key, code);
        self.values.push(value);
    }

    /// Sets the value under a key; the first of equal keys stays.
    #[inline]
    pub fn set(&mut self, key: ValueRef<'e>, value: ValueRef<'e>) {
        match insert_key(&mut self.keys, &mut self.table, self.arena, key) {
            Ok(()) => self.values.push(value),
            Err(at) => *self.values.item_mut(at) = value,
        }
    }

    /// The value under a key so far.
    pub fn get(&self, key: ValueRef<'_>) -> Option<ValueRef<'e>> {
        let at = match &self.table {
            Some(table) => table.find(&self.keys, key)?,
            None => search::position_in_flight(&self.keys, key)?,
        };
        self.values.get(at).copied()
    }

    /// Number of keys so far.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether it has no keys yet.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The object.
    pub fn finish(self) -> ValueRef<'e> {
        match self.arena.around_pairs(&self.keys, &self.values) {
            Some(extent) => self.finish_at(extent),
            None => ValueRef::Null,
        }
    }

    fn finish_at(self, extent: ValueSize) -> ValueRef<'e> {
        ValueRef::ArenaObject(self.arena.bump().alloc(ArenaObject {
            extent,
            order: Order::new(self.arena, self.keys.len()),
            keys: self.keys.into_bump_slice(),
            values: self.values.into_bump_slice(),
            table: self.table,
            shape: None,
            overlaid: None,
        }))
    }
}

/// Distinct keys and their places, of which an object is made once its values are there.
pub struct KeyPositions<'e> {
    arena: &'e Arena,
    keys: bumpalo::collections::Vec<'e, ValueRef<'e>>,
    table: Option<Table<'e>>,
}

impl<'e> KeyPositions<'e> {
    /// No keys.
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            keys: arena.list(),
            table: None,
        }
    }

    /// The key at a place.
    #[inline]
    pub fn key(&self, at: usize) -> Option<&ValueRef<'e>> {
        self.keys.get(at)
    }

    /// The place of a key that is there.
    pub fn find(&self, key: ValueRef<'_>) -> Option<usize> {
        match &self.table {
            Some(table) => table.find(&self.keys, key),
            None => search::position_in_flight(&self.keys, key),
        }
    }

    /// The place of a key, which is the next one when it is new.
    #[inline]
    pub fn find_or_insert(&mut self, key: ValueRef<'e>) -> usize {
        let next = self.keys.len();
        match insert_key(&mut self.keys, &mut self.table, self.arena, key) {
            Ok(()) => next,
            Err(at) => at,
        }
    }

    /// The object of all keys with their values, which stand at the places of these.
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
    /// An object that a reader made, which bounds nesting itself, with copies of the keys and values; of equal
    /// keys the last pair wins.
    pub fn object_of<'e>(&'e self, keys: &[ValueRef<'e>], values: &[ValueRef<'e>]) -> ValueRef<'e> {
        let mut seen = keys;
        let distinct = |seen: &mut &[ValueRef<'e>]| match seen.split_last() {
            Some((last, rest)) => {
                *seen = rest;
                !rest.contains(last)
            }
            None => true,
        };
        if keys.len() > SCAN || !(0..keys.len()).all(|_| distinct(&mut seen)) {
            let mut object = ObjectBuilder::new(self);
            for (key, value) in keys.iter().zip(values) {
                object.set(*key, *value);
            }
            return object.finish_at(ValueSize::PARSED);
        }
        let keys = self.bump.alloc_slice_copy(keys);
        self.parsed_object(keys, values)
    }

    /// An object of few distinct keys that a reader made, with a copy of the values.
    #[inline]
    fn parsed_object<'e>(
        &'e self,
        keys: &'e [ValueRef<'e>],
        values: &[ValueRef<'e>],
    ) -> ValueRef<'e> {
        let values = self.bump.alloc_slice_copy(values);
        let order = Order::new(self, keys.len());
        self.untabled(ValueSize::PARSED, keys, values, order, None)
    }

    /// An object without a table of its keys.
    #[inline]
    fn untabled<'e>(
        &'e self,
        extent: ValueSize,
        keys: &'e [ValueRef<'e>],
        values: &'e [ValueRef<'e>],
        order: Order<'e>,
        shape: Option<&'e Arc<Shape>>,
    ) -> ValueRef<'e> {
        ValueRef::ArenaObject(self.bump.alloc(ArenaObject {
            keys,
            values,
            table: None,
            order,
            extent,
            shape,
            overlaid: None,
        }))
    }

    /// The same with the keys of another one, which both share.
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

    /// An object of distinct keys that are in order.
    pub fn sorted_object<'e>(
        &'e self,
        keys: &'e [ValueRef<'e>],
        values: &'e [ValueRef<'e>],
    ) -> ValueRef<'e> {
        self.ordered_object(keys, values, None)
    }

    /// The same of keys that hold no compounds.
    #[inline]
    pub fn object_of_plain_keys<'e>(
        &'e self,
        keys: &'e [ValueRef<'e>],
        values: &'e [ValueRef<'e>],
    ) -> ValueRef<'e> {
        match self.around_more(&[], values, keys.len()) {
            Some(extent) => self.untabled(extent, keys, values, Order::as_inserted(self), None),
            None => ValueRef::Null,
        }
    }

    /// An object of a form with few keys, and the values in the order of these.
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
        match self.around_pairs(keys, values) {
            Some(extent) => self.untabled(extent, keys, values, Order::as_inserted(self), shape),
            None => ValueRef::Null,
        }
    }

    /// Most keys of an object that [`Self::object_of_shape`] makes.
    pub const SHAPED: usize = SCAN;
}
