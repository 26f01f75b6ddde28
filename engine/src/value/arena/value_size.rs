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
    nodes: u32,
}

impl ValueSize {
    /// Of what a reader made.
    pub const PARSED: Self = Self { depth: 0, nodes: 1 };

    /// Of a compound around keys, values and so many more parts without depth.
    #[inline]
    pub fn around(keys: &[ValueRef<'_>], values: &[ValueRef<'_>], more: usize) -> Self {
        let parts = keys
            .len()
            .saturating_add(values.len())
            .saturating_add(more + 1);
        let mut around = Self {
            depth: 0,
            nodes: u32::try_from(parts).unwrap_or(u32::MAX),
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
                ValueRef::ArenaArray(array) => array.extent,
                ValueRef::ArenaObject(object) => object.extent(),
                ValueRef::ArenaSet(set) => set.extent(),
                _ => continue,
            };
            self.depth = self.depth.max(made.depth);
            self.nodes = self.nodes.saturating_add(made.nodes - Self::PARSED.nodes);
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
        self.depth <= FLAT && !self.is_oversized()
    }

    #[inline]
    pub fn is_oversized(self) -> bool {
        self.nodes > limits::VALUE_NODES
    }
}

impl Arena {
    /// Whether a value was made that [is outsize](V::is_outsize).
    #[inline]
    pub fn has_oversized(&self) -> bool {
        self.has_outsize.get()
    }

    /// Ends the evaluation soon, since it wants to go through all parts of an outsize value.
    #[cold]
    fn reject_traversal(&self) {
        if self.excess.get().is_none() {
            self.excess.set(Some(Excess::Nodes));
        }
    }
}

impl ValueRef<'_> {
    /// Whether it has so many parts, shared ones counted each time, that it may be held, but not gone through.
    #[inline]
    pub fn is_oversized(&self) -> bool {
        match self {
            ValueRef::ArenaArray(array) => array.extent.is_oversized(),
            ValueRef::ArenaObject(object) => object.extent().is_oversized(),
            ValueRef::ArenaSet(set) => set.extent().is_oversized(),
            _ => false,
        }
    }

    /// The same, for one who is about to go through all its parts: the evaluation ends soon if he may not.
    #[inline]
    pub fn exceeds_traversal_limit(&self) -> bool {
        match self {
            ValueRef::ArenaArray(array) if array.extent.is_oversized() => {
                array.arena.reject_traversal()
            }
            ValueRef::ArenaObject(object) if object.extent().is_oversized() => {
                object.arena().reject_traversal()
            }
            ValueRef::ArenaSet(set) if set.extent().is_oversized() => {
                set.arena().reject_traversal()
            }
            _ => return false,
        }
        true
    }
}
