//! Distinct values in insertion order, found by scan or hash table, sorted on first use of their order.

mod table;

use std::cell::Cell;

use super::Arena;
use crate::bug::Within as _;
use crate::value::{Repr, Value, ValueRef, search, sort};
pub(super) use table::ArenaKeyTable;

/// Members up to which a scan beats a hash table.
pub(super) const SCAN: usize = 8;

/// Maximum number of members for insertion sort, which then beats a sort with a temporary list.
const INSERTED: usize = 16;

/// The sort order of members or keys, computed on first use. It stores positions in slots that are allocated at
/// construction, since a later pointer into the arena would tie the lifetimes of all values together.
pub(super) struct SortedPositions<'e> {
    slots: &'e [Cell<u32>],
    state: Cell<OrderState>,
    arena: &'e Arena,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OrderState {
    Unknown,
    AsInserted,
    BySlots,
}

impl<'e> SortedPositions<'e> {
    pub(super) fn new(arena: &'e Arena, len: usize) -> Self {
        Self {
            slots: arena.bump().alloc_slice_fill_with(len, |_| Cell::new(0)),
            state: Cell::new(OrderState::Unknown),
            arena,
        }
    }

    /// Creates an order that equals the order of insertion.
    #[inline]
    pub(super) fn as_inserted(arena: &'e Arena) -> Self {
        Self {
            slots: &[],
            state: Cell::new(OrderState::AsInserted),
            arena,
        }
    }

    #[inline]
    pub(super) fn arena(&self) -> &'e Arena {
        self.arena
    }

    /// Returns `true` if the order is known, so that no sort is necessary.
    pub(super) fn is_sorted(&self) -> bool {
        self.state.get() != OrderState::Unknown
    }

    /// Returns the positions in sort order, or `None` if the order of insertion is the sort order.
    pub(super) fn sorted_positions(&self, keys: &[ValueRef<'e>]) -> Option<&'e [Cell<u32>]> {
        if self.state.get() == OrderState::Unknown {
            self.state.set(if keys.is_sorted() {
                OrderState::AsInserted
            } else {
                self.sort(keys)
            });
        }
        (self.state.get() == OrderState::BySlots).then_some(self.slots)
    }

    fn sort(&self, keys: &[ValueRef<'e>]) -> OrderState {
        if keys.len() <= INSERTED {
            return self.insert_all(keys);
        }
        let goes_on = || self.arena.goes_on();
        for (slot, key_index) in self.slots.iter().zip(sort::order(keys, goes_on)) {
            slot.set(key_index);
        }
        OrderState::BySlots
    }
}

impl<'e> SortedPositions<'e> {
    /// Sorts a few keys directly in the slots (insertion sort).
    fn insert_all(&self, keys: &[ValueRef<'e>]) -> OrderState {
        for (key, index) in keys.iter().zip(0_u32..) {
            let mut new = index;
            let sorted = self.slots.within(..index as usize);
            // greater keys move one position up
            let larger = sorted.iter().rev().take_while(|slot| {
                let other = keys.get(slot.get() as usize);
                other.is_some_and(|other| *other > *key)
            });
            let position = index as usize - larger.count();
            for slot in self.slots.iter().take(index as usize + 1).skip(position) {
                new = slot.replace(new);
            }
        }
        OrderState::BySlots
    }
}

/// Appends a key, or returns the position of an equal one as an error.
#[inline]
pub(super) fn insert_key<'e>(
    keys: &mut bumpalo::collections::Vec<'e, ValueRef<'e>>,
    table: &mut Option<ArenaKeyTable<'e>>,
    arena: &'e Arena,
    key: ValueRef<'e>,
) -> Result<(), usize> {
    match table {
        Some(table) => {
            table.relieve(keys);
            let (code, lookup) = table.lookup(keys, &key);
            match lookup {
                Ok(index) => return Err(index),
                Err(slot) => table.fill(slot, keys.len(), code),
            }
            keys.push(key);
        }
        None => {
            if let Some(index) = search::position_in_flight(keys, key) {
                return Err(index);
            }
            keys.push(key);
            if keys.len() > SCAN {
                *table = Some(ArenaKeyTable::new(keys, 2 * SCAN, arena));
            }
        }
    }
    Ok(())
}

/// Appends a stored key, or returns the position of an equal one as an error. The key is read in place.
#[inline]
pub(super) fn insert_stored<'e>(
    keys: &mut bumpalo::collections::Vec<'e, ValueRef<'e>>,
    table: &mut Option<ArenaKeyTable<'e>>,
    arena: &'e Arena,
    key: &'e Value,
) -> Result<(), usize> {
    let (Some(table), Value(Repr::Short(short))) = (table.as_mut(), key) else {
        return insert_key(keys, table, arena, key.borrow());
    };
    let (code, lookup) = table.lookup_short(keys, short);
    match lookup {
        Ok(index) => Err(index),
        Err(slot) => {
            table.fill(slot, keys.len(), code);
            keys.push(key.borrow());
            Ok(())
        }
    }
}

/// Appends a key that differs from all others, with its hash.
#[inline]
pub(super) fn append_key<'e>(
    keys: &mut bumpalo::collections::Vec<'e, ValueRef<'e>>,
    table: &mut Option<ArenaKeyTable<'e>>,
    arena: &'e Arena,
    key: ValueRef<'e>,
    code: u64,
) {
    if let Some(table) = table {
        table.add(keys.len(), code);
    }
    keys.push(key);
    if table.is_none() && keys.len() > SCAN {
        *table = Some(ArenaKeyTable::new(keys, keys.capacity(), arena));
    }
}
