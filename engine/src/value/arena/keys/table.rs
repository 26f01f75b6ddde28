//! A hash table from keys to positions, with open addressing and linear probing.
//!
//! Sets and objects in loops are looked up in each iteration. An array of words that a few instructions probe is faster
//! for that than a general-purpose table.

use std::cell::Cell;

use super::super::Arena;
use crate::index::Indexed as _;
use crate::value::order::{hash, hash_short};
use crate::value::prefix_hash::prefix_hash;
use crate::value::{RefRepr, Short, ValueRef};

/// Position of a key, with its hash: keys may be large, and a table that grows needs the hashes of all.
#[derive(Clone, Copy)]
struct KeySlot {
    at: u32,
    code: u32,
}

const FREE: KeySlot = KeySlot {
    at: u32::MAX,
    code: 0,
};

/// Positions of distinct keys.
pub struct ArenaKeyTable<'e> {
    /// Invariant: the length is a power of two, and some slots are free. Probing relies on it.
    slots: &'e mut [KeySlot],
    arena: &'e Arena,
    /// `true` if all of a compound is hashed, because too many have the same prefix.
    thorough: bool,
    /// `true` if too many keys with the same prefix hash were found.
    crowded: Cell<bool>,
}

/// Maximum number of keys with the same prefix hash that are compared before compounds are hashed completely.
const ALIKE: usize = 8;

impl<'e> ArenaKeyTable<'e> {
    /// Creates a table of keys with room for `room` keys before it grows.
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
        for (index, key) in keys.iter().enumerate() {
            self.add(index, self.code(key));
        }
    }

    /// Returns the hash of a key. Unless the table is thorough, only the begin of a collection is hashed.
    #[inline]
    pub fn code(&self, key: &ValueRef<'_>) -> u64 {
        match key {
            ValueRef(
                RefRepr::Array(_)
                | RefRepr::ArenaArray(_)
                | RefRepr::Object(_)
                | RefRepr::ArenaObject(_)
                | RefRepr::Set(_)
                | RefRepr::ArenaSet(_),
            ) if !self.thorough => prefix_hash(*key),
            _ => hash(*key),
        }
    }

    /// Hashes all keys completely from now on, if too many were found to have the same prefix.
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

    /// Returns the position of a key, or `None`. O(1) on average.
    #[inline]
    pub fn find(&self, keys: &[ValueRef<'_>], key: ValueRef<'_>) -> Option<usize> {
        self.lookup(keys, &key).1.ok()
    }

    /// Returns the hash of a key, and its position or the slot for its insertion.
    #[inline]
    pub fn lookup(&self, keys: &[ValueRef<'_>], key: &ValueRef<'_>) -> (u64, Result<usize, usize>) {
        if let ValueRef(RefRepr::Short(short)) = key {
            return self.lookup_short(keys, short);
        }
        let code = self.code(key);
        let alike = Cell::new(0);
        let is_same_key = |index| {
            let is_same = keys.get(index).is_some_and(|other| *other == *key);
            alike.set(alike.get() + usize::from(!is_same));
            is_same
        };
        let lookup = self.probe(code, is_same_key);
        if alike.get() > ALIKE {
            self.crowded.set(true);
        }
        (code, lookup)
    }

    /// Like [`Self::lookup`], for a string that is read in place. A copy would be written in fields and read back as a
    /// whole, which stalls on store forwarding.
    #[inline]
    pub fn lookup_short(&self, keys: &[ValueRef<'_>], key: &Short) -> (u64, Result<usize, usize>) {
        let code = hash_short(key);
        let is_same_key = |index| matches!(keys.get(index), Some(ValueRef(RefRepr::Short(other))) if other == key);
        (code, self.probe(code, is_same_key))
    }

    #[inline]
    fn probe(&self, code: u64, is_same_key: impl Fn(usize) -> bool) -> Result<usize, usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let code = low(code);
        let mut slot = code as usize & mask;
        while let Some(key_slot) = self.slots.get(slot) {
            if key_slot.at == FREE.at {
                break;
            }
            if key_slot.code == code && is_same_key(key_slot.at as usize) {
                return Ok(key_slot.at as usize);
            }
            slot = (slot + 1) & mask;
        }
        Err(slot)
    }

    /// Adds the next key, whose position is `index`. `slot` and `code` are those that [`Self::lookup`] returned.
    #[inline]
    pub fn fill(&mut self, slot: usize, index: usize, code: u64) {
        *self.slots.item_mut(slot) = KeySlot::new(index, code);
        if 3 * (index + 1) > 2 * self.slots.len() {
            self.grow();
        }
    }

    /// Adds the next key, whose position is `index`. It must differ from all others.
    #[inline]
    pub fn add(&mut self, index: usize, code: u64) {
        if let Err(slot) = self.probe(code, |_| false) {
            self.fill(slot, index, code);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let larger = free(self.arena, 2 * self.slots.len());
        let mask = larger.len() - 1;
        for key_slot in self.slots.iter().filter(|key_slot| key_slot.at != FREE.at) {
            let mut slot = key_slot.code as usize & mask;
            while let Some(other) = larger.get(slot)
                && other.at != FREE.at
            {
                slot = (slot + 1) & mask;
            }
            *larger.item_mut(slot) = *key_slot;
        }
        self.slots = larger;
    }
}

impl KeySlot {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "an arena holds fewer than 2^32 values of 16 bytes"
    )]
    #[inline]
    fn new(index: usize, code: u64) -> Self {
        Self {
            at: index as u32,
            code: low(code),
        }
    }
}

/// Returns the low half of a hash, which is sufficient for probing.
#[expect(clippy::cast_possible_truncation, reason = "half of it is wanted")]
#[inline]
fn low(hash: u64) -> u32 {
    hash as u32
}

/// Allocates at least so many empty slots.
fn free(arena: &Arena, slots: usize) -> &mut [KeySlot] {
    arena
        .bump()
        .alloc_slice_fill_copy(slots.next_power_of_two(), FREE)
}
