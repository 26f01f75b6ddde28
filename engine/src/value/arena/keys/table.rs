//! Places of keys by their hashes: one list, in which what collides stands behind.
//!
//! The sets and objects of a loop are asked once for each of its turns. A list of words that a few instructions look
//! through is faster for that than a table made for all uses.

use std::cell::Cell;

use super::super::Arena;
use crate::index::Indexed as _;
use crate::value::order::{hash, hash_short};
use crate::value::prefix_hash::prefix_hash;
use crate::value::{Short, ValueRef};

/// Where a key is. Its hash stays with it: keys may be large, and a table that grows needs the hashes of all.
#[derive(Clone, Copy)]
struct Slot {
    at: u32,
    code: u32,
}

/// A place that is free.
const FREE: Slot = Slot {
    at: u32::MAX,
    code: 0,
};

/// Positions of distinct keys.
pub struct Table<'e> {
    /// A power of two, and never full.
    slots: &'e mut [Slot],
    arena: &'e Arena,
    /// Whether compounds are hashed as a whole, since too many have the same first members.
    thorough: bool,
    /// Whether that has been seen.
    crowded: Cell<bool>,
}

/// Keys of one bounded hash that are gone through before compounds are hashed as a whole.
const ALIKE: usize = 8;

impl<'e> Table<'e> {
    /// A table of keys, with room for so many.
    pub fn new(keys: &[ValueRef<'_>], room: usize, arena: &'e Arena) -> Self {
        let mut table = Self {
            slots: free(arena, 2 * room.max(keys.len())),
            arena,
            thorough: false,
            crowded: Cell::new(false),
        };
        table.add_all(keys);
        table
    }

    fn add_all(&mut self, keys: &[ValueRef<'_>]) {
        for (at, key) in keys.iter().enumerate() {
            self.add(at, self.code(key));
        }
    }

    /// The hash that a key is found by.
    #[inline]
    pub fn code(&self, key: &ValueRef<'_>) -> u64 {
        match key {
            ValueRef::Array(_)
            | ValueRef::ArenaArray(_)
            | ValueRef::Object(_)
            | ValueRef::ArenaObject(_)
            | ValueRef::Set(_)
            | ValueRef::ArenaSet(_)
                if !self.thorough =>
            {
                prefix_hash(*key)
            }
            _ => hash(*key),
        }
    }

    /// Hashes all keys as a whole from now on, when too many have been found to be alike.
    #[inline]
    pub fn relieve(&mut self, keys: &[ValueRef<'_>]) {
        if self.crowded.get() && !self.thorough {
            self.hash_all(keys);
        }
    }

    #[cold]
    fn hash_all(&mut self, keys: &[ValueRef<'_>]) {
        self.thorough = true;
        self.slots.fill(FREE);
        self.add_all(keys);
    }

    /// The position of a key among the keys.
    #[inline]
    pub fn find(&self, keys: &[ValueRef<'_>], key: ValueRef<'_>) -> Option<usize> {
        self.lookup(keys, &key).1.ok()
    }

    /// The hash of a key and its position, or the place that it would get.
    #[inline]
    pub fn lookup(&self, keys: &[ValueRef<'_>], key: &ValueRef<'_>) -> (u64, Result<usize, usize>) {
        if let ValueRef::Short(short) = key {
            return self.lookup_short(keys, short);
        }
        let code = self.code(key);
        let alike = Cell::new(0);
        let same = |at| {
            let is_same = keys.get(at).is_some_and(|other| *other == *key);
            alike.set(alike.get() + usize::from(!is_same));
            is_same
        };
        let found = self.probe(code, same);
        if alike.get() > ALIKE {
            self.crowded.set(true);
        }
        (code, found)
    }

    /// The same for a string, read where it lies: copied, it would be written in parts and read back too early.
    #[inline]
    pub fn lookup_short(&self, keys: &[ValueRef<'_>], key: &Short) -> (u64, Result<usize, usize>) {
        let code = hash_short(key);
        let same = |at| matches!(keys.get(at), Some(ValueRef::Short(other)) if other == key);
        (code, self.probe(code, same))
    }

    #[inline]
    fn probe(&self, code: u64, same: impl Fn(usize) -> bool) -> Result<usize, usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let code = low(code);
        let mut slot = code as usize & mask;
        while let Some(place) = self.slots.get(slot) {
            if place.at == FREE.at {
                break;
            }
            if place.code == code && same(place.at as usize) {
                return Ok(place.at as usize);
            }
            slot = (slot + 1) & mask;
        }
        Err(slot)
    }

    /// Adds the next key, the one at a position, which [`Self::look`] did not find.
    #[inline]
    pub fn fill(&mut self, slot: usize, at: usize, code: u64) {
        *self.slots.item_mut(slot) = Slot::new(at, code);
        if 3 * (at + 1) > 2 * self.slots.len() {
            self.grow();
        }
    }

    /// Adds the next key, the one at a position, which no other one equals.
    #[inline]
    pub fn add(&mut self, at: usize, code: u64) {
        if let Err(slot) = self.probe(code, |_| false) {
            self.fill(slot, at, code);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let larger = free(self.arena, 2 * self.slots.len());
        let mask = larger.len() - 1;
        for place in self.slots.iter().filter(|place| place.at != FREE.at) {
            let mut slot = place.code as usize & mask;
            while let Some(other) = larger.get(slot)
                && other.at != FREE.at
            {
                slot = (slot + 1) & mask;
            }
            *larger.item_mut(slot) = *place;
        }
        self.slots = larger;
    }
}

impl Slot {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "an arena holds fewer than 2^32 values of 16 bytes"
    )]
    #[inline]
    fn new(at: usize, code: u64) -> Self {
        Self {
            at: at as u32,
            code: low(code),
        }
    }
}

/// Part of a hash, which will do.
#[expect(clippy::cast_possible_truncation, reason = "half of it is wanted")]
#[inline]
fn low(hash: u64) -> u32 {
    hash as u32
}

/// So many places and some more.
fn free(arena: &Arena, slots: usize) -> &mut [Slot] {
    arena
        .bump()
        .alloc_slice_fill_copy(slots.next_power_of_two(), FREE)
}
