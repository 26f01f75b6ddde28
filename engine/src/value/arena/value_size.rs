//! How large the compounds are that an evaluation made.

use super::{Arena, Excess};
use crate::limits;
use crate::value::ValueRef;

/// How large a compound is that an evaluation made. What was read or stored counts as one part without depth: its
/// readers bound it.
#[derive(Clone, Copy)]
pub(super) struct ValueSize {
    /// Levels of compounds.
    depth: u32,
    /// Parts, shared ones counted each time.
    parts: u32,
}

impl ValueSize {
    /// Of what a reader made.
    pub const READ: Self = Self { depth: 0, parts: 1 };

    /// Of a compound around keys, values and so many more parts without depth.
    #[inline]
    pub fn around(keys: &[ValueRef<'_>], values: &[ValueRef<'_>], more: usize) -> Self {
        let parts = keys
            .len()
            .saturating_add(values.len())
            .saturating_add(more + 1);
        let mut around = Self {
            depth: 0,
            parts: u32::try_from(parts).unwrap_or(u32::MAX),
        };
        around.enclose(keys);
        around.enclose(values);
        around.depth += 1;
        around
    }

    /// Grows by members that are counted as one part each.
    #[inline]
    fn enclose(&mut self, members: &[ValueRef<'_>]) {
        for member in members {
            let made = match member {
                ValueRef::NewArray(array) => array.extent,
                ValueRef::NewObject(object) => object.extent(),
                ValueRef::NewSet(set) => set.extent(),
                _ => continue,
            };
            self.depth = self.depth.max(made.depth);
            self.parts = self.parts.saturating_add(made.parts - Self::READ.parts);
        }
    }

    #[inline]
    pub fn is_too_deep(self) -> bool {
        self.depth as usize > limits::VALUE_NESTING
    }

    /// Whether nothing made is within more than a few levels of it, nor is it large.
    #[inline]
    pub fn is_flat(self) -> bool {
        const FLAT: u32 = 4;
        self.depth <= FLAT && !self.is_outsize()
    }

    #[inline]
    pub fn is_outsize(self) -> bool {
        self.parts > limits::VALUE_PARTS
    }
}

impl Arena {
    /// Whether a value was made that [is outsize](V::is_outsize).
    #[inline]
    pub fn has_outsize(&self) -> bool {
        self.has_outsize.get()
    }

    /// Ends the evaluation soon, since it wants to go through all parts of an outsize value.
    #[cold]
    fn refuse_walk(&self) {
        if self.excess.get().is_none() {
            self.excess.set(Some(Excess::Parts));
        }
    }
}

impl ValueRef<'_> {
    /// Whether it has so many parts, shared ones counted each time, that it may be held, but not gone through.
    #[inline]
    pub fn is_outsize(&self) -> bool {
        match self {
            ValueRef::NewArray(array) => array.extent.is_outsize(),
            ValueRef::NewObject(object) => object.extent().is_outsize(),
            ValueRef::NewSet(set) => set.extent().is_outsize(),
            _ => false,
        }
    }

    /// The same, for one who is about to go through all its parts: the evaluation ends soon if he may not.
    #[inline]
    pub fn refuses_walk(&self) -> bool {
        match self {
            ValueRef::NewArray(array) if array.extent.is_outsize() => array.arena.refuse_walk(),
            ValueRef::NewObject(object) if object.extent().is_outsize() => {
                object.arena().refuse_walk()
            }
            ValueRef::NewSet(set) if set.extent().is_outsize() => set.arena().refuse_walk(),
            _ => return false,
        }
        true
    }
}
