//! Inline caches: where constants stand among the keys of shapes, kept from one evaluation to the next.

use std::cell::Cell;

use crate::program::ConstId;
use crate::value::object::InlineCache;

/// Where constants of one policy stood last among the keys of objects. The objects of one list mostly have one form, and
/// so have documents that are asked again and again.
pub struct InlineCaches {
    /// The stamp of the policy, if there is one whose constants are known.
    policy: Cell<Option<u64>>,
    caches: [Cell<InlineCache>; 64],
}

impl Default for InlineCaches {
    fn default() -> Self {
        Self {
            policy: Cell::new(None),
            caches: [const { Cell::new(InlineCache::EMPTY) }; 64],
        }
    }
}

impl InlineCaches {
    /// Those for the constants of a policy, by its stamp. Without one, constants mean something else in each evaluation, and
    /// nothing is kept.
    #[inline]
    pub fn of(&self, policy: Option<u64>) -> &Self {
        if policy.is_none() || policy != self.policy.get() {
            self.clear(policy);
        }
        self
    }

    #[inline(never)]
    fn clear(&self, policy: Option<u64>) {
        self.policy.set(policy);
        for cache in &self.caches {
            cache.set(InlineCache::EMPTY);
        }
    }

    /// The cache of a constant, which it shares with others.
    #[inline]
    pub(super) fn of_constant(&self, constant: ConstId) -> Option<&Cell<InlineCache>> {
        self.caches.get(constant as usize % self.caches.len())
    }
}
