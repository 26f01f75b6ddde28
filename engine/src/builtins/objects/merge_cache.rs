//! Cache of merged objects by address: many objects are often merged with the same few defaults.

use crate::value::{Arena, ObjectView, ObjectViewRepr, ValueRef};

/// Number of cached pairs, a power of two.
const CAPACITY: usize = 32;

/// Two objects, by address, and their merged object.
#[derive(Clone, Copy)]
struct MergedPair<'e> {
    left: usize,
    right: usize,
    merged: ValueRef<'e>,
    /// `true` if it was used since the last collision with another pair.
    was_used: bool,
}

/// Cached merged objects in a direct-mapped table, indexed by the addresses of both operands.
#[derive(Default)]
pub struct Merges<'e> {
    entries: Option<&'e mut [Option<MergedPair<'e>>; CAPACITY]>,
    /// `true` after the first pair. An evaluation that merges a single pair allocates no table.
    began: bool,
}

/// Returns the address of an object. Values stay at their address until the evaluation ends.
#[inline]
fn address(object: ObjectView<'_>) -> usize {
    match object {
        ObjectView(ObjectViewRepr::Stored(object)) => object.address(),
        ObjectView(ObjectViewRepr::Arena(object)) => std::ptr::from_ref(object).addr(),
    }
}

/// Returns the table index of a pair.
#[inline]
fn slot_index(left: usize, right: usize) -> usize {
    let addresses = (left as u64).rotate_left(32) ^ right as u64;
    let hash = addresses.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(hash >> 48).unwrap_or_default() % CAPACITY
}

impl<'e> Merges<'e> {
    /// Returns the cached merged object of a pair, or `None`. The cache compares addresses, so it does not find equal
    /// copies.
    #[inline]
    pub fn find(&mut self, left: ObjectView<'e>, right: ObjectView<'e>) -> Option<ValueRef<'e>> {
        let entries = self.entries.as_deref_mut()?;
        let (left, right) = (address(left), address(right));
        let merge = entries.get_mut(slot_index(left, right))?.as_mut()?;
        if merge.left != left || merge.right != right {
            return None;
        }
        merge.was_used = true;
        Some(merge.merged)
    }

    /// Caches the merged object of a pair, except in the first call: a single merge allocates no table.
    #[inline]
    pub fn keep(
        &mut self,
        arena: &'e Arena,
        left: ObjectView<'e>,
        right: ObjectView<'e>,
        merged: ValueRef<'e>,
    ) {
        if !std::mem::replace(&mut self.began, true) {
            return;
        }
        let none = || arena.bump().alloc([None; CAPACITY]);
        let entries = self.entries.get_or_insert_with(none);
        let (left, right) = (address(left), address(right));
        match entries.get_mut(slot_index(left, right)) {
            Some(Some(other)) if other.was_used => other.was_used = false,
            Some(free) => {
                *free = Some(MergedPair {
                    left,
                    right,
                    merged,
                    was_used: false,
                });
            }
            None => {}
        }
    }
}
