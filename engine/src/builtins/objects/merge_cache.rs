//! What objects merged to, by where they lie: settings of many are merged with the same few defaults.

use crate::value::{Arena, ObjectView, ValueRef};

/// Merged pairs that are known at once, a power of two.
const CAPACITY: usize = 32;

/// Two objects, and what they merged to.
#[derive(Clone, Copy)]
struct Merge<'e> {
    left: usize,
    right: usize,
    merged: ValueRef<'e>,
    /// Whether it was asked for since another pair wanted its place.
    was_used: bool,
}

/// What pairs of objects merged to, each at a place that their addresses give.
#[derive(Default)]
pub struct Merges<'e> {
    entries: Option<&'e mut [Option<Merge<'e>>; CAPACITY]>,
    /// Whether there was a pair before: what merges one pair alone keeps nothing.
    began: bool,
}

/// Where an object lies. What an evaluation works with stays there until its end.
#[inline]
fn address(object: ObjectView<'_>) -> usize {
    match object {
        ObjectView::Stored(object) => object.address(),
        ObjectView::Arena(object) => std::ptr::from_ref(object).addr(),
    }
}

/// The place of a pair.
#[inline]
fn slot_index(left: usize, right: usize) -> usize {
    let both = (left as u64).rotate_left(32) ^ right as u64;
    let mixed = both.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(mixed >> 48).unwrap_or_default() % CAPACITY
}

impl<'e> Merges<'e> {
    /// What a pair merged to, if that is known still.
    #[inline]
    pub fn find(&mut self, left: ObjectView<'e>, right: ObjectView<'e>) -> Option<ValueRef<'e>> {
        let known = self.entries.as_deref_mut()?;
        let (left, right) = (address(left), address(right));
        let merge = known.get_mut(slot_index(left, right))?.as_mut()?;
        if merge.left != left || merge.right != right {
            return None;
        }
        merge.was_used = true;
        Some(merge.merged)
    }

    /// Keeps what a pair merged to.
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
        let known = self.entries.get_or_insert_with(none);
        let (left, right) = (address(left), address(right));
        match known.get_mut(slot_index(left, right)) {
            Some(Some(other)) if other.was_used => other.was_used = false,
            Some(free) => {
                *free = Some(Merge {
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
