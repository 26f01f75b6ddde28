//! Distinct values in the order of insertion, found by scan or hash, ordered when first asked for.

use std::cell::Cell;

use bumpalo::Bump;
use hashbrown::HashTable;

use super::Arena;
use crate::value::order::{hash, same_key};
use crate::value::{V, search, sort};

/// Members up to which a scan beats a hash table.
pub(super) const SCAN: usize = 8;

/// Members up to which sorting by insertion beats a list made for it.
const INSERTED: usize = 16;

/// The order of members or keys, found when first asked for. It holds positions in slots that were set aside
/// at the start, since a late pointer into the arena would tie the lifetimes of all values together.
pub(super) struct Order<'e> {
    slots: &'e [Cell<u32>],
    state: Cell<State>,
    arena: Option<&'e Arena>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    AsInserted,
    BySlots,
}

impl<'e> Order<'e> {
    pub(super) fn new(arena: &'e Arena, len: usize) -> Self {
        Self {
            slots: arena.bump().alloc_slice_fill_with(len, |_| Cell::new(0)),
            state: Cell::new(State::Unknown),
            arena: Some(arena),
        }
    }

    /// The order of insertion.
    #[inline]
    pub(super) fn as_inserted() -> Self {
        Self {
            slots: &[],
            state: Cell::new(State::AsInserted),
            arena: None,
        }
    }

    /// The positions in order; `None` when the order of insertion already is the order.
    pub(super) fn of(&self, keys: &[V<'e>]) -> Option<&'e [Cell<u32>]> {
        if self.state.get() == State::Unknown {
            self.state.set(if keys.is_sorted() {
                State::AsInserted
            } else {
                self.sort(keys)
            });
        }
        (self.state.get() == State::BySlots).then_some(self.slots)
    }

    fn sort(&self, keys: &[V<'e>]) -> State {
        if keys.len() <= INSERTED {
            return self.insert_all(keys);
        }
        let goes_on = || self.arena.is_none_or(Arena::goes_on);
        for (slot, at) in self.slots.iter().zip(sort::order(keys, goes_on)) {
            slot.set(at);
        }
        State::BySlots
    }
}

impl<'e> Order<'e> {
    /// Sorts a few keys in the slots themselves.
    fn insert_all(&self, keys: &[V<'e>]) -> State {
        for (key, at) in keys.iter().zip(0_u32..) {
            let mut new = at;
            let sorted = self.slots.get(..at as usize).unwrap_or_default();
            // whatever is greater moves on by one
            let larger = sorted.iter().rev().take_while(|slot| {
                let other = keys.get(slot.get() as usize);
                other.is_some_and(|other| *other > *key)
            });
            let place = at as usize - larger.count();
            for slot in self.slots.iter().take(at as usize + 1).skip(place) {
                new = slot.replace(new);
            }
        }
        State::BySlots
    }
}

/// Positions of keys by their hashes.
pub(super) type Table<'e> = HashTable<Place, &'e Bump>;

/// Where a key is. Its hash stays with it: keys may be large, and a table that grows needs the hashes of all.
#[derive(Clone, Copy)]
pub(super) struct Place {
    at: u32,
    code: u32,
}

impl Place {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "an arena holds fewer than 2^32 values of 16 bytes, and a part of a hash will do"
    )]
    #[inline]
    fn new(at: usize, hash: u64) -> Self {
        Self {
            at: at as u32,
            code: hash as u32,
        }
    }

    /// What the table goes by, made of the part of the hash that is kept: it looks at both ends of it.
    #[inline]
    fn hash(self) -> u64 {
        u64::from(self.code) << 32 | u64::from(self.code)
    }
}

#[inline]
pub(super) fn find(table: &Table<'_>, items: &[V<'_>], member: V<'_>) -> Option<usize> {
    lookup(table, items, member, Place::new(0, hash(member)))
}

#[inline]
fn lookup(table: &Table<'_>, items: &[V<'_>], member: V<'_>, place: Place) -> Option<usize> {
    let same = |other: &Place| {
        other.code == place.code
            && items
                .get(other.at as usize)
                .is_some_and(|item| same_key(*item, member))
    };
    table
        .find(place.hash(), same)
        .map(|place| place.at as usize)
}

#[inline]
fn add(table: &mut Table<'_>, place: Place) {
    table.insert_unique(place.hash(), place, |place| place.hash());
}

/// A table of keys so far.
fn tabulate<'e>(keys: &[V<'_>], room: usize, arena: &'e Arena) -> Table<'e> {
    let mut table = HashTable::with_capacity_in(room.max(4 * SCAN), arena.bump());
    for (at, key) in keys.iter().enumerate() {
        add(&mut table, Place::new(at, hash(*key)));
    }
    table
}

/// Appends a key unless an equal one is there, whose position is the error.
#[inline]
pub(super) fn insert_key<'e>(
    keys: &mut bumpalo::collections::Vec<'e, V<'e>>,
    table: &mut Option<Table<'e>>,
    arena: &'e Arena,
    key: V<'e>,
) -> Result<(), usize> {
    match table {
        Some(table) => {
            let place = Place::new(keys.len(), hash(key));
            if let Some(at) = lookup(table, keys, key, place) {
                return Err(at);
            }
            keys.push(key);
            add(table, place);
        }
        None => {
            if let Some(at) = search::position_in_flight(keys, key) {
                return Err(at);
            }
            keys.push(key);
            if keys.len() > SCAN {
                *table = Some(tabulate(keys, 0, arena));
            }
        }
    }
    Ok(())
}

/// Appends a key that no other one equals, with its hash.
#[inline]
pub(super) fn append_key<'e>(
    keys: &mut bumpalo::collections::Vec<'e, V<'e>>,
    table: &mut Option<Table<'e>>,
    arena: &'e Arena,
    key: V<'e>,
    code: u64,
) {
    let place = Place::new(keys.len(), code);
    keys.push(key);
    if let Some(table) = table {
        add(table, place);
    } else if keys.len() > SCAN {
        *table = Some(tabulate(keys, keys.capacity(), arena));
    }
}
