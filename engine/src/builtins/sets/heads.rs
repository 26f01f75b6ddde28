//! Numeric keys for comparing strings of sorted sets: the bytes of each string from an offset, as a number with the
//! same order. Cached, because one set is often combined with several others.

use crate::bug::bug;
use crate::index::Indexed as _;
use crate::value::{Arena, ValueRef, sort, text};

const CAPACITY: usize = 8;

/// Number of bytes by which the offset may be less than the length of the prefix that two sets share.
const NEAR: usize = 4;

/// Numeric keys of the members of a set.
#[derive(Clone, Copy)]
pub struct Heads<'e> {
    /// Address of the members.
    members: usize,
    /// Byte offset of the keys in each string.
    from: usize,
    numbers: &'e [u128],
}

/// Keys of the most recent sets.
#[derive(Default)]
pub struct HeadsCache<'e> {
    entries: [Option<Heads<'e>>; CAPACITY],
    /// Slot to replace next.
    next: usize,
}

impl<'e> HeadsCache<'e> {
    /// Returns the keys of two sorted sets whose members are strings.
    pub fn of_both(
        &mut self,
        arena: &'e Arena,
        lefts: &'e [ValueRef<'e>],
        rights: &'e [ValueRef<'e>],
    ) -> Option<(&'e [u128], &'e [u128])> {
        let shared = shared(lefts, rights)?;
        let (left, right) = (self.find(lefts), self.find(rights));
        let starts_near = [left, right].into_iter().flatten().map(|heads| heads.from);
        let starts_near = starts_near.filter(|from| (*from..=*from + NEAR).contains(&shared));
        let from = starts_near.min().unwrap_or(shared);
        let mut heads = |entries: Option<Heads<'e>>, members| match entries {
            Some(heads) if heads.from == from => heads.numbers,
            _ => self.add(arena, members, from),
        };
        Some((heads(left, lefts), heads(right, rights)))
    }

    fn find(&self, members: &[ValueRef<'_>]) -> Option<Heads<'e>> {
        let address = members.as_ptr().addr();
        let is_known = |entries: &&Heads<'e>| {
            entries.members == address && entries.numbers.len() == members.len()
        };
        self.entries.iter().flatten().find(is_known).copied()
    }

    fn add(&mut self, arena: &'e Arena, members: &[ValueRef<'e>], from: usize) -> &'e [u128] {
        let head = |member: &ValueRef<'_>| {
            let text = member.string_bytes();
            let text = text.unwrap_or_else(|| bug!("a text that is none is ordered by its head"));
            text::head_from(text, from)
        };
        let heads = arena.bump().alloc_slice_fill_iter(members.iter().map(head));
        *self.entries.item_mut(self.next) = Some(Heads {
            members: members.as_ptr().addr(),
            from,
            numbers: heads,
        });
        self.next = (self.next + 1) % CAPACITY;
        heads
    }
}

/// Returns the length of the common prefix of all members of two sorted sets, or `None` if some member is not a string.
fn shared(lefts: &[ValueRef<'_>], rights: &[ValueRef<'_>]) -> Option<usize> {
    let [first, .., last] = lefts else {
        return None;
    };
    let first = first.string_bytes()?;
    let mut shared = sort::common(first, last.string_bytes()?);
    for other in [rights.first()?, rights.last()?] {
        shared = shared.min(sort::common(first, other.string_bytes()?));
    }
    Some(shared)
}
