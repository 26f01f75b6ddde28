//! Depth and size of compounds that an evaluation built.

use super::{Arena, Excess};
use crate::limits;
use crate::value::{RefRepr, ValueRef};

/// Depth and size of a compound that an evaluation built. Parsed and stored values count as one node without depth:
/// parsers limit them.
#[derive(Clone, Copy)]
pub(super) struct ValueSize {
    /// Levels of compounds.
    depth: u32,
    /// Number of nodes, counting shared ones each time.
    nodes: u32,
}

impl ValueSize {
    pub const PARSED: Self = Self { depth: 0, nodes: 1 };

    /// Returns the size of a compound with these keys and values, and `extra` members without depth.
    #[inline]
    pub fn of_compound(keys: &[ValueRef<'_>], values: &[ValueRef<'_>], extra: usize) -> Self {
        let parts = keys
            .len()
            .saturating_add(values.len())
            .saturating_add(extra + 1);
        let mut size = Self {
            depth: 0,
            nodes: u32::try_from(parts).unwrap_or(u32::MAX),
        };
        size.enclose(keys);
        size.enclose(values);
        size.depth += 1;
        size
    }

    /// Adds the sizes of members. The first node of each is already counted.
    #[inline]
    fn enclose(&mut self, members: &[ValueRef<'_>]) {
        for member in members {
            let member_size = match member {
                ValueRef(RefRepr::ArenaArray(array)) => array.extent,
                ValueRef(RefRepr::ArenaObject(object)) => object.extent(),
                ValueRef(RefRepr::ArenaSet(set)) => set.extent(),
                _ => continue,
            };
            self.depth = self.depth.max(member_size.depth);
            self.nodes = self
                .nodes
                .saturating_add(member_size.nodes - Self::PARSED.nodes);
        }
    }

    #[inline]
    pub fn is_too_deep(self) -> bool {
        self.depth as usize > limits::VALUE_NESTING
    }

    /// Returns `true` if the compound contains at most a few levels of built values and is not oversized.
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
    /// Returns `true` if an [oversized](ValueRef::is_oversized) value was built.
    #[inline]
    pub fn has_oversized(&self) -> bool {
        self.has_oversized.get()
    }

    /// Marks the evaluation as failed, because it attempts to traverse an oversized value.
    #[cold]
    fn reject_traversal(&self) {
        if self.excess.get().is_none() {
            self.excess.set(Some(Excess::Nodes));
        }
    }
}

impl ValueRef<'_> {
    /// Returns `true` if the value has more nodes, counting shared ones each time, than a traversal may visit. Such a
    /// value may exist, but must not be traversed.
    #[inline]
    pub(crate) fn is_oversized(&self) -> bool {
        match self {
            ValueRef(RefRepr::ArenaArray(array)) => array.extent.is_oversized(),
            ValueRef(RefRepr::ArenaObject(object)) => object.extent().is_oversized(),
            ValueRef(RefRepr::ArenaSet(set)) => set.extent().is_oversized(),
            _ => false,
        }
    }

    /// Returns `true` if the value must not be traversed. Then the evaluation ends at its next poll. Callers check it
    /// before they visit all nodes of a value.
    #[inline]
    pub(crate) fn exceeds_traversal_limit(&self) -> bool {
        match self {
            ValueRef(RefRepr::ArenaArray(array)) if array.extent.is_oversized() => {
                array.arena.reject_traversal();
            }
            ValueRef(RefRepr::ArenaObject(object)) if object.extent().is_oversized() => {
                object.arena().reject_traversal();
            }
            ValueRef(RefRepr::ArenaSet(set)) if set.extent().is_oversized() => {
                set.arena().reject_traversal();
            }
            _ => return false,
        }
        true
    }
}
